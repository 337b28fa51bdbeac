package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// standingOf Clusters, as a scrape sees it: by name, with the values of labels behind it.
func standingOf(t *testing.T, metrics *Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	g := NewWithT(t)
	g.Expect(registry.Register(metrics.standing)).To(Succeed())
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	shown := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			shown[family.GetName()+labelsOf(metric)] = metric.GetGauge().GetValue()
		}
	}
	return shown
}

func labelsOf(metric *dto.Metric) (text string) {
	for _, label := range metric.GetLabel() {
		text += " " + label.GetValue()
	}
	return text
}

func TestHowClustersStand(t *testing.T) {
	g, metrics := NewWithT(t), newTold(t).reconciler.Metrics
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	is := func(cluster int, change func(*ucv1.ClusterStatus), conditions ...metav1.Condition) {
		status := &ucv1.ClusterStatus{Facts: ucv1.Facts{Origin: ucv1.OriginMigrating}, Conditions: conditions}
		change(status)
		metrics.standing.stands(keyOf(cluster), status)
	}
	migratesSince := func(at time.Time) func(*ucv1.ClusterStatus) {
		return func(s *ucv1.ClusterStatus) { s.StartedAt = &metav1.Time{Time: at} }
	}
	condition := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason}
	}
	stalled := condition(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.BlockedMachinesReason)
	g.Expect(standingOf(t, metrics)).To(Equal(map[string]float64{
		"ccm_migration_clusters_unattended":            0,
		"ccm_migration_clusters_ready_to_migrate True": 0, "ccm_migration_clusters_ready_to_migrate False": 0,
		"ccm_migration_clusters_ready_to_migrate Unknown": 0,
		"ccm_migration_clusters_reachable True":           0, "ccm_migration_clusters_reachable False": 0,
		"ccm_migration_clusters_reachable Unknown": 0,
	}))

	is(1, migratesSince(noon), condition(ucv1.CloudLoopsAttendedCondition, metav1.ConditionFalse, ""), stalled,
		condition(ucv1.UserClusterReachableCondition, metav1.ConditionUnknown, ""))
	is(2, migratesSince(noon.Add(-time.Hour)), condition(ucv1.CloudLoopsAttendedCondition, metav1.ConditionUnknown, ""))
	is(3, func(s *ucv1.ClusterStatus) {
		migratesSince(noon.Add(-24 * time.Hour))(s)
		s.CompletedAt = &metav1.Time{Time: noon}
	}, stalled, condition(ucv1.UserClusterReachableCondition, metav1.ConditionTrue, ""))
	is(4, func(s *ucv1.ClusterStatus) {
		migratesSince(noon.Add(-48 * time.Hour))(s)
		s.Rollback = &ucv1.RollbackStatus{FinishedAt: &metav1.Time{Time: noon}}
	})
	is(5, func(s *ucv1.ClusterStatus) { s.Origin = ucv1.OriginInTree }, condition(ucv1.ReadyToMigrateCondition, metav1.ConditionFalse, ""))
	is(6, func(s *ucv1.ClusterStatus) {
		migratesSince(noon.Add(-72 * time.Hour))(s)
		s.Origin = ucv1.OriginExternal
	}, condition(ucv1.StalledCondition, metav1.ConditionFalse, ""))
	shown := standingOf(t, metrics)
	for name, value := range map[string]float64{
		"ccm_migration_clusters_unattended":                    1,
		"ccm_migration_clusters_stalled false BlockedMachines": 1, "ccm_migration_clusters_stalled true BlockedMachines": 1,
		"ccm_migration_clusters_reachable Unknown": 1, "ccm_migration_clusters_reachable True": 1,
		"ccm_migration_clusters_ready_to_migrate False": 1,
		"ccm_migration_oldest_start_timestamp_seconds":  float64(noon.Add(-time.Hour).Unix()),
	} {
		g.Expect(shown).To(HaveKeyWithValue(name, value))
	}

	is(1, migratesSince(noon))
	metrics.standing.gone(keyOf(2))
	metrics.standing.gone(keyOf(3))
	shown = standingOf(t, metrics)
	g.Expect(shown).To(HaveKeyWithValue("ccm_migration_clusters_unattended", 0.))
	g.Expect(shown).To(HaveKeyWithValue("ccm_migration_oldest_start_timestamp_seconds", float64(noon.Unix())))
	for name := range shown {
		g.Expect(name).NotTo(ContainSubstring("stalled"), "a reason that no Cluster has has no series")
	}
}
