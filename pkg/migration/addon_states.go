package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// addonStates splits the row Addons into its two conditions: the CSI driver, and the CCM, which after the hand-over
// also has to lead. They say what is, also when the row itself only repairs drift.
func addonStates(o observation.Observation, row RowState, now time.Time) (csi, ccm RowState) {
	switch row.Reason {
	case ucv1.WaitingForEarlierStepReason, ucv1.RollbackInProgressReason, ucv1.RolledBackReason:
		return row, row
	}
	addons, known := o.Addons.Get()
	if !known {
		// Nothing is rendered before the start, so that what stands against the start is what stands here too.
		return notLookedAt(row, o), notLookedAt(row, o)
	}
	csi, ccm = addonState(row.Step, addons.CSI, "The CSI driver"), addonState(row.Step, addons.CCM, "The CCM")
	if ccm.Holds && ccm.Reason != ucv1.NoNodesReason && handedOver(o) {
		ccm = leadingState(o, ccm, now)
	}
	if row.Holds && row.Reason == ucv1.AddonsReleasedReason {
		return csi.released("The CSI driver"), ccm.released("The CCM")
	}
	return csi, ccm
}

// released: what another tool has changed is neither ready nor not, as far as we can tell.
func (s RowState) released(what string) RowState {
	if s.Reason != ucv1.ForeignObjectsReason && s.Reason != ucv1.ActingReason {
		return s
	}
	return RowState{
		Step: s.Step, Unknown: true, Reason: ucv1.AddonsReleasedReason,
		Message: what + " is not as this controller would apply it, and is left so, because spec.addons.management is Released.",
	}
}

// leadingState is for people, not for deciding: after a restart of ours one look has to do.
func leadingState(o observation.Observation, ccm RowState, now time.Time) RowState {
	lease, known := o.CCMLease.Get()
	switch {
	case o.CCMLease.IsUnknown():
		out := outcome.CannotLook("the CCM's Lease", o.CCMLease.Why())
		return stateOf(ccm.Step, out)
	case !known || lease.Holder == "" || lease.Stale(now):
		ccm.Holds, ccm.Reason, ccm.Message = false, ucv1.WaitingForLeaderReason, "The CCM is applied, but none of its pods leads."
	}
	return ccm
}

func handedOver(o observation.Observation) bool {
	handover := o.Cluster.Status.Handover
	return handover != nil && handover.FinishedAt != nil
}

func notLookedAt(row RowState, o observation.Observation) RowState {
	if !row.Holds {
		return row
	}
	out := outcome.CannotLook("the addons in the user cluster", o.Addons.Why())
	return stateOf(row.Step, out)
}

func addonState(step ucv1.Step, set observation.AddonSet, what string) RowState {
	state := RowState{Step: step}
	switch {
	case set.WorkloadWithheld && len(set.Foreign)+len(set.Drifted) == 0:
		state.Holds, state.Reason, state.Message = true, ucv1.HoldsReason, what+" "+set.Version+" is applied but for its workload, "+
			"which starts when KCM is proven silent."
	case set.SatisfiedBy != "":
		state.Holds, state.Reason, state.Message = true, ucv1.HoldsReason, set.SatisfiedBy
	case len(set.Foreign) > 0:
		state.Reason, state.Message = ucv1.ForeignObjectsReason, what+" is not ours: "+observation.Names(set.Foreign).Words+"."
	case len(set.Drifted) > 0:
		state.Reason, state.Message = ucv1.ActingReason, what+" is not as wanted: "+wording.Names(observation.RefNames(set.Drifted))+"."
	case len(set.Unhealthy) > 0 && set.Unschedulable:
		state.Holds, state.Reason, state.Message = true, ucv1.NoNodesReason, what+" is applied; there is no Node to run it yet."
	case len(set.Unhealthy) > 0:
		state.Reason, state.Message = ucv1.RollingOutReason, observation.Names(set.Unhealthy).Words+"."
	default:
		state.Holds, state.Reason, state.Message = true, ucv1.HoldsReason, what+" "+set.Version+" is applied and healthy."
	}
	return state
}
