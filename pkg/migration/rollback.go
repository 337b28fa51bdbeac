package migration

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// rollbackRows is the table in the order of this pass: where KCM runs the cloud loops already, the CCM goes first.
func rollbackRows(kcm observation.Component) []Row {
	rows := RollbackTable()
	if len(handover.RunningLoops(kcm)) == 0 {
		return rows
	}
	ccm := func(row Row) bool { return row.Step == ucv1.StepRollbackFence || row.Step == ucv1.StepRollbackSilence }
	first := slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !ccm(row) })
	return append(first, slices.DeleteFunc(rows, ccm)...)
}

// looksForRollback says that what only a rollback rests on is looked at: one is going on, or is asked for.
func looksForRollback(cluster *ucv1.Cluster) bool {
	rollback := cluster.Status.Rollback
	return rollback != nil && rollback.FinishedAt == nil ||
		rollback == nil && wantsRollback(cluster) && cluster.Status.StartedAt != nil
}

// wantsRollback: a person does, or the FleetMigration that admitted it while its point of no return is ahead.
func wantsRollback(cluster *ucv1.Cluster) bool {
	return cluster.Spec.Handover.Rollback ||
		cluster.Directed(ucv1.DirectiveRollback) && cluster.Status.PointOfNoReturnAt == nil && cluster.Status.CompletedAt == nil
}

// migrateOrRollBack is the migration or its rollback.
func migrateOrRollBack(in pass.Input) Decision {
	rollback, wanted := in.Facts.Rollback, wantsRollback(in.Cluster)
	switch {
	case rollback == nil && !wanted:
		return walk(in)
	case rollback == nil:
		return beginRollback(in)
	case rollback.FinishedAt == nil:
		return walkRollback(in)
	case retryAt(in).IsZero() || in.Now.Before(retryAt(in)):
		return decideRolledBack(in)
	}
	return stopAt(in, ucv1.StepAdmitted, in.Records("Forgetting the rollback, so that the migration starts again.",
		func(facts *ucv1.Facts) { facts.Rollback = nil }))
}

// retryAt is when the migration starts again; zero: never. What is rolled back stays so when the wish is gone, because a line
// that is lost from a Git repository is no wish to migrate.
func retryAt(in pass.Input) time.Time {
	handover, rollback := in.Cluster.Spec.Handover, in.Facts.Rollback
	if wantsRollback(in.Cluster) || rollback == nil || rollback.FinishedAt == nil || handover.RetryAfter == nil ||
		!handover.RetryAfter.After(rollback.FinishedAt.Time) {
		return time.Time{}
	}
	return handover.RetryAfter.Time
}

// decideRolledBack claims that KCM runs the cloud loops, so it looks: its arguments say so, and such a process renews its Lease.
func decideRolledBack(in pass.Input) Decision {
	decision := Decision{Step: ucv1.StepRolledBack, Rows: rollbackStates(ucv1.StepRolledBack, nil)}
	controlPlane, known := in.ControlPlane.Get()
	kcm, attended := controlPlane.KCM, kcmAttends(in)
	switch {
	case in.Facts.Origin == ucv1.OriginExternal, hibernated(in):
	case in.ControlPlane.IsAbsent():
		decision.Failure = outcome.Fails(ucv1.InputInvalidReason, components.KCMMissing(in)).Failure
	case !known:
		decision.Wait = outcome.CannotLook("the control plane", in.ControlPlane.Why()).Wait
	case !kcm.Arguments.Understood():
		decision.Wait = outcome.CannotLook(
			observation.Say("whether ", kcm, " runs the cloud loops"),
			strings.TrimSuffix(kcm.Arguments.Problem, "."),
		).Wait
	case len(kcm.Arguments.CloudLoops()) == 0:
		decision.Failure = outcome.Fails(
			ucv1.LoopsOffAlreadyReason,
			"The migration is rolled back, but ", kcm, " does not run the cloud loops any more; its arguments were changed by "+
				handover.Owner(kcm)+". Switch them on where it gets its arguments from.",
		).Failure
	case attended.state == cannotTell:
		decision.Wait = outcome.CannotLook("whether KCM runs the cloud loops", attended.why).Wait
	case attended.state == runsNone:
		decision.Wait = outcome.Waits(
			ucv1.WaitingForLeaderReason,
			"The migration is rolled back, but ", attended.why, ". Look at its pods and their logs.",
		).Wait
	}
	return decision
}

// beginRollback judges once whether the migration can be rolled back. Could not look is no yes.
func beginRollback(in pass.Input) Decision {
	if in.Facts.Origin == ucv1.OriginExternal {
		return holdWithFailure(in, outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused: the cluster was "+
			"created with the external cloud provider."))
	}
	if in.Facts.StartedAt == nil {
		why := "Recording that nothing is to be rolled back: the migration had not started."
		return rollbackStopsAt(ucv1.StepRollbackAddons, in.Records(why, func(facts *ucv1.Facts) {
			facts.Rollback = &ucv1.RollbackStatus{StartedAt: in.Stamp(), FinishedAt: in.Stamp()}
		}))
	}
	status, passedAt := noreturn.Judge(in)
	switch status.State {
	case ucv1.PointOfNoReturnPassed:
		passed, _ := noreturn.Passed(in)
		return holdWithFailure(in, outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused, the point of no "+
			"return was passed at "+passedAt.UTC().Format(time.RFC3339)+". ", observation.FirstOf(passed, "reason", "reasons")))
	case ucv1.PointOfNoReturnUnknown:
		out := outcome.Waits(ucv1.CouldNotLookReason, "The rollback has not begun. "+status.Reason)
		out.Wait.Unknown = true
		if in.Facts.Handover.FinishedAt != nil && loops.Guard(in).Failure != nil {
			return walk(in)
		}
		return stays(in, failIfRefused(in, out))
	case ucv1.PointOfNoReturnAhead:
	}
	return rollbackStopsAt(ucv1.StepRollbackMachineController, in.Records("Recording that the migration is being rolled back.",
		func(facts *ucv1.Facts) {
			facts.Rollback, facts.PointOfNoReturnAt = &ucv1.RollbackStatus{StartedAt: in.Stamp()}, passedAt
		}))
}

