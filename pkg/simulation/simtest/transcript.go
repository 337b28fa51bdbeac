package simtest

import (
	"fmt"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Transcript is the story of a run: what was done and what happened, in order.
type Transcript struct {
	Lines   []string
	Outcome Outcome
}

// Outcome is how a run ended.
type Outcome struct {
	// Step that was current.
	Step ucv1.Step
	// Reason and Message of the failure or the wait that it ended in; empty when nothing is left to do.
	Reason  string
	Message string
	// Reasons of the rows, by step.
	Reasons map[ucv1.Step]string
	// Facts that were persisted.
	Facts ucv1.Facts
	// Passes of the controller, and ticks of the world.
	Passes, Ticks int
	// Replaced Machines, and load balancers that were made for Services that had one.
	Replaced, Created int
	// Released says that the deleted Cluster was let go.
	Released bool
}

func (t *Transcript) add(at time.Duration, line string) {
	t.Lines = append(t.Lines, fmt.Sprintf("%4ds %s", int(at/time.Second), line))
}

// String is the transcript as it stands in golden files.
func (t *Transcript) String() string {
	o := t.Outcome
	return strings.Join(t.Lines, "\n") + fmt.Sprintf("\nended: step %s, reason %q, %d machines replaced, %d load balancers "+
		"created\n",
		o.Step, o.Reason, o.Replaced, o.Created)
}
