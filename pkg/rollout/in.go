package rollout

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Direction says what Machines are rolled to.
type Direction int

const (
	// Forward is to external kubelets.
	Forward Direction = iota
	// Back is to in-tree kubelets, in a rollback.
	Back
)

// In is all that a roll is judged from. Nothing of it is changed.
type In struct {
	Observation observation.Observation
	Now         time.Time
	// Facts are the checkpoints so far.
	Facts     ucv1.Facts
	Direction Direction
	// Gates hold before a Machine is replaced. In-tree Nodes need no manager to initialize them, so Back has none.
	Gates []func() outcome.Outcome
	// Seen keeps what the observation shows of the Machines from one question to the next; nil: it is looked through again.
	Seen *Seen
	// Offer is a sentence for messages about a CCM that does not do its work: that the migration can be rolled back.
	Offer func() string
}

// Of is for what rests on nothing but an observation.
func Of(o observation.Observation, now time.Time) In {
	in := In{Observation: o, Now: now, Facts: o.Cluster.Status.Facts}
	if in.Facts.Rollback != nil && in.Facts.Rollback.FinishedAt == nil {
		in.Direction = Back
	}
	return in
}

// Next replaces Machines, MachineDeployment by MachineDeployment. What it records comes with its outcome.
func Next(in In) outcome.Outcome { return next(inputOf(in)) }

// Leave is for a deleted Cluster that goes in the middle of the roll: what was begun is rolled out, what the breaker took is
// given back, and the canary goes. It holds when nothing is in the middle.
func Leave(in In) outcome.Outcome {
	out, busy := leave(inputOf(in))
	if !busy {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return out
}

// Halts says whether a person is to be called because the roll stands still, whatever is done or waited for meanwhile: what broke
// the CCM lets an earlier row wait, too.
func Halts(in In) *outcome.Failure {
	judged := inputOf(in)
	if !armed(judged) {
		return nil
	}
	return rollHalts(fleetOf(judged)).Failure
}

// LookAfter is how long it is until a new Node that is not initialized is late, for the breaker or for the objectives: nothing
// happens then that would wake us, and the next pass would be a minute away. Zero: none is awaited.
func LookAfter(in In) time.Duration { return lookAfter(inputOf(in)) }

// GoesOn names the MachineDeployments of which the machine-controller may replace Machines although the Cluster is paused.
func GoesOn(in In) string { return rollsOn(inputOf(in)) }

// Seen is an index of the Machines of one observation, which is made when it is first asked for.
type Seen struct{ machines *seenMachines }
