package rollout

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// leave is for a deleted Cluster that goes in the middle of the roll: what was begun is rolled out, what the breaker took is
// given back, and the canary goes.
func (r *roll) leave() (outcome.Outcome, bool) {
	if r.facts.RollGeneration != "" && r.o.Machines.IsUnknown() {
		return outcome.CannotLook("the Machines", r.o.Machines.Why()), true
	}
	if r.facts.RollGeneration != "" && !r.o.Machines.IsAbsent() {
		view := r.fleet()
		pools := r.pools(view)
		if out, busy := r.giveBackAndRemoveCanary(view, pools); busy {
			return out, true
		}
		if out := r.rollHalts(view, pools); !out.Holds {
			return out, true
		}
		if out, granted := r.step(view, pools); granted {
			return out, true
		}
		if out, left := r.returnAll(pools); left {
			return out, true
		}
	}
	if rolling := r.rollingDeployments(); len(rolling) > 0 {
		return outcome.Waits(ucv1.WaitingForMachinesReason, "Waiting for the Machines of ", observation.Names(rolling), "."), true
	}
	return r.removeCanary()
}
