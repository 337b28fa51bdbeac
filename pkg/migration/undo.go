package migration

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// undoRow is a post-condition of the undo, and the step of the migration that it takes back.
type undoRow struct {
	row
	undoes ucv1.Step
}

// undoTable is walked like the others, from the top, one action a pass: no row rests on where an earlier pass ended.
//
//	Machines in-tree again ─► fence closed, CCM gone, proven silent ─► loops on in KCM ─► volumes
//
// Volumes come last: pods keep what is attached for as long as they like, and no one may run the cloud loops until KCM has them
// back.
func undoTable() []undoRow {
	return []undoRow{
		{
			row{
				ucv1.StepUndoMachineController,
				"Every Deployment of the machine-controller is without its flag, with no old pod left.",
				undoMachineController,
			},
			ucv1.StepMachineController,
		},
		{row{ucv1.StepUndoRoll, "Every external Machine is replaced by an in-tree one.", undoRoll}, ucv1.StepRoll},
		{row{ucv1.StepUndoFence, "The fence is closed, and no pod of the CCM is left.", undoFence}, ucv1.StepHandover},
		{
			row{ucv1.StepUndoSilence, "The CCM's Lease was not renewed for its duration since then.", undoSilence},
			ucv1.StepHandover,
		},
		{row{ucv1.StepUndoLoops, "KCM leads with its cloud loops and without the migration lock, and load balancers and volumes are " +
			"as in the baseline.", undoLoops}, ucv1.StepHandover},
		{row{ucv1.StepUndoLock, "No one holds the migration lock, and nothing of it is left.", undoLock}, ucv1.StepHandover},
		{
			row{
				ucv1.StepUndoVolumes,
				"The CSI migration gates are as they were, and no volume is attached through them.",
				undoVolumes,
			},
			ucv1.StepVolumeMigration,
		},
		{row{ucv1.StepUndoAddons, "Nothing of the probe is left. The addons stay, or are gone where spec.handover.rollbackAddons " +
			"asks for it.", undoAddons}, ucv1.StepAddons},
	}
}

// UndoTable describes the rows of an undo, for documentation.
func UndoTable() []RowMeaning {
	rows := undoTable()
	meanings := make([]RowMeaning, 0, len(rows))
	for _, row := range rows {
		meanings = append(meanings, RowMeaning{Step: row.step, Means: row.means})
	}
	return meanings
}

// undoRows is the table in the order of this pass: where KCM runs the cloud loops already, the CCM goes first.
func undoRows(kcm observation.Component) []undoRow {
	rows := undoTable()
	if len(handover.RunningLoops(kcm)) == 0 {
		return rows
	}
	ccm := func(row undoRow) bool { return row.step == ucv1.StepUndoFence || row.step == ucv1.StepUndoSilence }
	first := slices.DeleteFunc(slices.Clone(rows), func(row undoRow) bool { return !ccm(row) })
	return append(first, slices.DeleteFunc(rows, ccm)...)
}

// undoing says that an undo began and did not end. What is asked for meanwhile waits for its end.
func undoing(in input) bool {
	return in.facts.Rollback != nil && in.facts.Rollback.FinishedAt == nil
}

// looksForUndo says that what only an undo rests on is looked at: one is going on, or is asked for.
func looksForUndo(cluster *ucv1.Cluster) bool {
	rollback := cluster.Status.Rollback
	return rollback != nil && rollback.FinishedAt == nil ||
		rollback == nil && cluster.Spec.Handover.Rollback && cluster.Status.StartedAt != nil
}

// undoOffer is for messages about a CCM that does not do its work; empty where the undo would be refused.
func undoOffer(in input) string {
	if in.facts.Origin != ucv1.OriginMigrating || in.facts.Rollback != nil || !in.o.Cluster.DeletionTimestamp.IsZero() {
		return "" // The last: a deletion begins no undo.
	}
	if passed, unknown := pointOfNoReturn(in); len(passed)+len(unknown) > 0 {
		return ""
	}
	return " Or undo the migration: set spec.handover.rollback to true."
}

// migrateOrRollBack is the migration or its undo.
func migrateOrRollBack(in input) Decision {
	rollback, wanted := in.facts.Rollback, in.o.Cluster.Spec.Handover.Rollback
	switch {
	case rollback == nil && !wanted:
		return walk(in)
	case rollback == nil:
		return beginUndo(in)
	case rollback.FinishedAt == nil:
		return walkUndo(in)
	case retryAt(in).IsZero() || in.now.Before(retryAt(in)):
		return decideRolledBack(in)
	}
	return stopAt(in, ucv1.StepAdmitted, in.records("Forgetting the undo, so that the migration starts again.",
		func(facts *ucv1.Facts) { facts.Rollback = nil }))
}

