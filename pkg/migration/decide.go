package migration

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// pass is one evaluation: what was seen, when, and the facts as they will be after it.
type pass struct {
	o     observation.Observation
	now   time.Time
	facts ucv1.Facts
	// instructions for whoever changes the control plane when we do not.
	instructions []ucv1.Instruction
	// findings of preflight, while they are judged.
	findings []observation.Finding
	// seen are the Machines.
	seen rollout.Seen
	// recalled says that the facts are those of an earlier Cluster of this name.
	recalled bool
}

// Decide names the one next thing for a cluster. It is total and deterministic.
func Decide(o observation.Observation, now time.Time) Decision {
	o.Deadlines = o.Deadlines.OrReal()
	p := &pass{o: o, now: now, facts: *o.Cluster.Status.Facts.DeepCopy()}
	decision := p.decide()
	decision.LookAfter = observation.Sooner(decision.LookAfter, rollout.LookAfter(p.rolling()))
	if !p.recalled { // What an undo rests on is looked at when the status has the facts.
		decision.PointOfNoReturn = p.judgePointOfNoReturn()
	}
	decision.Proofs = p.proofsToKeep(decision)
	p.lookAhead(&decision)
	decision.Findings = p.findings
	if o.Cluster.Spec.Paused && !p.recalled && !p.released(decision) {
		decision.Action, decision.Instructions = nil, nil
		if decision.Step != ucv1.StepInTree {
			decision.Wait, decision.Failure = nil, nil
		}
		p.facts = p.seenWhilePaused()
		decision.RollsOn = rollout.GoesOn(p.rolling())
	}
	if o.Cluster.ExternalCloudProvider() {
		decision.Attendance = p.attend(decision)
		decision.LookAfter = observation.Sooner(decision.LookAfter, decision.Attendance.LookAfter)
		if decision.Step == ucv1.StepRolledBack && !p.retryAt().IsZero() {
			decision.LookAfter = observation.Sooner(decision.LookAfter, p.retryAt().Sub(p.now))
		}
	}
	if !equality.Semantic.DeepEqual(p.facts, o.Cluster.Status.Facts) {
		decision.Facts = p.facts.DeepCopy()
	}
	return decision
}

// seenWhilePaused keeps what was only seen: the end of a process may never show again.
func (p *pass) seenWhilePaused() ucv1.Facts {
	facts := *p.o.Cluster.Status.Facts.DeepCopy()
	facts.LookAhead = p.facts.LookAhead
	if !p.o.Cluster.ExternalCloudProvider() {
		facts.UnattendedSince = p.facts.UnattendedSince
	}
	if facts.Handover != nil && facts.Handover.FinishedAt == nil && p.facts.Handover != nil {
		facts.Handover.Processes = p.facts.Handover.Processes
	}
	if p.facts.Origin == ucv1.OriginInTree {
		facts.Origin = ucv1.OriginInTree
	}
	return facts
}

func (p *pass) decide() Decision {
	cluster := p.o.Cluster
	deleted := !cluster.DeletionTimestamp.IsZero()
	if why := p.letsGo(); deleted && why != "" {
		return p.stopAt(p.currentStep(), p.release(why))
	}
	if decision, stops := p.recall(); stops {
		return decision
	}
	if deleted {
		return p.revokedFirst(p.decideDeletion())
	}
	if !cluster.ExternalCloudProvider() {
		if p.facts.Origin == "" {
			p.facts.Origin = ucv1.OriginInTree
		}
		return p.inTree()
	}
	if decision, resolved := p.resolveOrigin(); !resolved {
		return decision
	}
	p.countSamples()
	before := *p.facts.DeepCopy()
	decision := p.leasesFirst(before, p.addRollHalt(p.migrateOrRollBack()))
	if decision.Action == nil && p.annotationsMissing() {
		// The annotations are an interface for others: they never hold up the migration.
		decision.Action = &outcome.Action{
			Kind: outcome.ActionRestoreAnnotations, Objects: []observation.Ref{p.self()},
			Why: "Restoring the annotations that tell other tools of the migration.",
		}
	}
	return decision
}

