package versions

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ConditionOf is the one that a cluster is in. One with the feature that no one has looked at yet was created with it.
func ConditionOf(cluster *ucv1.Cluster) manifest.Condition {
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
