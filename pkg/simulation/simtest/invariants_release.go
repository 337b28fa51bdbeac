package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// mustStayAttended is a Cluster that took the hand-over and that no one abandons: it does not go before a manager runs the cloud
// loops.
func mustStayAttended(c *ucv1.Cluster) bool {
	handover := c.Status.Handover
	return handover != nil && handover.FinishedAt != nil && c.Status.Rollback == nil &&
		c.Annotations[ucv1.AbandonAnnotation] != "true"
}

// checkRelease asks the world and not a Lease. The last renewal of a leader that has ended is believed for the duration of its
// Lease, as everywhere.
func (i *invariants) checkRelease(w *World, o observation.Observation, d migration.Decision) {
	if !does(d, outcome.ActionRelease) || !mustStayAttended(o.Cluster) {
		return
	}
	const goes = "a deleted Cluster goes"
	t := w.truth()
	if !t.led {
		i.fail("rule 7: %s while the CCM does not lead", goes)
	}
	if !w.Leases.FenceOpen && !w.Traits.LeasesAreFree {
		i.fail("rule 7: %s while the fence is closed", goes)
	}
	i.checkSilent(w, goes)
	checkAlone(i, t, goes)
}

// factsOf are those that an action must not be emitted without, where the Cluster stands.
func factsOf(w *World, d migration.Decision) []string {
	deleted := !w.Cluster.DeletionTimestamp.IsZero()
	switch kind := d.Next().Kind; {
	case d.Step == ucv1.StepRollbackLoops:
		return []string{
			"ControlPlane",
			"Fence",
			"Addons",
			"CCMPods",
			"CCMLease",
			"Machines",
			"Nodes",
			"MachineController",
			"Provider",
			"OtherManagers",
		}
	case kind == outcome.ActionPruneAddons && deleted && slices.Contains(w.Addons.Probe.Wanted, d.Next().Objects[0]):
		return []string{"Probe"} // What is left of it goes before all else.
	case kind == outcome.ActionRevokeLease && deleted:
		return nil // It takes back what was granted, wherever KCM stands.
	case kind == outcome.ActionRelease && mustStayAttended(w.Cluster):
		return []string{"ControlPlane", "CCMLease", "CCMProcesses", "Fence", "OtherManagers"}
	case kind == outcome.ActionOpenFence && handedOver(w):
		// Someone closed it: no Lease has to be cleared for the first leader.
		return []string{"ControlPlane", "Fence", "Addons", "OtherManagers"}
	}
	return restsOn()[d.Next().Kind]
}

func handedOver(w *World) bool {
	handover := w.Facts().Handover
	return handover != nil && handover.FinishedAt != nil
}
