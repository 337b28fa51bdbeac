package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Interrupted is the last status of a Cluster that is not looked at any more, with the word that a person must act.
func Interrupted(cluster *ucv1.Cluster, now time.Time, reason, message string) ucv1.ClusterStatus {
	before, after := cluster.Status, *cluster.Status.DeepCopy()
	after.ObservedGeneration = cluster.Generation
	w := &statusWriter{before: before.Conditions, now: now, gen: cluster.Generation}
	for _, condition := range before.Conditions {
		switch condition.Type {
		case ucv1.ReadyCondition, ucv1.StalledCondition, ucv1.ReconcilingCondition, ucv1.PausedCondition:
		case ucv1.CloudLoopsAttendedCondition, ucv1.ReadyToMigrateCondition:
			unseen(w, condition, reason)
		default:
			w.keep(condition.Type)
		}
	}
	w.set(ucv1.ReadyCondition, metav1.ConditionUnknown, reason, message)
	w.set(ucv1.StalledCondition, metav1.ConditionTrue, reason, message)
	setPaused(w, cluster, "")
	after.Conditions = w.after
	return after
}

// unseen takes a claim back that rests on looking. What was not so before stays: it is not known to be better now.
func unseen(w *statusWriter, condition metav1.Condition, reason string) {
	if condition.Status != metav1.ConditionTrue {
		w.keep(condition.Type)
		return
	}
	w.set(condition.Type, metav1.ConditionUnknown, reason, "The controller does not look at the cluster; condition Ready says why.")
}