// walkOnly walks the table to see how its rows stand. What the walk would record is not recorded, because its action is
// not done: a baseline that counts as taken but was not stored could never be looked at again. Only the ends of
// processes that were seen stay.
func (p *pass) walkOnly() Decision {
	p.mergeProcesses()
	facts := *p.facts.DeepCopy()
	decision := p.walk()
	p.facts = facts
	return decision
}

func (p *pass) self() observation.Ref {
	c := p.o.Cluster
	return observation.Ref{Kind: "Cluster", Namespace: c.Namespace, Name: c.Name, UID: string(c.UID)}
}

// resolveOrigin judges once whether this is a migration. It does not read the annotations: a flip that the webhook
// missed must not look like a creation.
func (p *pass) resolveOrigin() (Decision, bool) {
	switch p.facts.Origin {
	case ucv1.OriginMigrating, ucv1.OriginExternal:
		return Decision{}, true
	case ucv1.OriginInTree:
		p.facts.Origin = ucv1.OriginMigrating
	default:
		if p.o.Cluster.Generation <= 1 {
			p.facts.Origin = ucv1.OriginExternal
			break
		}
		out := p.originFromKCM()
		if !out.Holds {
			return p.stopAt(ucv1.StepAdmitted, out), false
		}
	}
	return p.stopAt(p.rows()[0].step, outcome.Records("Recording that the cluster's origin is "+string(p.facts.Origin)+".")), false
}

// originFromKCM is for a Cluster that was edited before it was first seen: only its KCM can tell where it comes from.
func (p *pass) originFromKCM() outcome.Outcome {
	controlPlane, known := p.o.ControlPlane.Get()
	switch {
	case p.o.ControlPlane.IsAbsent():
		return outcome.Fails(ucv1.InputInvalidReason, p.kcmMissing())
	case !known:
		return outcome.CannotLook("the control plane", p.o.ControlPlane.Why())
	case !controlPlane.KCM.Arguments.Understood():
		return outcome.Fails(ucv1.InputInvalidReason, controlPlane.KCM.Arguments.Problem)
	}
	p.facts.Origin = ucv1.OriginExternal
	if len(controlPlane.KCM.Arguments.CloudLoops()) > 0 {
		p.facts.Origin = ucv1.OriginMigrating
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func (p *pass) annotationsMissing() bool {
	if p.facts.Origin != ucv1.OriginMigrating || p.facts.CompletedAt != nil || !p.o.Provider.Value().CanMigrate {
		return false
	}
	annotations := p.o.Cluster.Annotations
	_, ccm := annotations[ucv1.CCMMigrationNeededAnnotation]
	_, csi := annotations[ucv1.CSIMigrationNeededAnnotation]
	return !ccm || !csi
}

// currentStep walks the table only to name the step.
func (p *pass) currentStep() ucv1.Step {
	if !p.o.Cluster.ExternalCloudProvider() {
		return ucv1.StepInTree
	}
	if p.facts.Rollback != nil {
		return ucv1.StepRolledBack
	}
	return p.walkOnly().Step
}

// stopAt is a decision that the table did not make.
func (p *pass) stopAt(step ucv1.Step, out outcome.Outcome) Decision {
	rows := p.rows()
	states := make([]RowState, 0, len(rows))
	for _, row := range rows {
		states = append(states, RowState{
			Step: row.step, Reason: ucv1.WaitingForEarlierStepReason, Message: "Waits for step " + string(step) + ".",
		})
		if row.step == step {
			states[len(states)-1] = stateOf(step, out)
		}
	}
	if step == ucv1.StepRolledBack {
		states = undoStates(step, nil)
	}
	return Decision{Step: step, Action: out.Action, Wait: out.Wait, Failure: out.Failure, Rows: states}
}

// stateOf a row whose outcome is this.
func stateOf(step ucv1.Step, out outcome.Outcome) RowState {
	return RowState{
		Step: step, Holds: out.Holds, Reason: out.Reason, Message: out.Message,
		Unknown: out.Wait != nil && out.Wait.Unknown,
	}
}