// holdWithFailure holds a migration where it is that a person wants rolled back and that cannot be, but not where no one runs the
// cloud loops, and neither the guard nor what is completed already.
func holdWithFailure(in pass.Input, out outcome.Outcome) Decision {
	handover := in.Facts.Handover
	goesOn := in.Facts.Origin == ucv1.OriginExternal || in.Facts.CompletedAt != nil ||
		(handover != nil && handover.LoopsOffAt != nil && (handover.FinishedAt == nil || loops.Guard(in).Failure != nil))
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
func stays(in pass.Input, out outcome.Outcome) Decision {
	decision := walkOnly(in)
	decision.Action, decision.Repairs, decision.Wait, decision.Failure = nil, nil, out.Wait, out.Failure
	for i := range decision.Rows {
		if decision.Rows[i].Step == decision.Step {
			decision.Rows[i] = stateOf(decision.Step, out)
		}
	}
	return decision
}

// walkRollback walks the rollback's table from the top. Nothing is done while KCM cannot be looked at: the order rests on it.
func walkRollback(in pass.Input) Decision {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return rollbackStopsAt(
			ucv1.StepRollbackMachineController,
			failIfRefused(in, outcome.CannotLook("the control plane", in.ControlPlane.Why())),
		)
	}
	held := []ucv1.Step{}
	for _, row := range rollbackRows(controlPlane.KCM) {
		out := row.evaluate(in)
		in = in.With(out)
		if out = rollbackInTime(in, row.Step, failIfRefused(in, out)); !out.Holds {
			out.Facts = &in.Facts
			return rollbackStopsAt(row.Step, out, held...)
		}
		held = append(held, row.Step)
	}
	why := "Recording that the migration is rolled back, and forgetting what it had recorded."
	return rollbackStopsAt(ucv1.StepRollbackAddons, in.Records(why, func(facts *ucv1.Facts) {
		facts.Rollback.FinishedAt = in.Stamp()
		*facts = ucv1.Facts{Origin: facts.Origin, Rollback: facts.Rollback}
	}), held...)
}

func rollbackStopsAt(step ucv1.Step, out outcome.Outcome, held ...ucv1.Step) Decision {
	rows := rollbackStates(step, held)
	for i := range rows {
		if takesBack(step) == rows[i].Step {
			rows[i].Message, rows[i].Unknown = out.Message, out.Wait != nil && out.Wait.Unknown
		}
	}
	return decisionOf(step, out, rows)
}

func takesBack(step ucv1.Step) ucv1.Step {
	for _, row := range RollbackTable() {
		if row.Step == step {
			return row.RollsBack
		}
	}
	return ""
}

// rollbackStates is how the rows of the migration stand in a rollback: a row is back when everything that rolls it back holds.
func rollbackStates(step ucv1.Step, held []ucv1.Step) []RowState {
	table := migrationTable()
	states := make([]RowState, 0, len(table))
	for _, row := range table {
		back := slices.DeleteFunc(RollbackTable(), func(u Row) bool { return u.RollsBack != row.Step })
		left := slices.ContainsFunc(back, func(u Row) bool { return !slices.Contains(held, u.Step) })
		state := RowState{Step: row.Step, Reason: ucv1.RollbackInProgressReason, Message: "The migration is being rolled back; the " +
			"current " +
			"step is " + string(step) + "."}
		if step == ucv1.StepRolledBack || (len(back) > 0 && !left) {
			state.Reason, state.Message = ucv1.RolledBackReason, "The step is rolled back."
		}
		states = append(states, state)
	}
	return states
}

// rollbackInTime calls a person where no one may be running the cloud loops for too long.
func rollbackInTime(in pass.Input, step ucv1.Step, out outcome.Outcome) outcome.Outcome {
	since := unattendedInRollback(in, step)
	if takesBack(step) != ucv1.StepHandover || out.Wait == nil || out.Wait.Unknown || since == nil ||
		in.Now.Sub(since.Time) <= in.Deadlines.Handover {
		return out
	}
	runs := "no one may be running the cloud loops"
	if step == ucv1.StepRollbackLock {
		runs = "KCM has its cloud loops back"
	}
	failed := outcome.Fails(out.Reason, out.Text().Also(runs+"; the CCM was taken back at "+since.UTC().Format(time.RFC3339)))
	failed.Instructions = out.Instructions
	return failed
}

// unattendedInRollback is since when no one may be running the cloud loops. A KCM that has them back may roll out at any time,
// for its gates or by itself, long after the CCM was taken back: then it counts from when it was seen to run none.
func unattendedInRollback(in pass.Input, step ucv1.Step) *metav1.Time {
	rollback := in.Facts.Rollback
	since := in.Facts.UnattendedSince
	if step != ucv1.StepRollbackLoops || rollback.LoopsOnAt == nil || since != nil && since.Before(rollback.WorkloadWithdrawnAt) {
		return rollback.WorkloadWithdrawnAt
	}
	return since
}
