package rollout

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// leave is for a deleted Cluster that goes in the middle of the roll: what was begun is rolled out, what the breaker took is
// given back, and the canary goes.
func leave(in input) (outcome.Outcome, bool) {
	if in.facts.RollGeneration != "" && in.o.Machines.IsUnknown() {
		return outcome.CannotLook("the Machines", in.o.Machines.Why()), true
	}
	fleet := fleetOf(in)
	if in.facts.RollGeneration != "" && !in.o.Machines.IsAbsent() {
		if out, busy := leaveRoll(fleet); busy {
			return out, true
		}
	}
	if rolling := waitingPools(fleet); len(rolling) > 0 {
		return outcome.Waits(ucv1.WaitingForMachinesReason, "Waiting for the Machines of ", observation.Names(rolling), "."), true
	}
	if out, kept := keptBack(fleet); kept {
		return out, true
	}
	return removeCanary(fleet)
}

// leaveRoll goes on with what has begun, in the order of roll, and begins with nothing else.
func leaveRoll(in fleet) (outcome.Outcome, bool) {
	if out, busy := giveBackAndRemoveCanary(in); busy {
		return out, true
	}
	if out := rollHalts(in); !out.Holds {
		return out, true
	}
	if out, due := stepNext(in); due {
		return out, true
	}
	return returnAll(in)
}
