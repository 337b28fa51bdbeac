package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// tell records what the saved status changed: one event a transition, and the metrics of it.
func (r *Reconciler) tell(s *scope, before, after ucv1.ClusterStatus) {
	if before.Step != after.Step && s.cluster.ExternalCloudProvider() {
		r.Recorder.Eventf(s.cluster, nil, corev1.EventTypeNormal, "StepChanged", string(after.Step), "The current step is %s.", after.Step)
		r.Metrics.stepEnded(before, s.now)
	}
	if plan := after.Adoption; plan != nil && (before.Adoption == nil || !before.Adoption.PlannedAt.Equal(&plan.PlannedAt)) {
		r.Recorder.Eventf(s.cluster, nil, corev1.EventTypeNormal, ucv1.AdoptionPlannedReason, string(after.Step), "%s",
			bounded("Adopting changes: "+strings.Join(plan.Changes, "; "), maxMessage))
	}
	stalled := meta.FindStatusCondition(after.Conditions, ucv1.StalledCondition)
	if stalled != nil && !meta.IsStatusConditionTrue(before.Conditions, ucv1.StalledCondition) {
		r.Recorder.Eventf(s.cluster, nil, corev1.EventTypeWarning, stalled.Reason, string(after.Step), "%s", bounded(stalled.Message, maxMessage))
		r.Metrics.stalled(stalled.Reason)
	}
}