// retryAt is when the migration starts again; zero: never. What is undone stays so when the wish is gone, because a line that is
// lost from a Git repository is no wish to migrate.
func retryAt(in input) time.Time {
	handover, rollback := in.o.Cluster.Spec.Handover, in.facts.Rollback
	if handover.Rollback || rollback == nil || rollback.FinishedAt == nil || handover.RetryAfter == nil ||
		!handover.RetryAfter.After(rollback.FinishedAt.Time) {
		return time.Time{}
	}
	return handover.RetryAfter.Time
}

// decideRolledBack claims that KCM runs the cloud loops, so it looks: its arguments say so, and such a process renews its Lease.
func decideRolledBack(in input) Decision {
	decision := Decision{Step: ucv1.StepRolledBack, Rows: undoStates(ucv1.StepRolledBack, nil)}
	controlPlane, known := in.o.ControlPlane.Get()
	kcm, attended := controlPlane.KCM, kcmAttends(in)
	switch {
	case in.facts.Origin == ucv1.OriginExternal, hibernated(in):
	case in.o.ControlPlane.IsAbsent():
		decision.Failure = outcome.Fails(ucv1.InputInvalidReason, kcmMissing(in)).Failure
	case !known:
		decision.Wait = outcome.CannotLook("the control plane", in.o.ControlPlane.Why()).Wait
	case !kcm.Arguments.Understood():
		decision.Wait = outcome.CannotLook(
			observation.Say("whether ", kcm, " runs the cloud loops"),
			strings.TrimSuffix(kcm.Arguments.Problem, "."),
		).Wait
	case len(kcm.Arguments.CloudLoops()) == 0:
		decision.Failure = outcome.Fails(
			ucv1.LoopsOffAlreadyReason,
			"The migration is undone, but ", kcm, " does not run the cloud loops any more; its arguments were changed by "+
				handover.Owner(kcm)+". Switch them on where it gets its arguments from.",
		).Failure
	case attended.state == cannotTell:
		decision.Wait = outcome.CannotLook("whether KCM runs the cloud loops", attended.why).Wait
	case attended.state == runsNone:
		decision.Wait = outcome.Waits(
			ucv1.WaitingForLeaderReason,
			"The migration is undone, but ", attended.why, ". Look at its pods and their logs.",
		).Wait
	}
	return decision
}

// beginUndo judges once whether the migration can be undone. Could not look is no yes.
func beginUndo(in input) Decision {
	if in.facts.Origin == ucv1.OriginExternal {
		return holdWithFailure(in, outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused: the cluster was "+
			"created with the external cloud provider."))
	}
	if in.facts.StartedAt == nil {
		why := "Recording that nothing is to be undone: the migration had not started."
		return undoStopsAt(ucv1.StepUndoAddons, in.records(why, func(facts *ucv1.Facts) {
			facts.Rollback = &ucv1.RollbackStatus{StartedAt: in.stamp(), FinishedAt: in.stamp()}
		}))
	}
	status, passedAt := judgePointOfNoReturn(in)
	switch status.State {
	case ucv1.PointOfNoReturnPassed:
		passed, _ := pointOfNoReturn(in)
		return holdWithFailure(in, outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused, the point of no "+
			"return was passed at "+passedAt.UTC().Format(time.RFC3339)+". ", observation.Join(passed, " ")))
	case ucv1.PointOfNoReturnUnknown:
		out := outcome.Waits(ucv1.CouldNotLookReason, "The undo has not begun. "+status.Reason)
		out.Wait.Unknown = true
		if in.facts.Handover.FinishedAt != nil && guard(in).Failure != nil {
			return walk(in)
		}
		return stays(in, failIfRefused(in, out))
	case ucv1.PointOfNoReturnAhead:
	}
	return undoStopsAt(ucv1.StepUndoMachineController, in.records("Recording that the migration is being undone.",
		func(facts *ucv1.Facts) {
			facts.Rollback, facts.PointOfNoReturnAt = &ucv1.RollbackStatus{StartedAt: in.stamp()}, passedAt
		}))
}

// holdWithFailure holds a migration where it is that a person wants undone and that cannot be, but not where no one runs the
// cloud loops, and neither the guard nor what is completed already.
func holdWithFailure(in input, out outcome.Outcome) Decision {
	handover := in.facts.Handover
	goesOn := in.facts.Origin == ucv1.OriginExternal || in.facts.CompletedAt != nil ||
		(handover != nil && handover.LoopsOffAt != nil && (handover.FinishedAt == nil || guard(in).Failure != nil))
	if !goesOn {
		return stays(in, out)
	}
	decision := walk(in)
	if decision.Next() == nil && decision.Wait == nil && decision.Failure == nil {
		decision.Wait, decision.Failure = out.Wait, out.Failure
	}
	return decision
}

