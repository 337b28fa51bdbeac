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
				(*pass).undoMachineController,
			},
			ucv1.StepMachineController,
		},
		{row{ucv1.StepUndoRoll, "Every external Machine is replaced by an in-tree one.", (*pass).undoRoll}, ucv1.StepRoll},
		{row{ucv1.StepUndoFence, "The fence is closed, and no pod of the CCM is left.", (*pass).undoFence}, ucv1.StepHandover},
		{
			row{ucv1.StepUndoSilence, "The CCM's Lease was not renewed for its duration since then.", (*pass).undoSilence},
			ucv1.StepHandover,
		},
		{row{ucv1.StepUndoLoops, "KCM leads with its cloud loops and without the migration lock, and load balancers and volumes are " +
			"as in the baseline.", (*pass).undoLoops}, ucv1.StepHandover},
		{row{ucv1.StepUndoLock, "No one holds the migration lock, and nothing of it is left.", (*pass).undoLock}, ucv1.StepHandover},
		{
			row{
				ucv1.StepUndoVolumes,
				"The CSI migration gates are as they were, and no volume is attached through them.",
				(*pass).undoVolumes,
			},
			ucv1.StepVolumeMigration,
		},
		{row{ucv1.StepUndoAddons, "Nothing of the probe is left. The addons stay, or are gone where spec.handover.rollbackAddons " +
			"asks for it.", (*pass).undoAddons}, ucv1.StepAddons},
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
func (p *pass) undoRows(kcm observation.Component) []undoRow {
	rows := undoTable()
	if len(handover.RunningLoops(kcm)) == 0 {
		return rows
	}
	ccm := func(row undoRow) bool { return row.step == ucv1.StepUndoFence || row.step == ucv1.StepUndoSilence }
	first := slices.DeleteFunc(slices.Clone(rows), func(row undoRow) bool { return !ccm(row) })
	return append(first, slices.DeleteFunc(rows, ccm)...)
}

// undoing says that an undo began and did not end. What is asked for meanwhile waits for its end.
func (p *pass) undoing() bool {
	return p.facts.Rollback != nil && p.facts.Rollback.FinishedAt == nil
}

// looksForUndo says that what only an undo rests on is looked at: one is going on, or is asked for.
func looksForUndo(cluster *ucv1.Cluster) bool {
	rollback := cluster.Status.Rollback
	return rollback != nil && rollback.FinishedAt == nil ||
		rollback == nil && cluster.Spec.Handover.Rollback && cluster.Status.StartedAt != nil
}

// undoOffer is for messages about a CCM that does not do its work; empty where the undo would be refused.
func (p *pass) undoOffer() string {
	if p.facts.Origin != ucv1.OriginMigrating || p.facts.Rollback != nil || !p.o.Cluster.DeletionTimestamp.IsZero() {
		return "" // The last: a deletion begins no undo.
	}
	if passed, unknown := p.pointOfNoReturn(); len(passed)+len(unknown) > 0 {
		return ""
	}
	return " Or undo the migration: set spec.handover.rollback to true."
}

// migrateOrRollBack is the migration or its undo.
func (p *pass) migrateOrRollBack() Decision {
	rollback, wanted := p.facts.Rollback, p.o.Cluster.Spec.Handover.Rollback
	switch {
	case rollback == nil && !wanted:
		return p.walk()
	case rollback == nil:
		return p.beginUndo()
	case rollback.FinishedAt == nil:
		return p.walkUndo()
	case p.retryAt().IsZero() || p.now.Before(p.retryAt()):
		return p.rolledBack()
	}
	p.facts.Rollback = nil
	return p.stopAt(ucv1.StepAdmitted, outcome.Records("Forgetting the undo, so that the migration starts again."))
}

// retryAt is when the migration starts again; zero: never. What is undone stays so when the wish is gone, because a line that is
// lost from a Git repository is no wish to migrate.
func (p *pass) retryAt() time.Time {
	handover, rollback := p.o.Cluster.Spec.Handover, p.facts.Rollback
	if handover.Rollback || rollback == nil || rollback.FinishedAt == nil || handover.RetryAfter == nil ||
		!handover.RetryAfter.After(rollback.FinishedAt.Time) {
		return time.Time{}
	}
	return handover.RetryAfter.Time
}

