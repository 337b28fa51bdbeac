package observation

// LookState is what this pass did of a look ahead.
type LookState int

const (
	// NoLook means that it is not due, or that others have their turn.
	NoLook LookState = iota
	// LookGoesOn means that a Lease has to be watched before it can be judged.
	LookGoesOn
	// LookDone means that everything that can be seen was looked at.
	LookDone
)
