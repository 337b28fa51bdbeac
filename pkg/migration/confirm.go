package migration

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Confirmation says what has to be read for a decision: a pass may use what an earlier one read, and that may be a moment old.
// Who reads it decides again, and carries out what that brings.
type Confirmation struct {
	// Managers are the control plane, with the machine-controller beside it, and the Leases of KCM and the CCM.
	Managers bool
	// Fence of the CCM.
	Fence bool
	// ForeignCCMs of the user cluster.
	ForeignCCMs bool
	// Machines with their Nodes.
	Machines bool
	// All that is kept, those included.
	All bool
}

// ConfirmationOf a decision. The simulation shows that these suffice: with less, seeds on stale observations break a rule.
func ConfirmationOf(cluster *ucv1.Cluster, needs Needs, decision Decision) Confirmation {
	// What a proof of silence rests on; and a call for a person, and the end, are never a mistake of a moment.
	next := decision.Next()
	changes := next != nil && !prepares(next.Kind) || decision.Facts != nil
	confirmation := Confirmation{
		Managers: changes && needs.Proof, Fence: changes && needs.ClosedFence,
		All: isNewFailure(cluster, decision.Calls()) || completes(cluster, decision),
	}
	if next == nil {
		return confirmation
	}
	switch next.Kind {
	case outcome.ActionRollMachineDeployment, outcome.ActionStepMachineSet, outcome.ActionMarkMachines,
		outcome.ActionReturnMinReady, outcome.ActionCreateCanary, outcome.ActionRemoveCanary:
		confirmation.Machines = true
	case outcome.ActionOpenFence, outcome.ActionCloseFence:
		confirmation.Managers, confirmation.ForeignCCMs = true, true
	case outcome.ActionChangeArguments, outcome.ActionApplyAddons, outcome.ActionPruneAddons:
		// With the loops handed over, what is kept of other CCMs suffices: their workloads are watched.
		confirmation.Managers = true
		confirmation.ForeignCCMs = !staysHandedOver(cluster.Status.Facts)
	case outcome.ActionFreeLease, outcome.ActionReleaseCCMLease, outcome.ActionReleaseLock, outcome.ActionRemoveLock,
		outcome.ActionRelease:
		confirmation.Managers = true
	default:
	}
	return confirmation
}

// prepares says that an action only shortens a wait, or stores what was read: whoever runs the loops, it is right.
func prepares(kind outcome.ActionKind) bool {
	return slices.Contains([]outcome.ActionKind{
		outcome.ActionKeepLeader, outcome.ActionTouch, outcome.ActionGrantLease, outcome.ActionRevokeLease, outcome.ActionTakeBaseline,
	}, kind)
}

// isNewFailure says that the status does not call a person for it yet. That a condition is read back saves reads, and decides
// nothing.
func isNewFailure(cluster *ucv1.Cluster, failure *outcome.Failure) bool {
	if failure == nil {
		return false
	}
	stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition)
	return stalled == nil || stalled.Reason != failure.Reason
}

// completes says that a decision records the end of the migration, or of what comes after it.
func completes(cluster *ucv1.Cluster, decision Decision) bool {
	ends := []ucv1.Step{ucv1.StepVerify, ucv1.StepComplete, ucv1.StepFinalize, ucv1.StepFinished}
	return decision.Facts != nil && slices.Contains(ends, decision.Step) && cluster.Status.CompletedAt == nil
}

// Covers says that what another one names was read.
func (c Confirmation) Covers(other Confirmation) bool { return c.And(other) == c }

// And is both.
func (c Confirmation) And(other Confirmation) Confirmation {
	all := c.All || other.All
	return Confirmation{
		Managers: all || c.Managers || other.Managers, Fence: all || c.Fence || other.Fence,
		ForeignCCMs: all || c.ForeignCCMs || other.ForeignCCMs, Machines: all || c.Machines || other.Machines, All: all,
	}
}
