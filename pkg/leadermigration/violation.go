package leadermigration

import (
	"cmp"
	"slices"
)

// Rule is a rule of the lock.
type Rule string

// The rules of the KEP:
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2436-controller-manager-leader-migration.
const (
	UniqueName        Rule = "UniqueName"
	ImmutableLoops    Rule = "ImmutableLoops"
	NoSharedLoop      Rule = "NoSharedLoop"
	OneManager        Rule = "OneManager"
	PatchesKeepLocks  Rule = "PatchesKeepLocks"
	AtMostTwoLocks    Rule = "AtMostTwoLocks"
	OneLockPerProcess Rule = "OneLockPerProcess"
	NextMinor         Rule = "NextMinor"
	BesideArmedKCM    Rule = "BesideArmedKCM"
	Skew              Rule = "Skew"
)

// The rules that follow from what the versions do.
const (
	ReadableFile   Rule = "ReadableFile"
	KnownVersion   Rule = "KnownVersion"
	NotKnownBad    Rule = "NotKnownBad"
	ComparedNames  Rule = "ComparedNames"
	KnownComponent Rule = "KnownComponent"
	LockKind       Rule = "LockKind"
	RunsOnce       Rule = "RunsOnce"
	RunsSomewhere  Rule = "RunsSomewhere"
	InTree         Rule = "InTree"
	HonouredLock   Rule = "HonouredLock"
)

// RuleMeaning describes a rule.
type RuleMeaning struct {
	Rule  Rule
	Means string
}

// Rules are all rules, for documentation.
func Rules() []RuleMeaning {
	return []RuleMeaning{
		{UniqueName, "A lock's name is the name of no other Lease, and one that the API accepts."},
		{ImmutableLoops, "The set of loops in a lock never changes."},
		{NoSharedLoop, "No two locks share a loop."},
		{OneManager, "In one minor release a lock runs in exactly one kind of manager. A warning where the hand-over is meant to " +
			"happen within one minor."},
		{PatchesKeepLocks, "Patch releases of a minor change nothing. A warning where the hand-over is meant to happen within one " +
			"minor."},
		{AtMostTwoLocks, "More than two locks are a warning."},
		{OneLockPerProcess, "A process has one migration lock: upstream reads one file with one leaderName."},
		{NextMinor, "A lock that leaves KCM with minor N is in CCM with minor N+1."},
		{BesideArmedKCM, "A CCM with the lock starts beside a KCM that has it."},
		{Skew, "A manager is not newer than kube-apiserver, and at most one minor older."},
		{ReadableFile, "The managers of the version read the file."},
		{KnownVersion, "The minor is in our tables."},
		{NotKnownBad, "KCM is no release that is known to fail with the lock."},
		{ComparedNames, "Loops are listed by the names that the version's filter compares."},
		{KnownComponent, "A component is one of the two managers or, from 1.22 on, \"*\"."},
		{LockKind, "The lock is a Lease, for everyone."},
		{RunsOnce, "No cloud loop can run in KCM and CCM at once."},
		{RunsSomewhere, "Each loop of a lock is run by some manager that has the lock."},
		{InTree, "KCM is of a minor that knows the provider in-tree."},
		{HonouredLock, "The provider's CCM is known to honour the lock."},
	}
}

// Severity is how bad a violation is.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Violation is an objection against a plan or against the configurations of a cluster.
type Violation struct {
	Rule     Rule     `json:"rule"`
	Severity Severity `json:"severity"`
	// Lock is its name; empty where no lock is concerned.
	Lock string `json:"lock,omitempty"`
	// Loops that are concerned.
	Loops []Loop `json:"loops,omitempty"`
	// Releases that are concerned, such as "kube-controller-manager 1.29.3".
	Releases []string `json:"releases,omitempty"`
	// Message says what is wrong, Fix what to do.
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// HasErrors says whether one of the violations is more than a warning.
func HasErrors(violations []Violation) bool {
	return slices.ContainsFunc(violations, func(v Violation) bool { return v.Severity == SeverityError })
}

// inOrder sorts errors first, then by rule in the order of Rules. None are an empty list, for readers of yaml and json.
func inOrder(violations []Violation) []Violation {
	order := map[Rule]int{}
	for i, rule := range Rules() {
		order[rule.Rule] = i
	}
	violations = append([]Violation{}, violations...)
	slices.SortStableFunc(violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(order[a.Rule], order[b.Rule]), cmp.Compare(a.Lock, b.Lock))
	})
	return violations
}

// failed makes an error of a rule; what it is about is added by the caller.
func failed(rule Rule, message, fix string) Violation {
	return Violation{Rule: rule, Severity: SeverityError, Message: message, Fix: fix}
}
