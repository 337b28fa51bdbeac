package observation

import "time"

// Turn is why a Cluster may not start yet: a FleetMigration, or a limit of the manager, has not let it.
type Turn struct {
	// Reason is one of the reasons of condition Admitted.
	Reason string
	// Message says what it waits for, and what a person can do.
	Message string
	// After bounds the wait where no watch ends it; zero: one does.
	After time.Duration
	// Settling says that it is over in a moment: it is no queue.
	Settling bool
}