// rolledBack claims that KCM runs the cloud loops, so it looks: its arguments say so, and such a process renews its Lease.
func (p *pass) rolledBack() Decision {
	decision := Decision{Step: ucv1.StepRolledBack, Rows: undoStates(ucv1.StepRolledBack, nil)}
	controlPlane, known := p.o.ControlPlane.Get()
	kcm, attended := controlPlane.KCM, p.kcmAttends()
	switch {
	case p.facts.Origin == ucv1.OriginExternal, p.hibernated():
	case p.o.ControlPlane.IsAbsent():
		decision.Failure = outcome.Fails(ucv1.InputInvalidReason, p.kcmMissing()).Failure
	case !known:
		decision.Wait = outcome.CannotLook("the control plane", p.o.ControlPlane.Why()).Wait
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
func (p *pass) beginUndo() Decision {
	if p.facts.Origin == ucv1.OriginExternal {
		return p.holdWithFailure(outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused: the cluster was "+
			"created with the external cloud provider."))
	}
	if p.facts.StartedAt == nil {
		p.facts.Rollback = &ucv1.RollbackStatus{StartedAt: p.stamp(), FinishedAt: p.stamp()}
		return undoStopsAt(ucv1.StepUndoAddons, outcome.Records("Recording that nothing is to be undone: the migration had not "+
			"started."))
	}
	status := p.judgePointOfNoReturn()
	switch status.State {
	case ucv1.PointOfNoReturnPassed:
		passed, _ := p.pointOfNoReturn()
		return p.holdWithFailure(outcome.Fails(ucv1.RollbackRefusedReason, "spec.handover.rollback is refused, the point of no "+
			"return was passed at "+p.facts.PointOfNoReturnAt.UTC().Format(time.RFC3339)+". ", observation.Join(passed, " ")))
	case ucv1.PointOfNoReturnUnknown:
		out := outcome.Waits(ucv1.CouldNotLookReason, "The undo has not begun. "+status.Reason)
		out.Wait.Unknown = true
		if p.facts.Handover.FinishedAt != nil && p.guard().Failure != nil {
			return p.walk()
		}
		return p.stays(p.failIfRefused(out))
	case ucv1.PointOfNoReturnAhead:
	}
	p.facts.Rollback = &ucv1.RollbackStatus{StartedAt: p.stamp()}
	return undoStopsAt(ucv1.StepUndoMachineController, outcome.Records("Recording that the migration is being undone."))
}

// holdWithFailure holds a migration where it is that a person wants undone and that cannot be, but not where no one runs the
// cloud loops, and neither the guard nor what is completed already.
func (p *pass) holdWithFailure(out outcome.Outcome) Decision {
	handover := p.facts.Handover
	goesOn := p.facts.Origin == ucv1.OriginExternal || p.facts.CompletedAt != nil ||
		(handover != nil && handover.LoopsOffAt != nil && (handover.FinishedAt == nil || p.guard().Failure != nil))
	if !goesOn {
		return p.stays(out)
	}
	decision := p.walk()
	if decision.Action == nil && decision.Wait == nil && decision.Failure == nil {
		decision.Wait, decision.Failure = out.Wait, out.Failure
	}
	return decision
}

// stays leaves the rows as they are and does nothing.
func (p *pass) stays(out outcome.Outcome) Decision {
	decision := p.walkOnly()
	decision.Action, decision.Wait, decision.Failure = nil, out.Wait, out.Failure
	for i := range decision.Rows {
		if decision.Rows[i].Step == decision.Step {
			decision.Rows[i] = stateOf(decision.Step, out)
		}
	}
	return decision
}

// walkUndo walks the undo's table, and says what others have to do for it.
func (p *pass) walkUndo() Decision {
	decision := p.undoStep()
	decision.Instructions = p.instructions
	return decision
}

// undoStep walks from the top. Nothing is done while KCM cannot be looked at: the order rests on it.
func (p *pass) undoStep() Decision {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		return undoStopsAt(
			ucv1.StepUndoMachineController,
			p.failIfRefused(outcome.CannotLook("the control plane", p.o.ControlPlane.Why())),
		)
	}
	held := []ucv1.Step{}
	for _, row := range p.undoRows(controlPlane.KCM) {
		out := p.undoInTime(row.step, p.failIfRefused(row.evaluate(p)))
		if !out.Holds {
			return undoStopsAt(row.step, out, held...)
		}
		held = append(held, row.step)
	}
	rollback := p.facts.Rollback
	rollback.FinishedAt = p.stamp()
	p.facts = ucv1.Facts{Origin: p.facts.Origin, Rollback: rollback}
	return undoStopsAt(ucv1.StepUndoAddons, outcome.Records("Recording that the migration is undone, and forgetting what it had "+
		"recorded."), held...)
}

func undoStopsAt(step ucv1.Step, out outcome.Outcome, held ...ucv1.Step) Decision {
	rows := undoStates(step, held)
	for i := range rows {
		if undoes(step) == rows[i].Step {
			rows[i].Message, rows[i].Unknown = out.Message, out.Wait != nil && out.Wait.Unknown
		}
	}
	return Decision{Step: step, Action: out.Action, Wait: out.Wait, Failure: out.Failure, Rows: rows}
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
func (p *pass) undoInTime(step ucv1.Step, out outcome.Outcome) outcome.Outcome {
	since := p.unattendedInUndo(step)
	if undoes(step) != ucv1.StepHandover || out.Wait == nil || out.Wait.Unknown || since == nil ||
		p.now.Sub(since.Time) <= p.o.Deadlines.Handover {
		return out
	}
	runs := "no one may be running the cloud loops"
	if step == ucv1.StepUndoLock {
		runs = "KCM has its cloud loops back"
	}
	return outcome.Fails(
		out.Reason,
		"The CCM was taken back at "+since.UTC().Format(time.RFC3339)+" and "+runs+". ", out.Text(),
	)
}

// unattendedInUndo is since when no one may be running the cloud loops. A KCM that has them back may roll out at any time, for
// its gates or by itself, long after the CCM was taken back: then it counts from when it was seen to run none.
func (p *pass) unattendedInUndo(step ucv1.Step) *metav1.Time {
	rollback := p.facts.Rollback
	since := p.facts.UnattendedSince
	if step != ucv1.StepUndoLoops || rollback.LoopsOnAt == nil || since != nil && since.Before(rollback.WorkloadWithdrawnAt) {
		return rollback.WorkloadWithdrawnAt
	}
	return since
}
