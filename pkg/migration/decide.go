package migration

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Decide names the one next thing for a cluster. It is total and deterministic.
func Decide(o observation.Observation, now time.Time) Decision {
	o.Deadlines = o.Deadlines.OrReal()
	before := pass.New(o, now, o.Cluster.Status.Facts)
	decision := decide(before)
	in := before.From(decision.Facts)
	decision.LookAfter = observation.Sooner(decision.LookAfter, rollout.LookAfter(rollInput(in)))
	if !decision.recalled { // What a rollback rests on is looked at when the status has the facts.
		decision.PointOfNoReturn, in.Facts.PointOfNoReturnAt = noreturn.Judge(in)
	}
	decision.Proofs = proofsToKeep(in, decision)
	decision.Facts = &in.Facts
	decision = lookAhead(in, decision)
	if in = in.From(decision.Facts); o.Cluster.Spec.Paused && !decision.recalled && !goesAlthoughPaused(in, decision) {
		decision = pause(before, in, decision)
		in = in.From(decision.Facts)
	}
	decision.Unreached = Queues(o)
	if o.Cluster.ExternalCloudProvider() && !decision.Unreached {
		decision.Attendance = attend(in, decision)
		in.Facts.UnattendedSince = decision.Attendance.Since
		decision.LookAfter = observation.Sooner(decision.LookAfter, decision.Attendance.LookAfter)
		if decision.Step == ucv1.StepRolledBack && !retryAt(in).IsZero() {
			decision.LookAfter = observation.Sooner(decision.LookAfter, retryAt(in).Sub(now))
		}
	}
	decision.Facts = nil
	if !equality.Semantic.DeepEqual(in.Facts, o.Cluster.Status.Facts) {
		decision.Facts = in.Facts.DeepCopy()
	}
	return decision
}

// pause leaves a decision nothing to do, and of its checkpoints what was only seen.
func pause(before, in pass.Input, decision Decision) Decision {
	decision.Action, decision.Repairs, decision.Halt, decision.Instructions = nil, nil, nil, nil
	if decision.Step != ucv1.StepInTree {
		decision.Wait, decision.Failure = nil, nil
	}
	decision.Facts = seenWhilePaused(before, in)
	decision.RollsOn = rollout.GoesOn(rollInput(in.From(decision.Facts)))
	return decision
}

// seenWhilePaused keeps what was only seen: the end of a process may never show again.
func seenWhilePaused(before, in pass.Input) *ucv1.Facts {
	return before.Changed(func(facts *ucv1.Facts) {
		facts.LookAhead = in.Facts.LookAhead
		if !in.Cluster.ExternalCloudProvider() {
			facts.UnattendedSince = in.Facts.UnattendedSince
		}
		if facts.Handover != nil && facts.Handover.FinishedAt == nil && in.Facts.Handover != nil {
			facts.Handover.Processes = in.Facts.Handover.Processes
		}
		if in.Facts.Origin == ucv1.OriginInTree {
			facts.Origin = ucv1.OriginInTree
		}
	})
}

func decide(in pass.Input) Decision {
	cluster := in.Cluster
	deleted := !cluster.DeletionTimestamp.IsZero()
	if why := letsGo(in); deleted && why != "" {
		return stopAt(in, currentStep(in), release(in, why))
	}
	if decision, stops := recall(in); stops {
		return decision
	}
	if deleted {
		return revokedFirst(in, decideDeletion(in))
	}
	if !cluster.ExternalCloudProvider() {
		if in.Facts.Origin == "" {
			in.Facts.Origin = ucv1.OriginInTree
		}
		decision := decideInTree(in)
		decision.Facts = &in.Facts
		return decision
	}
	if decision, resolved := resolveOrigin(in); !resolved {
		return decision
	}
	if Queues(*in.Observation) {
		decision := decideQueued(in)
		decision.Facts = &in.Facts
		return decision
	}
	in = withSamples(in)
	decision := leasesFirst(in, addRollHalt(in, migrateOrRollBack(in)))
	if in = in.From(decision.Facts); decision.Next() == nil && annotationsMissing(in) {
		// The annotations are an interface for others: they never hold up the migration.
		decision = decision.doing(outcome.Action{
			Kind: outcome.ActionRestoreAnnotations, Objects: []observation.Ref{self(in)},
			Why: "Restoring the annotations that tell other tools of the migration.",
		})
	}
	decision.Facts = &in.Facts
	return decision
}

