package provider

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Objections are why a write of a Cluster is refused, as sentences, by the version rules or because its provider is unknown;
// before is nil when it is created. Neither the provider nor the feature can be taken back, so that is the time to say so.
func (c *Catalogue) Objections(before, after *ucv1.Cluster) string {
	starts := after.ExternalCloudProvider() && before != nil && !before.ExternalCloudProvider()
	if unknown := c.Unknown(after.Spec.Cloud.ProviderName); unknown != "" && (before == nil || starts) {
		return unknown
	}
	var was *State
	wanted := &State{after.Spec.Cloud.ProviderName, after.Spec.Version, conditionOf(after)}
	if before != nil {
		was = &State{before.Spec.Cloud.ProviderName, before.Spec.Version, conditionOf(before)}
		if starts {
			// Its status does not say so yet: this write starts the migration.
			wanted.Condition = manifest.WhileMigrating
		}
	}
	return Sentences(c.Judge(was, wanted))
}

// conditionOf a cluster. One with the feature that no one has looked at yet was created with it.
func conditionOf(cluster *ucv1.Cluster) manifest.Condition {
	migrates := cluster.Status.Origin == ucv1.OriginMigrating || cluster.Status.Origin == ucv1.OriginInTree
	switch {
	case !cluster.ExternalCloudProvider(), migrates && cluster.Status.StartedAt == nil:
		return manifest.WhileInTree
	case migrates && !finished(cluster.Status.Conditions):
		return manifest.WhileMigrating
	}
	return manifest.WhileExternal
}

// finished as the rule for spec.version in the CRD has it.
func finished(conditions []metav1.Condition) bool {
	return slices.ContainsFunc(conditions, func(condition metav1.Condition) bool {
		return condition.Type == ucv1.InTreeConfigurationRemovedCondition && condition.Status == metav1.ConditionTrue
	})
}
