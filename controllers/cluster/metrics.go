package cluster

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Metrics of the controller. They carry no cluster names: a fleet of thousands would make thousands of series.
type Metrics struct {
	actions  *prometheus.CounterVec
	failures *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	samples  *prometheus.CounterVec

	looks        *prometheus.CounterVec
	lookRequests *prometheus.CounterVec

	// missing has a value once the definition was looked at.
	missing *prometheus.GaugeVec

	mu sync.Mutex
	// unattended and ready are the Clusters by how they stand: those whose loops no manager runs, and condition ReadyToMigrate.
	unattended map[client.ObjectKey]struct{}
	ready      map[client.ObjectKey]string
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		unattended: map[client.ObjectKey]struct{}{},
		ready:      map[client.ObjectKey]string{},
		looks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ccm_migration_look_ahead_total", Help: "Looks at user clusters whose feature is off, by whether the user cluster " +
				"was reached.",
		}, []string{"reached"}),
		lookRequests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ccm_migration_look_ahead_requests_total", Help: "Requests to user clusters that these looks took.",
		}, nil),
		missing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "ccm_migration_definition_missing_fields",
			Help: "Fields of Clusters that the CustomResourceDefinition lacked when the manager started; without a value it could not " +
				"be looked at.",
		}, nil),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ccm_migration_actions_total", Help: "Changes that the controller made, by action and result.",
		}, []string{"action", "result"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ccm_migration_stalled_total", Help: "Times a cluster began to need a person, by reason.",
		}, []string{"reason"}),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ccm_migration_step_duration_seconds", Help: "How long a step was current.",
			Buckets: []float64{1, 5, 15, 60, 300, 900, 3600, 14400, 86400},
		}, []string{"step"}),
		samples: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ccm_migration_slo_samples_total", Help: "What was measured for the service level objectives of CCMs, by indicator " +
				"and result.",
		}, []string{"indicator", "result"}),
	}
	unattended := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "ccm_migration_clusters_unattended", Help: "Clusters whose cloud loops no manager runs: condition CloudLoopsAttended " +
			"is False.",
	}, m.countUnattended)
	collectors := []prometheus.Collector{m.actions, m.failures, m.steps, m.samples, m.looks, m.lookRequests, m.missing, unattended}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
		collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ccm_migration_clusters_ready_to_migrate", Help: "Clusters whose feature is off, by the status of condition " +
				"ReadyToMigrate.",
			ConstLabels: prometheus.Labels{"status": string(status)},
		}, func() float64 { return m.countReady(string(status)) }))
	}
	for _, collector := range collectors {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) acted(kind outcome.ActionKind, err error) {
	result := "done"
	if err != nil {
		result = "error"
	}
	m.actions.WithLabelValues(string(kind), result).Inc()
}

// stands notes how a Cluster stands in a pass, also where nothing is written because it stood so before.
func (m *Metrics) stands(key client.ObjectKey, conditions []metav1.Condition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unattended, key)
	delete(m.ready, key)
	if meta.IsStatusConditionFalse(conditions, ucv1.CloudLoopsAttendedCondition) {
		m.unattended[key] = struct{}{}
	}
	if ready := meta.FindStatusCondition(conditions, ucv1.ReadyToMigrateCondition); ready != nil {
		m.ready[key] = string(ready.Status)
	}
}

// DefinitionLacks notes how many fields the definition of Clusters lacks.
func (m *Metrics) DefinitionLacks(fields int) { m.missing.WithLabelValues().Set(float64(fields)) }

// looked counts a look that ended.
func (m *Metrics) looked(requests int64) {
	m.looks.WithLabelValues(strconv.FormatBool(requests > 0)).Inc()
	m.lookRequests.WithLabelValues().Add(float64(requests))
}

func (m *Metrics) countReady(status string) (count float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, stands := range m.ready {
		if stands == status {
			count++
		}
	}
	return count
}

func (m *Metrics) countUnattended() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return float64(len(m.unattended))
}

func (m *Metrics) stalled(reason string) { m.failures.WithLabelValues(reason).Inc() }

func (m *Metrics) stepEnded(before ucv1.ClusterStatus, now time.Time) {
	for _, entry := range slices.Backward(before.Timeline) {
		if entry.Kind == ucv1.TimelineStep && entry.Step == before.Step {
			m.steps.WithLabelValues(string(before.Step)).Observe(now.Sub(entry.Time.Time).Seconds())
			return
		}
	}
}

// sampled adds what a pass counted. After a new spec.slo.countSince the counts of the status begin again, and these go on.
func (m *Metrics) sampled(before, after *ucv1.SLOStatus) {
	if after == nil {
		return
	}
	counted := map[string]ucv1.SLOIndicator{}
	if before != nil && before.Since.Equal(after.Since) {
		for _, indicator := range before.Indicators {
			counted[indicator.Name] = indicator
		}
	}
	for _, indicator := range after.Indicators {
		was := counted[indicator.Name]
		for result, more := range map[string]int32{
			"within": indicator.Within - was.Within, "missed": indicator.Missed - was.Missed, "unsure": indicator.Unsure - was.Unsure,
		} {
			// A counter that is made when nothing happened yet lets an alert see the first one.
			m.samples.WithLabelValues(indicator.Name, result).Add(float64(max(more, 0)))
		}
	}
}
