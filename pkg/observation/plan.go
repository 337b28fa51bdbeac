package observation

import "time"

// ForeseenPlan is the plan of the migration. It is made by folding Decide over a simulation, apart from Decide.
type ForeseenPlan struct {
	Digest  string
	Summary string
	MadeAt  time.Time
}
