package observation

import (
	"time"
)

// Sooner of two times that are still to come; zero: none is.
func Sooner(a, b time.Duration) time.Duration {
	if b > 0 && (a == 0 || b < a) {
		return b
	}
	return a
}

// Earlier takes no zero for a time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Later of two times; zero is before any other.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
