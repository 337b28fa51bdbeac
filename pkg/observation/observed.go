package observation

// Observed is a fact about the world in three values: known, absent, or could not look. The zero value is "could not
// look", so that a fact that no one filled in never lets a step pass.
type Observed[T any] struct {
	state observedState
	value T
	why   string
}

// Get returns the value, and whether it is known.
func (o Observed[T]) Get() (T, bool) {
	return o.value, o.state == known
}

// Value returns the value, or the zero value when it is not known.
func (o Observed[T]) Value() T {
	return o.value
}

// IsKnown says that the fact was seen.
func (o Observed[T]) IsKnown() bool { return o.state == known }

// IsAbsent says that it is certain that there is no such thing.
func (o Observed[T]) IsAbsent() bool { return o.state == absent }

// IsUnknown says that it could not be looked at.
func (o Observed[T]) IsUnknown() bool { return o.state == couldNotLook }

// NotTried says that it was not even tried to look at it.
func (o Observed[T]) NotTried() bool { return o.state == couldNotLook && o.why == "" }

// Why says why it could not be looked at.
func (o Observed[T]) Why() string {
	switch {
	case o.state == absent:
		return "it does not exist"
	case o.NotTried():
		return "it was not looked at"
	}
	return o.why
}

type observedState int

const (
	couldNotLook observedState = iota
	absent
	known
)

// Known is a fact that was seen.
func Known[T any](value T) Observed[T] {
	return Observed[T]{state: known, value: value}
}

// Absent is the certainty that there is no such thing.
func Absent[T any]() Observed[T] {
	return Observed[T]{state: absent}
}

// Unknown is a fact that could not be looked at, and why.
func Unknown[T any](why string) Observed[T] {
	return Observed[T]{why: why}
}
