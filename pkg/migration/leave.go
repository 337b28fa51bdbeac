package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// letsGo is why a deleted Cluster goes at once, whatever it leaves behind; empty while it goes at a safe row only.
func (p *pass) letsGo() string {
	switch {
	case p.o.Cluster.Annotations[ucv1.AbandonAnnotation] == "true":
		return "annotation " + ucv1.AbandonAnnotation + " says so"
	case p.o.NamespaceTerminating.Value():
		return "its namespace is being deleted"
	case p.o.ControlPlane.IsAbsent():
		return "its control plane is gone"
	}
	return ""
}

// release names what it leaves behind, where our right to KCM's Lease could not be taken back or there was no time for it.
func (p *pass) release(why string) outcome.Outcome {
	action := outcome.Action{
		Kind:    outcome.ActionRelease,
		Objects: []observation.Ref{p.self()},
		Why:     "Letting the deleted Cluster go: " + why + ".",
	}
	if p.mayBeGranted() {
		action.Why += " Role and RoleBinding " + KCMLeaseRole + ", our right to free KCM's Lease, may still be there. " +
			p.deleteRight()
	}
	return outcome.Does(action)
}

// released says that a Cluster goes that a pause would hold.
func (p *pass) released(decision Decision) bool {
	return decision.Action != nil && decision.Action.Kind == outcome.ActionRelease && p.letsGo() != ""
}

// revokedFirst takes our right to KCM's Lease back before a Cluster goes.
func (p *pass) revokedFirst(decision Decision) Decision {
	if decision.Action != nil && decision.Action.Kind == outcome.ActionRelease && p.granted() && p.o.Connection.Reachable {
		decision.Action = p.revoke()
	}
	return decision
}

// leaving says what a deleted Cluster waits for, before what holds that up.
func (d Decision) leaving(until string) Decision {
	d.Leaving = "The Cluster is being deleted; it goes when " + until + ", or at once with annotation " + ucv1.AbandonAnnotation +
		"=true."
	if d.Wait != nil {
		d.Wait.Message = d.Leaving + " " + d.Wait.Message
	}
	if d.Failure != nil {
		d.Failure.Message = d.Leaving + " " + d.Failure.Message
	}
	return d
}

// decideDeletion never rolls anything back. Before the hand-over the Cluster just goes; later it goes at the next row
// where leaving is safe: exactly one manager is seen to run the loops and no Machine is half replaced. A completed migration
// has nothing half replaced, and is asked for its manager like any other.
func (p *pass) decideDeletion() Decision {
	if probe := p.o.Probe.Value(); len(probe.Left) > 0 {
		return p.stopAt(p.currentStep(), outcome.Does(pruneVerb(probe.Left)))
	}
	if p.undoing() {
		return p.deletedWhileUndone()
	}
	if p.untouched() {
		return p.stopAt(p.currentStep(), p.release("nothing is in the middle"))
	}
	if p.facts.Handover.FinishedAt == nil {
		return p.walk().leaving("the hand-over is complete, so that the cloud loops do not stay off")
	}
	if out := p.attendedFirst(); !out.Holds {
		return p.stopAt(ucv1.StepHandover, p.failIfRefused(out)).leaving("the CCM is seen to run the cloud loops")
	}
	if p.facts.CompletedAt == nil {
		out := rollout.Leave(p.rolling())
		if p.facts = out.Facts; !out.Holds {
			return p.stopAt(ucv1.StepRoll, out.Outcome).leaving("what was begun is rolled out")
		}
	}
	return p.stopAt(p.currentStep(), p.release("one manager runs the cloud loops, and no roll is in the middle"))
}

// attendedFirst keeps a deleted Cluster that took the hand-over until exactly one manager is seen to run the cloud loops: when
// the Cluster is gone, no one applies a CCM that is missing, nor opens its fence. What could not be looked at is not repaired,
// and nothing is that the CCM does not need.
func (p *pass) attendedFirst() outcome.Outcome {
	for _, ask := range []func() outcome.Outcome{p.guarded, func() outcome.Outcome { return p.alone(byLease) }} {
		if out := ask(); !out.Holds {
			return out
		}
	}
	leads := p.ccmSeenToLead()
	if leads.Holds && p.ccmAsApplied() || leads.Wait != nil && leads.Wait.Unknown {
		return leads
	}
	if out := p.addonsDrift(); !out.Holds {
		return out
	}
	return leads
}

// ccmAsApplied: the Lease of a CCM that was just deleted tells of it for its whole duration. One that another tool applies is not
// compared.
func (p *pass) ccmAsApplied() bool {
	addons, known := p.o.Addons.Get()
	return p.o.Cluster.AddonsReleased() || known && len(addons.CCM.Drifted) == 0
}

// ccmSeenToLead asks for more than what a roll begins on: a CCM whose fence is closed leads until its renew deadline, one that
// has ended keeps its Lease, and one that crashes at every start acquires it and never renews it.
func (p *pass) ccmSeenToLead() outcome.Outcome {
	switch {
	case !p.o.Fence.IsKnown():
		return outcome.CannotLook("the fence", p.o.Fence.Why())
	case p.o.CCMLease.IsUnknown():
		return outcome.CannotLook("the CCM's Lease", p.o.CCMLease.Why())
	case !p.o.CCMProcesses.IsKnown():
		return outcome.CannotLook("the CCM's processes", p.o.CCMProcesses.Why())
	case p.fenceWasClosed():
		return outcome.Waits(ucv1.WaitingForLeaderReason, "The CCM may not lead, because its fence is closed."+p.openFence())
	}
	out := p.ccmCanServe()
	if out.Holds && out.Reason != ucv1.NoNodesReason {
		out = p.leaderLives()
	}
	if out.Wait != nil && !out.Wait.Unknown {
		return outcome.WaitsUntil(out.Reason, observation.Say(out.Text(), p.lookAtCCM()), 2*time.Second)
	}
	return out
}

// leaderLives contradicts a Lease that is not old yet.
func (p *pass) leaderLives() outcome.Outcome {
	lease := p.o.CCMLease.Value()
	holder, found := formerLease{lease: lease, processes: p.o.CCMProcesses.Value(), bound: true}.holder()
	switch {
	case found && holder.Ended:
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease.Holder+", which holds ", lease, ", has ended.")
	case !lease.Alive(p.now):
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease.Holder+" acquired ", lease, " and did not renew it yet.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// deletedWhileUndone lets a deleted Cluster go when KCM has its cloud loops back.
func (p *pass) deletedWhileUndone() Decision {
	decision := p.walkUndo()
	if decision.Step == ucv1.StepUndoAddons {
		return undoStopsAt(ucv1.StepUndoAddons, p.release("KCM has its cloud loops back"))
	}
	return decision.leaving("KCM has its cloud loops back")
}
