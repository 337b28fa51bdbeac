package pass

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// InventoryChanges are the unexplained differences, for a message.
func InventoryChanges(in Input) (changed []observation.Text, unknown string) {
	list, lost, unknown := baseline.Differences(*in.Observation, in.Facts.Baseline)
	changed = observation.Texts(lost)
	for _, difference := range list {
		if difference.Explained == "" {
			changed = append(changed, difference.Text())
		}
	}
	return changed, unknown
}

// Inventories are those of before and of now; nothing was made since while there is no baseline.
func Inventories(in Input) (before, now observation.Inventory, known bool, why string) {
	// One that is taken in this very pass was not read yet.
	if in.Cluster.Status.Baseline == nil {
		return observation.Inventory{}, observation.Inventory{}, true, ""
	}
	before, stored := in.Baseline.Get()
	switch {
	case !stored:
		return before, now, false, "the baseline: " + in.Baseline.Why()
	case before.Digest() != in.Facts.Baseline.Digest:
		return before, now, false, "the baseline: Secret " + in.Facts.Baseline.SecretName + " is not the one that was taken"
	}
	now, known = in.Inventory.Get()
	return before, now, known, "the load balancers and volumes: " + in.Inventory.Why()
}
