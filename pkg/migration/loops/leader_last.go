package loops

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// leaderEndsLast keeps the gap short: as long as another pod of the old template lives, the loops may move there and
// have to end once more. Where someone else changes KCM, the instructions have that order.
func leaderEndsLast(in pass.Input) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	kcm := controlPlane.KCM
	switch {
	case !known:
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	case in.Facts.Handover.LoopsOffAt != nil,
		in.Cluster.Spec.ControlPlane.Instructed(),
		!slices.ContainsFunc(kcm.Pods, handover.MayRunLoops):
		return outcome.Holds(ucv1.HoldsReason, "")
	case in.KCMLease.IsUnknown():
		return outcome.CannotLook("KCM's Lease", in.KCMLease.Why())
	}
	if keep := keepLeader(kcm, in.KCMLease.Value()); keep != nil {
		return outcome.Does(*keep)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
