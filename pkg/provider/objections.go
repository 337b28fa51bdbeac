package provider

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// Objections are why a write of a Cluster is refused, as sentences, by the version rules or because its provider is unknown;
// before is nil when it is created. Neither the provider nor the feature can be taken back, so that is the time to say so.
func (c *Catalogue) Objections(before, after *ucv1.Cluster) string {
	starts := after.ExternalCloudProvider() && before != nil && !before.ExternalCloudProvider()
	if unknown := c.Unknown(after.Spec.Cloud.ProviderName); unknown != "" && (before == nil || starts) {
		return unknown
	}
	var was *versions.State
	wanted := c.stateOf(after)
	if before != nil {
		was = c.stateOf(before)
		if starts {
			// Its status does not say so yet: this write starts the migration.
			wanted.Condition = manifest.WhileMigrating
		}
	}
	if before != nil && upgradeAllowed(before, after) {
		// The CCM comes with that minor: what holds for a cluster that has one is asked.
		was.Condition, wanted.Condition = manifest.WhileExternal, manifest.WhileExternal
	}
	return versions.Sentences(versions.Judge(was, wanted))
}

// upgradeAllowed says that a hand-over across minors waits for this version.
func upgradeAllowed(before, after *ucv1.Cluster) bool {
	allowed := handover.UpgradeMinor(before.Status.Facts)
	return allowed != 0 && allowed == observation.MinorOf(after.Spec.Version) && before.Status.Rollback == nil &&
		before.Status.Handover.WorkloadAllowedAt == nil
}

func (c *Catalogue) stateOf(cluster *ucv1.Cluster) *versions.State {
	state := &versions.State{Version: cluster.Spec.Version, Condition: versions.ConditionOf(cluster)}
	if profile, known := c.Lookup(cluster.Spec.Cloud.ProviderName); known {
		state.Provider = profile
	}
	return state
}
