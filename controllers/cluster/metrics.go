package cluster

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

	standing *standing
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		standing: newStanding(),
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
	collectors := []prometheus.Collector{m.actions, m.failures, m.steps, m.samples, m.looks, m.lookRequests, m.missing, m.standing}
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

// DefinitionLacks notes how many fields the definition of Clusters lacks.
func (m *Metrics) DefinitionLacks(fields int) { m.missing.WithLabelValues().Set(float64(fields)) }

// looked counts a look that ended.
func (m *Metrics) looked(requests int64) {
	m.looks.WithLabelValues(strconv.FormatBool(requests > 0)).Inc()
	m.lookRequests.WithLabelValues().Add(float64(requests))
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
