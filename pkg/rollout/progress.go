package rollout

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Progress counts Machines and MachineDeployments, for the status.
type Progress struct {
	Machines, MachineDeployments ucv1.ProgressCount
	Nodes                        ucv1.NodeCount
}

// ProgressOf counts from an observation; ok is false when Machines or Nodes could not be looked at.
func ProgressOf(o observation.Observation, now time.Time) (progress Progress, ok bool) {
	if o.Machines.IsUnknown() || !o.Nodes.IsKnown() {
		return Progress{}, false
	}
	in := inputOf(Of(o, now))
	view := viewOf(in)
	progress.Machines, progress.MachineDeployments = countMachines(view), countPools(poolsOf(view))
	if in.facts.Origin == ucv1.OriginExternal {
		// Nothing is rolled in a cluster that was external from the start, so nothing in it is outdated.
		for _, count := range []*ucv1.ProgressCount{&progress.Machines, &progress.MachineDeployments} {
			count.UpToDate, count.Blocked = count.Total, 0
		}
	}
	for _, node := range view.nodes {
		progress.Nodes.Total++
		if view.initialized(node) {
			progress.Nodes.Initialized++
		}
	}
	if in.facts.Baseline != nil && !in.back() {
		progress.Nodes.Proven = countProven(view)
	}
	return progress, true
}

func countMachines(v machineView) ucv1.ProgressCount {
	count := ucv1.ProgressCount{Blocked: int32(len(orphans(v)))}
	for _, machine := range v.machines.Machines {
		count.Total++
		if v.upToDate(machine) && !machine.Deleting {
			count.UpToDate++
		}
		if v.late(machine) {
			count.Blocked++
		}
	}
	return count
}

func countPools(pools []pool) ucv1.ProgressCount {
	count := ucv1.ProgressCount{}
	for _, pool := range pools {
		count.Total++
		switch {
		case pool.done():
			count.UpToDate++
		case pool.blocked.Words != "":
			count.Blocked++
		}
	}
	return count
}

// countProven counts the Nodes of Machines whose kubelets are proven, for the status.
func countProven(v machineView) *ucv1.ProvenCount {
	count := &ucv1.ProvenCount{}
	for _, machine := range v.machines.Machines {
		node, found := v.nodes[machine.NodeName]
		if machine.NodeName == "" || !found || node.CreatedAt.Before(machine.CreatedAt) {
			continue
		}
		switch node.Kubelet.External {
		case observation.TaintSeen:
			count.Taint++
		case observation.SyncedSeen:
			count.Synced++
		case observation.ProviderIDOwned:
			count.ProviderID++
		}
	}
	count.Total = count.Taint + count.Synced + count.ProviderID
	return count
}
