package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// addons puts the CSI driver and the fenced CCM in place. Once the hand-over is finished only drift is looked at: the
// CCM's health is then asked for where something depends on it.
func addons(in pass.Input) outcome.Outcome {
	if in.Facts.Handover != nil && in.Facts.Handover.FinishedAt != nil {
		return addonsDrift(in)
	}
	switch back := loops.AreBack(in); {
	case back.IsUnknown():
		return outcome.CannotLook("the control plane", back.Why())
	case back.IsKnown():
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they are not repaired while KCM may run cloud loops.")
	}
	return loops.AddonsInPlace(in)
}

// externalAddons is the row of a cluster that was created with the feature. Its KCM must run no cloud loop before the
// CCM is put beside it.
func externalAddons(in pass.Input) outcome.Outcome {
	if in.Facts.Handover == nil {
		if out := start.JudgeInputs(in); !out.Holds {
			return out
		}
		if out := start.Approved(in); !out.Holds {
			return out
		}
		kcm := in.ControlPlane.Value().KCM
		return in.Records("Recording what the CCM inherits from "+kcm.String()+".", func(facts *ucv1.Facts) {
			facts.Inherited = start.Inherit(in.Cluster, kcm.Arguments)
			facts.Handover = start.NewHandover(in)
		})
	}
	if in.Facts.Handover.FinishedAt == nil {
		if out := start.JudgeInputs(in); !out.Holds {
			return out
		}
	}
	return addons(in)
}

// addonsDrift repairs, and does not wait for health: what is broken by someone else is fixed. Once the migration is
// completed, it holds even when nothing can be looked at. While the guard is broken nothing is repaired: a person who
// stopped the CCM or closed its fence, because KCM runs the loops again, must not get it back from us.
func addonsDrift(in pass.Input) outcome.Outcome {
	guard := loops.Guard(in)
	if guard.Failure != nil {
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI were applied; they are not repaired while KCM may run cloud loops.")
	}
	switch finding, _ := start.CheckReleased(in); {
	case finding == nil:
	case in.Facts.CompletedAt != nil:
		return outcome.Holds(ucv1.AddonsReleasedReason, "The CCM and the CSI driver are neither applied nor repaired, because "+
			"spec.addons.management is Released.")
	default:
		return outcome.Fails(finding.Reason, finding.Text())
	}
	out := drift(in)
	if out.Action != nil && !guard.Holds {
		return guard
	}
	return out
}

func drift(in pass.Input) outcome.Outcome {
	addons, known := in.Addons.Get()
	if !known {
		return applied.Unseen(in)
	}
	if out := applied.Set(in, outcome.CSISet, addons.CSI); !out.Holds {
		return out
	}
	if out := applied.Set(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	if probe := in.Probe.Value(); len(probe.Left) > 0 {
		return outcome.Does(applied.Prune(probe.Left))
	}
	healthy := applied.Healthy(in, addons)
	if healthy.Action != nil {
		return healthy
	}
	// The first Node must not meet a closed fence.
	if out := loops.FenceStaysOpen(in); !out.Holds || healthy.Reason != ucv1.NoNodesReason {
		return out
	}
	return healthy
}
