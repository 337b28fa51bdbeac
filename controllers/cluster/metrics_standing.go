package cluster

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// standing is how the Clusters stood at their last pass. Every count has a series, also where it is 0, so that an alert can end;
// but a reason has one only while a Cluster has it.
type standing struct {
	unattended, ready, reachable, stalled, oldest *prometheus.Desc

	mu       sync.Mutex
	clusters map[client.ObjectKey]stand
}

// stand of one Cluster.
type stand struct {
	unattended bool
	// ready and reachable are the conditions' status; empty where there is no such condition.
	ready, reachable metav1.ConditionStatus
	// stalled is the reason for which it needs a person; empty where it does not.
	stalled string
	// migrated says that it has completed its migration, startedAt when it began one that has not ended.
	migrated  bool
	startedAt time.Time
}

func newStanding() *standing {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("ccm_migration_"+name, help, labels, nil)
	}
	return &standing{
		clusters: map[client.ObjectKey]stand{},
		unattended: desc("clusters_unattended", "Clusters whose cloud loops no manager runs: condition CloudLoopsAttended is "+
			"False."),
		ready: desc("clusters_ready_to_migrate", "Clusters whose feature is off, by the status of condition ReadyToMigrate.", "status"),
		reachable: desc("clusters_reachable", "Clusters that were connected to, by the status of condition UserClusterReachable.",
			"status"),
		stalled: desc("clusters_stalled", "Clusters that need a person: condition Stalled is True, by reason, and whether they have "+
			"completed their migration.", "reason", "migrated"),
		oldest: desc("oldest_start_timestamp_seconds", "When the Cluster began that has migrated for the longest time and has not "+
			"completed; no value where none migrates."),
	}
}

// standOf reads the status that was computed.
func standOf(status *ucv1.ClusterStatus) stand {
	of := func(kind string) metav1.Condition {
		if found := meta.FindStatusCondition(status.Conditions, kind); found != nil {
			return *found
		}
		return metav1.Condition{}
	}
	s := stand{
		unattended: of(ucv1.CloudLoopsAttendedCondition).Status == metav1.ConditionFalse,
		ready:      of(ucv1.ReadyToMigrateCondition).Status, reachable: of(ucv1.UserClusterReachableCondition).Status,
		migrated: status.CompletedAt != nil,
	}
	if stalled := of(ucv1.StalledCondition); stalled.Status == metav1.ConditionTrue {
		s.stalled = stalled.Reason
	}
	rolledBack := status.Rollback != nil && status.Rollback.FinishedAt != nil
	if status.Origin == ucv1.OriginMigrating && status.StartedAt != nil && !s.migrated && !rolledBack {
		s.startedAt = status.StartedAt.Time
	}
	return s
}

// stands notes how a Cluster stands in a pass, also where nothing is written because it stood so before.
func (s *standing) stands(key client.ObjectKey, status *ucv1.ClusterStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters[key] = standOf(status)
}

func (s *standing) gone(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clusters, key)
}

// Describe all that there can be.
func (s *standing) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{s.unattended, s.ready, s.reachable, s.stalled, s.oldest} {
		ch <- desc
	}
}

// Collect counts the Clusters.
func (s *standing) Collect(ch chan<- prometheus.Metric) {
	set := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	count := s.count()
	set(s.unattended, float64(count.unattended))
	for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
		set(s.ready, float64(count.ready[status]), string(status))
		set(s.reachable, float64(count.reachable[status]), string(status))
	}
	for of, number := range count.stalled {
		set(s.stalled, float64(number), of.reason, strconv.FormatBool(of.migrated))
	}
	if !count.oldest.IsZero() {
		set(s.oldest, float64(count.oldest.Unix()))
	}
}

type stalledFor struct {
	reason   string
	migrated bool
}

// headcount of all Clusters.
type headcount struct {
	unattended       int
	ready, reachable map[metav1.ConditionStatus]int
	stalled          map[stalledFor]int
	oldest           time.Time
}

func (s *standing) count() headcount {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := headcount{
		ready: map[metav1.ConditionStatus]int{}, reachable: map[metav1.ConditionStatus]int{}, stalled: map[stalledFor]int{},
	}
	for _, one := range s.clusters {
		if one.unattended {
			count.unattended++
		}
		count.ready[one.ready]++
		count.reachable[one.reachable]++
		if one.stalled != "" {
			count.stalled[stalledFor{one.stalled, one.migrated}]++
		}
		if !one.startedAt.IsZero() && (count.oldest.IsZero() || one.startedAt.Before(count.oldest)) {
			count.oldest = one.startedAt
		}
	}
	return count
}
