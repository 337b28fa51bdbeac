package observation

import (
	"cmp"
	"slices"
)

// Severity says what a finding does.
type Severity string

const (
	// Blocking keeps the migration from starting until it is fixed, or accepted where that is possible.
	Blocking Severity = "Blocking"
	// Warning is something to know before; it keeps nothing back.
	Warning Severity = "Warning"
	// Info says what will be different.
	Info Severity = "Info"
)

// Finding is one objection against starting, or something to know before.
type Finding struct {
	// ID of the check; its runbook has that name.
	ID string `json:"id"`
	// Reason is the condition's reason when it is the only one that blocks.
	Reason string `json:"-"`
	// Message says what was found and what would happen; that of one that was not looked at says why.
	Message  string   `json:"message"`
	Severity Severity `json:"severity"`
	// Objects that it is about, as Kind namespace/name, sorted: all of them.
	Objects []string `json:"objects,omitempty"`
	// Named are the objects that Message and Objects name, in their order.
	Named []Ref `json:"-"`
	// Action is what to do, a sentence.
	Action string `json:"action,omitempty"`
	// NotLookedAt says that no one could look: it is not passed.
	NotLookedAt bool `json:"notLookedAt,omitempty"`
	// Unseen is what was not looked at and why, no sentence.
	Unseen string `json:"-"`
	// BeforeRoll says that the check needs the cloud. It is judged when the CCM leads, before the first Machine is replaced,
	// and keeps nothing back before.
	BeforeRoll bool `json:"beforeRoll,omitempty"`
	// Accepted says that a person accepted it, AcceptedBecause their words.
	Accepted        bool   `json:"accepted,omitempty"`
	AcceptedBecause string `json:"acceptedBecause,omitempty"`
}

// NotLookedAt is a finding about what no one could look at, and why. The parts are as those of Say.
func NotLookedAt(what ...any) Finding {
	said := Say(what...).Without(".")
	return Finding{NotLookedAt: true, Unseen: said.Words, Message: "Could not look at " + said.Words + ".", Named: said.Objects}
}

// Text of the message, with what it names.
func (f Finding) Text() Text { return Text{Words: f.Message, Objects: f.Named} }

// Blocks says that the migration does not start with it, because of what was found or because no one could look.
func (f Finding) Blocks() bool { return f.Severity == Blocking && !f.Accepted && !f.BeforeRoll }

// State is how it stands, in a few words.
func (f Finding) State() string {
	state := string(f.Severity)
	if f.NotLookedAt {
		state += ", not looked at"
	}
	if f.BeforeRoll {
		state += ", judged before the first Machine is replaced"
	}
	if f.Accepted {
		state += ", accepted: " + f.AcceptedBecause
	}
	return state
}

// SortFindings gives them the order that they are shown in: the worst first, what was seen before what no one could look at, then
// by ID and objects.
func SortFindings(findings []Finding) {
	rank := map[Severity]int{Blocking: 0, Warning: 1, Info: 2}
	flag := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(flag(a.Accepted), flag(b.Accepted)),
			cmp.Compare(flag(a.NotLookedAt), flag(b.NotLookedAt)), cmp.Compare(a.ID, b.ID),
			slices.Compare(a.Objects, b.Objects), cmp.Compare(a.Message, b.Message),
		)
	})
}

// FindingIDs are those of the findings, in their order.
func FindingIDs(findings []Finding) []string {
	ids := make([]string, 0, len(findings))
	for _, finding := range findings {
		ids = append(ids, finding.ID)
	}
	return ids
}
