package loops

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// AddonsInPlace says that both sets are as wanted and healthy, and the fence holds.
func AddonsInPlace(in pass.Input) outcome.Outcome {
	if out := applied.Renderable(in); !out.Holds {
		return out
	}
	addons, known := in.Addons.Get()
	if !known {
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	}
	if out := applied.Set(in, outcome.CSISet, addons.CSI); !out.Holds {
		return out
	}
	if start.CCMFollows(in) {
		return outcome.Holds(ucv1.HoldsReason, "The CSI driver is applied; the CCM follows within the hand-over.")
	}
	if out := fenceHolds(in); !out.Holds {
		return out
	}
	if out := applied.Set(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	return failAfterDeadline(in, applied.Healthy(in, addons))
}

// fenceHolds asks, before the CCM's workload exists, whether its identity is really kept from its Lease.
func fenceHolds(in pass.Input) outcome.Outcome {
	fence, known := in.Fence.Get()
	switch {
	case !known:
		return outcome.CannotLook("the fence", in.Fence.Why())
	case in.Facts.Handover.FenceOpenedAt != nil || len(fence.Allowed) == 0 || start.Serialized(in.Facts):
		return outcome.Holds(ucv1.HoldsReason, "")
	case fence.Open:
		return openFenceHolds(in, fence)
	}
	return outcome.Fails(ucv1.FenceIneffectiveReason, start.FenceProblem(fence))
}

// openFenceHolds is for an open fence that we did not note. It is harmless only where the whole proof holds: a crash came
// between opening and noting it, and then the proof is waited for again, or an earlier Cluster object opened it.
func openFenceHolds(in pass.Input, fence observation.Fence) outcome.Outcome {
	doubts := handover.Doubts(Silence(in))
	if start.WantsLock(in.Facts) {
		doubts = handover.LockDoubts(Silence(in))
	}
	switch {
	case len(doubts) == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case in.Facts.Handover.StartedAt != nil:
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason,
			observation.Say("The fence is open already: ", observation.Clauses(doubts)), 2*time.Second)
	}
	silence := observation.Say("KCM is not proven silent")
	if of := observation.Join(doubts, "").Objects; len(of) > 0 {
		silence = observation.Say(silence, ": ", observation.Names(of))
	}
	return outcome.Fails(ucv1.FenceIneffectiveReason, start.FenceProblem(fence).Also(silence))
}

// FenceStaysOpen opens it again after someone closed it, and asks for the proof before, as the first time.
func FenceStaysOpen(in pass.Input) outcome.Outcome {
	fence, seen := in.Fence.Get()
	switch {
	case !seen:
		return outcome.CannotLook("the fence", in.Fence.Why())
	case fence.Open:
		return outcome.Holds(ucv1.HoldsReason, "CCM and CSI are applied.")
	}
	if doubts := handover.Doubts(Silence(in)); len(doubts) > 0 {
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason,
			observation.Say("The fence was closed by someone and is not opened again yet: ",
				observation.Clauses(doubts)), 2*time.Second)
	}
	if out := start.NoOtherManager(in, start.ByLease); !out.Holds {
		return out
	}
	return outcome.Does(openFenceVerb(fence))
}
