package slo

import (
	"strings"
	"time"
)

// Sample is one duration that came to its end, or one error.
type Sample struct {
	Indicator Indicator
	// Object that it is about, as Kind namespace/name; Kind, Namespace and Name of it, where it is one.
	Object                string
	Kind, Namespace, Name string
	// Least is how long it took at least. Most is how long at most; negative: no one knows.
	Least, Most time.Duration
	// End is the look at which it was seen to be over, with microseconds: no two looks share it.
	End time.Time
	// After is the look before an error, which lies between that and End.
	After time.Time
	// MadeAt is when the API server made the object. Tainted says that it was seen uninitialized.
	MadeAt  time.Time
	Tainted bool
}

func (s Sample) about(kind, namespace, name string) Sample {
	s.Object, s.Kind, s.Namespace, s.Name = kind+" "+strings.TrimPrefix(namespace+"/"+name, "/"), kind, namespace, name
	return s
}

// Class says how a sample counts that is measured since a moment. A CCM that has just taken over may collide with itself, and do
// what it could not a second later: its error is none of the roll that begins between two looks.
func (s Sample) Class(since time.Time) Counts {
	switch {
	case s.Indicator == SyncErrors && s.After.Before(since):
		return Counts{Unsure: 1}
	case s.Indicator == SyncErrors || s.Least > Objective:
		return Counts{Missed: 1}
	case s.Most >= 0 && s.Most <= Objective:
		return Counts{Within: 1}
	}
	return Counts{Unsure: 1}
}

// Add sums counts.
func (c Counts) Add(other Counts) Counts {
	return Counts{c.Within + other.Within, c.Missed + other.Missed, c.Unsure + other.Unsure}
}

// Seen is what the looks brought since the watcher was made.
type Seen struct {
	// Samples in the order of their ends; the oldest are dropped.
	Samples []Sample
	// LoadBalancers is their number at the last look.
	LoadBalancers int
	// Waits says that the events of load balancers are to be looked at again soon.
	Waits bool
	// CCM is what its own metrics say since it was first asked; nothing where it cannot be.
	CCM map[Indicator]Counts
	// EventsSince is since when the events of Services could be read at every look. Zero: not at the last one.
	EventsSince time.Time
}

// NodeState is what a look saw of a Node.
type NodeState struct {
	Name, UID string
	MadeAt    time.Time
	// Tainted uninitialized; Synced: with providerID and addresses.
	Tainted, Synced bool
}

// ServiceState is what a look saw of a Service of type LoadBalancer. Updates and Failures count its events of that kind; they are
// compared with those of the last look only.
type ServiceState struct {
	Namespace, Name, UID string
	Updates, Failures    int
}
