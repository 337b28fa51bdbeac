package migration

import (
	"cmp"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Decision is what one pass concluded. One of Action, Wait and Failure is set, or none when nothing is left to do.
type Decision struct {
	// Step that is current.
	Step ucv1.Step
	// Stage of the hand-over's table, while that is current.
	Stage string
	// Action is the one thing to do in this pass.
	Action *outcome.Action
	// Wait is why nothing is done now although the controller will go on by itself.
	Wait *outcome.Wait
	// Failure is why a person must act.
	Failure *outcome.Failure
	// Queued says that it waits for its turn: nothing is being changed, and nothing is wrong.
	Queued bool
	// Unreached says that it waits for its turn, so that the user cluster was not looked at but by a look ahead.
	Unreached bool
	// Halt is why a roll stands still and a person must act, whatever else is done or waited for.
	Halt *outcome.Failure
	// Repairs are done while it is waited, or a person is called, for something else: the answer to a contention, a Lease that is
	// freed, our right to it, the annotations. A pass does the first.
	Repairs []outcome.Action
	// Attendance says whether a manager runs the cloud loops; nil while the feature is off.
	Attendance *Attendance
	// Readiness is what a look ahead found; nil unless the feature is off and looks are wanted.
	Readiness *Readiness
	// Leaving says what a Cluster waits for that is being deleted; empty when it does not wait.
	Leaving string
	// LookAfter is when the next pass has to be at the latest, because a Node is late then; zero: the usual time will do.
	LookAfter time.Duration
	// RollsOn are the MachineDeployments that are in the middle of a roll while the Cluster is paused.
	RollsOn string
	// Facts to persist with this pass's status: the whole of them, not a change. Nil: they are as they were.
	Facts *ucv1.Facts
	// Proofs of kubelets to keep, all of them, before the action is done. Nil: they are as they were.
	Proofs *observation.KeptProofs
	// Proof that KCM is silent, item by item; nil when it was not asked for.
	Proof []ucv1.ProofItem
	// Instructions are what someone else has to change in the control plane, in order.
	Instructions []ucv1.Instruction
	// PointOfNoReturn is how the rollback stands; nil when there is nothing to judge.
	PointOfNoReturn *ucv1.PointOfNoReturnStatus
	// Findings are all of preflight, in the order that they are shown in, while they are judged; nil otherwise.
	Findings []observation.Finding
	// Rows is how every row of the table stands, for the conditions.
	Rows []RowState
	// recalled says that the facts are those of an earlier Cluster of this name.
	recalled bool
}

// Next is what this pass does; nil: nothing.
func (d Decision) Next() *outcome.Action {
	if d.Action == nil && len(d.Repairs) > 0 {
		return &d.Repairs[0]
	}
	return d.Action
}

// Calls is why a person is called; nil: no one is.
func (d Decision) Calls() *outcome.Failure { return cmp.Or(d.Failure, d.Halt) }

// doing is the decision with another thing to do in this pass: beside what it waits or calls for, if it does.
func (d Decision) doing(action outcome.Action) Decision {
	d.Action, d.Repairs = nil, nil
	if d.Wait == nil && d.Failure == nil {
		d.Action = &action
	} else {
		d.Repairs = []outcome.Action{action}
	}
	return d
}

// RowState is how one row of the table stands.
type RowState struct {
	Step    ucv1.Step
	Holds   bool
	Unknown bool
	Reason  string
	Message string
}