// walkOnly walks the table to see how its rows stand. What the walk would record is not recorded, because its action is
// not done: a baseline that counts as taken but was not stored could never be looked at again. Only the ends of
// processes that were seen stay.
func walkOnly(in pass.Input) Decision {
	decision := walk(in)
	seen := loops.MergeProcesses(in)
	decision.Facts = &seen.Facts
	return decision
}

func self(in pass.Input) observation.Ref {
	c := in.Cluster
	return observation.Ref{Kind: "Cluster", Namespace: c.Namespace, Name: c.Name, UID: string(c.UID)}
}

// resolveOrigin judges once whether this is a migration. It does not read the annotations: a flip that the webhook
// missed must not look like a creation.
func resolveOrigin(in pass.Input) (Decision, bool) {
	origin := ucv1.OriginMigrating
	switch in.Facts.Origin {
	case ucv1.OriginMigrating, ucv1.OriginExternal:
		return Decision{}, true
	case ucv1.OriginInTree:
	default:
		if in.Cluster.Generation <= 1 {
			origin = ucv1.OriginExternal
			break
		}
		seen, out := originFromKCM(in)
		if !out.Holds {
			return stopAt(in, ucv1.StepAdmitted, out), false
		}
		origin = seen
	}
	in.Facts.Origin = origin
	out := in.Records("Recording that the cluster's origin is "+string(origin)+".", func(*ucv1.Facts) {})
	return stopAt(in, Table(in.Facts.Origin)[0].Step, out), false
}

// originFromKCM is for a Cluster that was edited before it was first seen: only its KCM can tell where it comes from.
func originFromKCM(in pass.Input) (ucv1.Origin, outcome.Outcome) {
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case in.ControlPlane.IsAbsent():
		return "", outcome.Fails(ucv1.InputInvalidReason, components.KCMMissing(in))
	case !known:
		return "", outcome.CannotLook("the control plane", in.ControlPlane.Why())
	case !controlPlane.KCM.Arguments.Understood():
		return "", outcome.Fails(ucv1.InputInvalidReason, controlPlane.KCM, ": "+controlPlane.KCM.Arguments.Problem, ".")
	}
	origin := ucv1.OriginExternal
	if len(controlPlane.KCM.Arguments.CloudLoops()) > 0 {
		origin = ucv1.OriginMigrating
	}
	return origin, outcome.Holds(ucv1.HoldsReason, "")
}

func annotationsMissing(in pass.Input) bool {
	if in.Facts.Origin != ucv1.OriginMigrating || in.Facts.CompletedAt != nil || !in.Provider.Value().CanMigrate {
		return false
	}
	annotations := in.Cluster.Annotations
	_, ccm := annotations[ucv1.CCMMigrationNeededAnnotation]
	_, csi := annotations[ucv1.CSIMigrationNeededAnnotation]
	return !ccm || !csi
}

// currentStep walks the table only to name the step.
func currentStep(in pass.Input) ucv1.Step {
	if !in.Cluster.ExternalCloudProvider() {
		return ucv1.StepInTree
	}
	if in.Facts.Rollback != nil {
		return ucv1.StepRolledBack
	}
	return walkOnly(in).Step
}

// stopAt is a decision that the table did not make.
func stopAt(in pass.Input, step ucv1.Step, out outcome.Outcome) Decision {
	rows := Table(in.Facts.Origin)
	states := make([]RowState, 0, len(rows))
	for _, row := range rows {
		states = append(states, waitsFor(row.Step, step))
		if row.Step == step {
			states[len(states)-1] = stateOf(step, out)
		}
	}
	if step == ucv1.StepRolledBack {
		states = rollbackStates(step, nil)
	}
	return decisionOf(step, out, states)
}

func decisionOf(step ucv1.Step, out outcome.Outcome, rows []RowState) Decision {
	decision := Decision{
		Step: step, Stage: out.Stage, Action: out.Action, Wait: out.Wait, Failure: out.Failure, Rows: rows, Facts: out.Facts,
		Instructions: out.Instructions, Findings: out.Findings,
	}
	if out.Repair != nil {
		decision.Repairs = []outcome.Action{*out.Repair}
	}
	return decision
}

func waitsFor(step, earlier ucv1.Step) RowState {
	return RowState{
		Step: step, Reason: ucv1.WaitingForEarlierStepReason, Message: "Waits for step " + string(earlier) + ".",
	}
}

// stateOf a row whose outcome is this.
func stateOf(step ucv1.Step, out outcome.Outcome) RowState {
	return RowState{
		Step: step, Holds: out.Holds, Reason: out.Reason, Message: out.Message,
		Unknown: out.Wait != nil && out.Wait.Unknown,
	}
}
