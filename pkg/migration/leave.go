package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// letsGo is why a deleted Cluster goes at once, whatever it leaves behind; empty while it goes at a safe row only.
func letsGo(in pass.Input) string {
	switch {
	case in.Cluster.Annotations[ucv1.AbandonAnnotation] == "true":
		return "annotation " + ucv1.AbandonAnnotation + " says so"
	case in.NamespaceTerminating.Value():
		return "its namespace is being deleted"
	case in.ControlPlane.IsAbsent():
		return "its control plane is gone"
	}
	return ""
}

// release names what it leaves behind, where our right to KCM's Lease could not be taken back or there was no time for it.
func release(in pass.Input, why string) outcome.Outcome {
	action := outcome.Action{
		Kind:    outcome.ActionRelease,
		Objects: []observation.Ref{self(in)},
		Why:     "Letting the deleted Cluster go: " + why + ".",
	}
	if loops.MayBeGranted(in) {
		action.Why = observation.Say(action.Why).Also("Role and RoleBinding "+handover.KCMLeaseRole+
			", our right to free KCM's Lease, may still be there").Words + " " + loops.DeleteRight(in)
	}
	return outcome.Does(action)
}

// goesAlthoughPaused says that a Cluster goes that a pause would hold.
func goesAlthoughPaused(in pass.Input, decision Decision) bool {
	return decision.Action != nil && decision.Action.Kind == outcome.ActionRelease && letsGo(in) != ""
}

// revokedFirst takes our right to KCM's Lease back before a Cluster goes.
func revokedFirst(in pass.Input, decision Decision) Decision {
	if decision.Action != nil && decision.Action.Kind == outcome.ActionRelease && loops.Granted(in) && in.Connection.Reachable {
		out := loops.Revoke(in.From(decision.Facts))
		decision.Action, decision.Facts = out.Action, out.Facts
	}
	return decision
}

// leaving says what a deleted Cluster waits for, before what holds that up.
func (d Decision) leaving(until string) Decision {
	d.Leaving = "The Cluster is being deleted; it goes when " + until + ", or at once with annotation " + ucv1.AbandonAnnotation +
		"=true."
	waits := "the deleted Cluster goes when " + until + ", or at once with annotation " + ucv1.AbandonAnnotation + "=true"
	if d.Wait != nil {
		d.Wait.Message = d.Wait.Text().Also(waits).Words
	}
	if d.Failure != nil {
		d.Failure.Message = d.Failure.Text().Also(waits).Words
	}
	return d
}

// decideDeletion never rolls anything back. Before the hand-over the Cluster just goes; later it goes at the next row
// where leaving is safe: exactly one manager is seen to run the loops and no Machine is half replaced. A completed migration
// has nothing half replaced, and is asked for its manager like any other.
func decideDeletion(in pass.Input) Decision {
	if probe := in.Probe.Value(); len(probe.Left) > 0 {
		return stopAt(in, currentStep(in), outcome.Does(applied.Prune(probe.Left)))
	}
	if pass.RollingBack(in) {
		return deletedWhileRolledBack(in)
	}
	if components.Untouched(in) {
		if out := loops.UnusedLock(in); out.Action != nil {
			return stopAt(in, currentStep(in), out)
		}
		return stopAt(in, currentStep(in), release(in, "nothing is in the middle"))
	}
	if in.Facts.Handover.FinishedAt == nil {
		return walk(in).leaving("the hand-over is complete, so that the cloud loops do not stay off")
	}
	if out := attendedFirst(in); !out.Holds {
		return stopAt(in, ucv1.StepHandover, failIfRefused(in, out)).leaving("the CCM is seen to run the cloud loops")
	}
	if in.Facts.CompletedAt == nil {
		if out := rollout.Leave(rollInput(in)); !out.Holds {
			return stopAt(in, ucv1.StepRoll, out).leaving("what was begun is rolled out")
		}
	}
	return stopAt(in, currentStep(in), release(in, "one manager runs the cloud loops, and no roll is in the middle"))
}

// attendedFirst keeps a deleted Cluster that took the hand-over until exactly one manager is seen to run the cloud loops: when
// the Cluster is gone, no one applies a CCM that is missing, nor opens its fence. What could not be looked at is not repaired,
// and nothing is that the CCM does not need.
func attendedFirst(in pass.Input) outcome.Outcome {
	if out := loops.Guarded(in); !out.Holds {
		return out
	}
	if out := start.NoOtherManager(in, start.ByLease); !out.Holds {
		return out
	}
	leads := ccmSeenToLead(in)
	if leads.Holds && ccmAsApplied(in) || leads.Wait != nil && leads.Wait.Unknown {
		return leads
	}
	if out := addonsDrift(in); !out.Holds {
		return out
	}
	return leads
}

// ccmAsApplied: the Lease of a CCM that was just deleted tells of it for its whole duration. One that another tool applies is not
// compared.
func ccmAsApplied(in pass.Input) bool {
	addons, known := in.Addons.Get()
	return in.Cluster.AddonsReleased() || known && len(addons.CCM.Drifted) == 0
}

// ccmSeenToLead asks for more than what a roll begins on: a CCM whose fence is closed leads until its renew deadline, one that
// has ended keeps its Lease, and one that crashes at every start acquires it and never renews it.
func ccmSeenToLead(in pass.Input) outcome.Outcome {
	switch {
	case !in.Fence.IsKnown():
		return outcome.CannotLook("the fence", in.Fence.Why())
	case in.CCMLease.IsUnknown():
		return outcome.CannotLook("the CCM's Lease", in.CCMLease.Why())
	case !in.CCMProcesses.IsKnown():
		return outcome.CannotLook("the CCM's processes", in.CCMProcesses.Why())
	case fenceWasClosed(in):
		return outcome.Waits(ucv1.WaitingForLeaderReason, "The CCM may not lead, because its fence is closed."+openFence(in))
	}
	out := loops.CCMCanServe(in)
	if out.Holds && out.Reason != ucv1.NoNodesReason {
		out = loops.LeaderLives(in)
	}
	if out.Wait != nil && !out.Wait.Unknown {
		return outcome.WaitsUntil(out.Reason, observation.Say(out.Text(), lookAtCCM(in)), 2*time.Second)
	}
	return out
}

// deletedWhileRolledBack lets a deleted Cluster go when KCM has its cloud loops back.
func deletedWhileRolledBack(in pass.Input) Decision {
	decision := walkRollback(in)
	if decision.Step == ucv1.StepRollbackAddons {
		return rollbackStopsAt(ucv1.StepRollbackAddons, release(in, "KCM has its cloud loops back"))
	}
	return decision.leaving("KCM has its cloud loops back")
}
