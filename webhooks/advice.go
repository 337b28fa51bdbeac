package webhooks

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// advice says what a write changes without any effect, so that it is not found out when it is needed. It refuses nothing. Before is
// nil when the Cluster is created.
func advice(before, after *ucv1.Cluster) []string {
	if before == nil {
		before = &ucv1.Cluster{}
	}
	started := after.Status.StartedAt != nil
	var warnings []string
	if after.Spec.Handover.Rollback && !before.Spec.Handover.Rollback && !after.ExternalCloudProvider() {
		warnings = append(warnings, "spec.handover.rollback has no effect while spec.features.externalCloudProvider is off: there is nothing to undo. "+
			"Once the feature is on, it keeps the migration from starting.")
	}
	if after.Spec.Mode == ucv1.PlanOnlyMode && before.Spec.Mode != ucv1.PlanOnlyMode && started {
		warnings = append(warnings, "spec.mode PlanOnly has no effect on a migration that has started. To stop it: spec.paused: true. "+
			"To go back: spec.handover.rollback: true.")
	}
	if after.Spec.Cloud.ClusterName != before.Spec.Cloud.ClusterName && started {
		warnings = append(warnings, "spec.cloud.clusterName has no effect on a migration that has started: the CCM keeps the name in status.inherited. "+
			"After a rollback it has to be the one that kube-controller-manager uses, or the next start is blocked.")
	}
	return warnings
}
