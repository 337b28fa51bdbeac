package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// checkCanary: no MachineDeployment with Machines is rolled before the canary was proven, and what counts as proven is so: its
// Node serves, and its kubelet is external in truth.
func checkCanary(i *invariants, w *World, o observation.Observation, d migration.Decision) {
	kind := o.Cluster.Spec.Rollout.Canary
	if facts := w.Facts(); provenCanary(&facts) {
		return
	}
	if !w.rollingBack() && (kind == "" || kind == ucv1.CanaryMachine) {
		for _, pool := range o.Machines.Value().Deployments {
			if pool.Replicas > 0 && isRolled(d.Next(), pool.Ref) {
				i.fail("rule 9: %s is rolled before the canary was proven", pool.Ref)
			}
		}
	}
	if n := w.Canary.Node(); provenCanary(d.Facts) && (n == nil || !n.ServesExternally()) {
		i.fail("rule 9: the canary counts as proven, and its Node is not")
	}
}

func isRolled(action *outcome.Action, ref observation.Ref) bool {
	return action != nil && action.Kind == outcome.ActionRollMachineDeployment && slices.Contains(action.Objects, ref)
}

func provenCanary(facts *ucv1.Facts) bool {
	return facts != nil && facts.Canary != nil && facts.Canary.ProvenAt != nil
}