// stays leaves the rows as they are and does nothing.
func stays(in input, out outcome.Outcome) Decision {
	decision := walkOnly(in)
	decision.Action, decision.Repairs, decision.Wait, decision.Failure = nil, nil, out.Wait, out.Failure
	for i := range decision.Rows {
		if decision.Rows[i].Step == decision.Step {
			decision.Rows[i] = stateOf(decision.Step, out)
		}
	}
	return decision
}

// walkUndo walks the undo's table from the top. Nothing is done while KCM cannot be looked at: the order rests on it.
func walkUndo(in input) Decision {
	controlPlane, known := in.o.ControlPlane.Get()
	if !known {
		return undoStopsAt(
			ucv1.StepUndoMachineController,
			failIfRefused(in, outcome.CannotLook("the control plane", in.o.ControlPlane.Why())),
		)
	}
	held := []ucv1.Step{}
	for _, row := range undoRows(controlPlane.KCM) {
		out := row.evaluate(in)
		in = in.with(out)
		if out = undoInTime(in, row.step, failIfRefused(in, out)); !out.Holds {
			out.Facts = &in.facts
			return undoStopsAt(row.step, out, held...)
		}
		held = append(held, row.step)
	}
	why := "Recording that the migration is undone, and forgetting what it had recorded."
	return undoStopsAt(ucv1.StepUndoAddons, in.records(why, func(facts *ucv1.Facts) {
		facts.Rollback.FinishedAt = in.stamp()
		*facts = ucv1.Facts{Origin: facts.Origin, Rollback: facts.Rollback}
	}), held...)
}

func undoStopsAt(step ucv1.Step, out outcome.Outcome, held ...ucv1.Step) Decision {
	rows := undoStates(step, held)
	for i := range rows {
		if undoes(step) == rows[i].Step {
			rows[i].Message, rows[i].Unknown = out.Message, out.Wait != nil && out.Wait.Unknown
		}
	}
	return decisionOf(step, out, rows)
}

func undoes(step ucv1.Step) ucv1.Step {
	for _, row := range undoTable() {
		if row.step == step {
			return row.undoes
		}
	}
	return ""
}

// undoStates is how the rows of the migration stand in an undo: a row is back when everything that undoes it holds.
func undoStates(step ucv1.Step, held []ucv1.Step) []RowState {
	table := migrationTable()
	states := make([]RowState, 0, len(table))
	for _, row := range table {
		left := slices.ContainsFunc(undoTable(), func(u undoRow) bool { return u.undoes == row.step && !slices.Contains(held, u.step) })
		own := slices.ContainsFunc(undoTable(), func(u undoRow) bool { return u.undoes == row.step })
		state := RowState{Step: row.step, Reason: ucv1.UndoInProgressReason, Message: "The migration is being undone; the current " +
			"step is " + string(step) + "."}
		if step == ucv1.StepRolledBack || (own && !left) {
			state.Reason, state.Message = ucv1.RolledBackReason, "The step is undone."
		}
		states = append(states, state)
	}
	return states
}

// undoInTime calls a person where no one may be running the cloud loops for too long.
func undoInTime(in input, step ucv1.Step, out outcome.Outcome) outcome.Outcome {
	since := unattendedInUndo(in, step)
	if undoes(step) != ucv1.StepHandover || out.Wait == nil || out.Wait.Unknown || since == nil ||
		in.now.Sub(since.Time) <= in.o.Deadlines.Handover {
		return out
	}
	runs := "no one may be running the cloud loops"
	if step == ucv1.StepUndoLock {
		runs = "KCM has its cloud loops back"
	}
	failed := outcome.Fails(
		out.Reason,
		"The CCM was taken back at "+since.UTC().Format(time.RFC3339)+" and "+runs+". ", out.Text(),
	)
	failed.Instructions = out.Instructions
	return failed
}

// unattendedInUndo is since when no one may be running the cloud loops. A KCM that has them back may roll out at any time, for
// its gates or by itself, long after the CCM was taken back: then it counts from when it was seen to run none.
func unattendedInUndo(in input, step ucv1.Step) *metav1.Time {
	rollback := in.facts.Rollback
	since := in.facts.UnattendedSince
	if step != ucv1.StepUndoLoops || rollback.LoopsOnAt == nil || since != nil && since.Before(rollback.WorkloadWithdrawnAt) {
		return rollback.WorkloadWithdrawnAt
	}
	return since
}
