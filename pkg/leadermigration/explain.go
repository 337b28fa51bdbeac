package leadermigration

import (
	"fmt"
	"strings"
)

// Explanation is a plan in words.
type Explanation struct {
	// Steps are what to do, in order.
	Steps []string `json:"steps"`
	// Why are the reasons for how the file is written.
	Why []string `json:"why"`
	// Later is what the following minors reject of what may be configured now.
	Later []string `json:"later"`
	// Flags are what the releases of the plan make of flags, feature gates and controllers' names.
	Flags []FactStates `json:"flags"`
	// Provider is nil where nothing is known of it.
	Provider *Provider `json:"provider,omitempty"`
	// Violations are the objections against the plan; with an error among them there are no steps.
	Violations []Violation `json:"violations"`
}

// FactStates is what the two releases of a plan make of a fact.
type FactStates struct {
	Fact
	From State `json:"from"`
	To   State `json:"to"`
}

// Explain says what a hand-over by the lock takes, step by step, and why.
func Explain(plan Plan) Explanation {
	plan = plan.withDefaults()
	artifacts, violations := Render(plan)
	explanation := Explanation{Violations: violations, Why: plan.why(), Later: plan.later()}
	for _, fact := range Facts() {
		explanation.Flags = append(explanation.Flags, FactStates{fact, fact.In(plan.From.Minor), fact.In(plan.To.Minor)})
	}
	if provider, known := LookupProvider(plan.Provider); known {
		explanation.Provider = &provider
	}
	if !HasErrors(violations) {
		explanation.Steps = plan.steps(artifacts)
	}
	return explanation
}

func (p Plan) steps(a Artifacts) []string {
	api := "Upgrade kube-apiserver to " + p.APIServer.String() + " on the first control-plane node. "
	last := "KCM " + p.To.String()
	if p.inPlace() {
		api, last = "", "KCM"
	}
	return []string{
		fmt.Sprintf("Let the identities of KCM and of CCM get, create and update the Lease %s, in the namespace of their main "+
			"Leases, by a Role and RoleBindings of your own. Do not replace the rules of a system role, and leave create without "+
			"resourceNames: it never has a name.", p.LockName),
		fmt.Sprintf("Place the file on every replica of KCM %s and add %s. Restart one replica after the other. Nothing moves yet.",
			p.From, JoinFlags(a.KCM, " ")),
		fmt.Sprintf("Prove that every replica of KCM is armed: the Lease %s is held by the identity that holds the Lease "+
			"kube-controller-manager. A CCM beside an unarmed KCM runs the loops a second time, and nothing complains.", p.LockName),
		fmt.Sprintf("%sStart CCM %s with the same lock: %s. It leads, and waits for the migration lock.", api, p.To,
			JoinFlags(a.CCM, " ")),
		fmt.Sprintf("Replace KCM by %s with %s and without %s, one replica after the other. As soon as the holder has ended, "+
			"CCM gets the lock: within one lease duration.", last, JoinFlags(a.KCMAfter, " "), strings.Join(a.KCMRemove, ", ")),
		fmt.Sprintf("Prove it: the Lease %s is held by the identity that holds the Lease cloud-controller-manager.", p.LockName),
		"Take --enable-leader-migration and --leader-migration-config out of CCM, and delete the Lease when no one holds it. Until " +
			"then the way back is the same steps in reverse.",
	}
}

func (p Plan) why() []string {
	var why []string
	for _, minor := range []int{p.From.Minor, p.To.Minor} {
		m, known := KnownMinor(minor)
		if !known {
			return []string{unknownMinor(minor).Error()}
		}
		compared := func(loop Loop) string { return RegisteredName(loop, minor) }
		text := fmt.Sprintf("1.%d compares %s.", minor, joined(p.loops(), ", ", compared))
		switch {
		case m.BuiltIn == nil:
			text += " It has no built-in default and knows no \"*\"."
		case !m.DefaultWorks:
			text += " Its built-in default names " + joined(m.BuiltIn.Entries, ", ", func(entry Entry) string { return entry.Name }) +
				", so service and route stay under the main lock of each manager."
		}
		if len(why) == 0 || !p.inPlace() {
			why = append(why, text)
		}
	}
	return append(why,
		"Names that a version does not compare are ignored without a word, and so is a component that it does not know.",
		"The file says resourceLock and an apiVersion before v1: 1.21 to 1.23 know no v1, and 1.32 and later refuse resourceLock in "+
			"it.")
}

// later is what a control plane of the plan may have and a later minor rejects, in the order of the minors.
func (p Plan) later() []string {
	var sentences []string
	for minor := p.To.Minor + 1; minor <= LastMinor; minor++ {
		var beginnings []string
		names := map[string][]string{}
		for _, fact := range Facts() {
			if fact.RemovedIn != minor || fact.In(p.From.Minor) == Rejected {
				continue
			}
			beginning := fmt.Sprintf("1.%d: %s does not start with %s", minor, fact.Component, fact.Kind)
			if names[beginning] == nil {
				beginnings = append(beginnings, beginning)
			}
			names[beginning] = append(names[beginning], fact.Name)
		}
		for _, beginning := range beginnings {
			sentences = append(sentences, beginning+" "+strings.Join(names[beginning], ", ")+".")
		}
		for _, bad := range KnownBad() {
			if bad.From.Minor == minor {
				sentences = append(sentences, fmt.Sprintf("1.%d: %s is known to be bad: %s.", minor, KCM, bad.Reason))
			}
		}
	}
	return sentences
}
