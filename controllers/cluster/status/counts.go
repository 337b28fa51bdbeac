package status

import (
	"fmt"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// maxDifferences bounds the lists of status.inventory.
const maxDifferences = 10

func setCounts(status *ucv1.ClusterStatus, p *Pass) {
	if seen := p.Shown.Progress; seen != nil {
		progress := *seen
		progress.Machines.Summary = fmt.Sprintf("%d/%d", progress.Machines.UpToDate, progress.Machines.Total)
		progress.MachineDeployments.Summary = fmt.Sprintf(
			"%d/%d",
			progress.MachineDeployments.UpToDate,
			progress.MachineDeployments.Total,
		)
		if before := p.Cluster.Status; before.CompletedAt != nil && before.Nodes != nil {
			progress.Nodes.Proven = before.Nodes.Proven // Nothing is proven any more of Nodes that join later.
		}
		status.Machines, status.MachineDeployments, status.Nodes = &progress.Machines, &progress.MachineDeployments, &progress.Nodes
	}
	if addons, known := p.Observed.Addons.Get(); known {
		status.Addons = &ucv1.AddonsStatus{
			CloudControllerManagerVersion: addons.CCM.Version, CSIVersion: addons.CSI.Version, Objects: int32(addons.InventoryObjects),
		}
	}
}

// setInventory shows the differences as they were last seen, and keeps how they stood when a step was over. When the migration is
// completed, they stay as they were then: what people change later is theirs.
func setInventory(status *ucv1.ClusterStatus, p *Pass) {
	before := p.Cluster.Status
	if status.Baseline == nil {
		status.Inventory = nil
		return
	}
	if before.CompletedAt != nil {
		return
	}
	differences, known := p.Shown.Differences.Get()
	if !known {
		return
	}
	seen := &ucv1.InventoryStatus{}
	if before.Inventory != nil {
		seen.AfterSteps = slices.Clone(before.Inventory.AfterSteps)
	}
	count(seen, differences)
	if before.Step != "" && before.Step != status.Step {
		after := ucv1.InventoryAfterStep{Step: before.Step, Explained: seen.Explained, Unexplained: seen.Unexplained}
		seen.AfterSteps = append(
			slices.DeleteFunc(seen.AfterSteps, func(a ucv1.InventoryAfterStep) bool { return a.Step == after.Step }),
			after,
		)
	}
	status.Inventory = seen
}

// count adds the differences up, and names the first of those that a person should look at.
func count(seen *ucv1.InventoryStatus, differences []baseline.Difference) {
	for _, difference := range differences {
		if difference.Warning && len(seen.Warnings) < maxDifferences {
			seen.Warnings = append(seen.Warnings, wording.Bounded(difference.String()+": "+difference.Explained, MaxMessage))
		}
		if difference.Explained != "" {
			seen.Explained++
			continue
		}
		seen.Unexplained++
		if len(seen.Differences) < maxDifferences {
			seen.Differences = append(seen.Differences, wording.Bounded(difference.String(), MaxMessage))
		}
	}
}
