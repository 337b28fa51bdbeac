package fleetmigration

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// Metrics of all FleetMigrations. They carry no names of Clusters, and the series of a FleetMigration end with it.
type Metrics struct {
	standing                        *standing
	admissions, successes, failures *prometheus.CounterVec
	waits, approvals, durations     *prometheus.HistogramVec
	decisions                       prometheus.Histogram

	mu sync.Mutex
	// clusters by UID, as the last report had them: nil before the first, which therefore counts nothing.
	clusters map[string]counted
	// asked is since when a wave has been waiting for a person, as far as this manager saw it.
	asked map[series]time.Time
	// known are the series of waves that there are.
	known map[series]struct{}
}

// series of a wave. The UID tells a FleetMigration from one that was made later by the same name.
type series struct{ uid, migration, wave string }

// counted is what was counted of a Cluster. The times tell a second event from an older view of the first.
type counted struct {
	admittedAt, completedAt, failedAt time.Time
	failed, waiting                   bool
	// waitsSince is zero where the Cluster was waiting already when this manager began to report.
	waitsSince time.Time
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	ofWave := []string{"fleet_migration", "wave"}
	counter := func(name, help string, more ...string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Name: "ccm_migration_fleet_" + name, Help: help}
		return prometheus.NewCounterVec(opts, slices.Concat(ofWave, more))
	}
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		opts := prometheus.HistogramOpts{Name: "ccm_migration_fleet_" + name, Help: help, Buckets: buckets}
		return prometheus.NewHistogramVec(opts, ofWave)
	}
	const minute, hour, day = 60, 3600, 86400
	m := &Metrics{
		standing:   newStanding(),
		admissions: counter("admissions_total", "Clusters that were admitted."),
		successes:  counter("successes_total", "Clusters that succeeded."),
		failures:   counter("failures_total", "Times a Cluster began to count as failed, by reason.", "reason"),
		waits: histogram("admission_wait_seconds", "How long Clusters waited in an open wave until they were admitted.",
			minute, 15*minute, hour, 6*hour, day, 3*day, 7*day, 14*day, 30*day),
		approvals: histogram("approval_wait_seconds", "How long waves waited for the approval of a person until they opened.",
			15*minute, hour, 4*hour, 12*hour, day, 3*day, 7*day, 30*day),
		durations: histogram("cluster_duration_seconds", "How long Clusters that succeeded took from their admission on.",
			5*minute, 15*minute, 30*minute, hour, 2*hour, 4*hour, 8*hour, day, 7*day),
		decisions: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ccm_migration_fleet_decision_duration_seconds", Help: "How long it took to decide about all Clusters.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}),
		asked: map[series]time.Time{}, known: map[series]struct{}{},
	}
	for _, c := range []prometheus.Collector{
		m.standing, m.admissions, m.successes, m.failures, m.waits, m.approvals, m.durations, m.decisions,
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Report a decision: what is, and what has happened since the one before. What happened before the first report is not counted:
// the manager before has counted it.
func (m *Metrics) Report(f fleet.Fleet, plan fleet.Plan, now time.Time, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.decisions.Observe(took.Seconds())
	m.keep(plan)
	clusters := make(map[string]counted, len(f.Members))
	for i := range f.Members {
		member := &f.Members[i]
		clusters[member.UID] = m.count(member, &plan.Members[i], plan, now)
	}
	m.countApprovals(plan, now)
	m.clusters = clusters
	m.standing.show(f, plan, now)
}

// keep the series of the waves that there are, and those only. Counters begin at 0, so that an alert sees the first event.
func (m *Metrics) keep(plan fleet.Plan) {
	waves := map[series]struct{}{}
	for i := range plan.Migrations {
		for w := range plan.Migrations[i].Waves {
			waves[seriesOf(plan, i, w)] = struct{}{}
		}
	}
	for of := range m.known {
		if _, stays := waves[of]; stays {
			continue
		}
		labels := prometheus.Labels{"fleet_migration": of.migration, "wave": of.wave}
		for _, vec := range []interface{ DeletePartialMatch(prometheus.Labels) int }{
			m.admissions, m.successes, m.failures, m.waits, m.approvals, m.durations,
		} {
			vec.DeletePartialMatch(labels)
		}
		delete(m.asked, of)
	}
	for of := range waves {
		m.admissions.WithLabelValues(of.migration, of.wave)
		m.successes.WithLabelValues(of.migration, of.wave)
	}
	m.known = waves
}

func seriesOf(plan fleet.Plan, migration, wave int) series {
	r := &plan.Migrations[migration]
	return series{r.UID, r.Name, r.Waves[wave].Name}
}

// count what happened to a Cluster since the last report. A Cluster that was not in it is new to us, and what it has behind it
// happened elsewhere.
func (m *Metrics) count(member *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan, now time.Time) counted {
	was, known := m.clusters[member.UID]
	is := was.next(member, p)
	if m.clusters != nil && (!known || is.waiting && !was.waiting) {
		is.waitsSince = now
	}
	if !known || p.Migration < 0 || p.Wave < 0 {
		return is
	}
	of := seriesOf(plan, p.Migration, p.Wave)
	if !is.admittedAt.Equal(was.admittedAt) {
		m.admitted(of, later(plan.Migrations[p.Migration].Waves[p.Wave].OpenedAt, was.waitsSince), is.admittedAt)
	}
	if !is.completedAt.Equal(was.completedAt) {
		m.succeeded(of, member)
	}
	if !is.failedAt.Equal(was.failedAt) {
		m.failures.WithLabelValues(of.migration, of.wave, p.Failed.Reason).Inc()
	}
	return is
}

// next is what is seen of a Cluster now. A view that is older than what was seen takes nothing back.
func (s counted) next(member *fleet.Member, p *fleet.MemberPlan) counted {
	if at := admittedAt(member); !at.IsZero() {
		s.admittedAt = at
	}
	if p.State == fleet.Succeeded {
		s.completedAt = member.CompletedAt
	}
	// Who goes on to fail for another reason has failed once.
	if p.State == fleet.Failed && !s.failed {
		s.failedAt = p.Failed.Since
	}
	s.failed, s.waiting = p.State == fleet.Failed, p.Position > 0
	return s
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func admittedAt(m *fleet.Member) time.Time {
	if a := m.Admission; a != nil && a.State == ucv1.AdmissionAdmitted && a.AdmittedAt != nil {
		return a.AdmittedAt.Time
	}
	return time.Time{}
}

// admitted counts from when its wave was open: before, a Cluster waits for other Clusters and for people.
func (m *Metrics) admitted(of series, since, at time.Time) {
	m.admissions.WithLabelValues(of.migration, of.wave).Inc()
	if !since.IsZero() {
		m.waits.WithLabelValues(of.migration, of.wave).Observe(max(0, at.Sub(since).Seconds()))
	}
}

func (m *Metrics) succeeded(of series, member *fleet.Member) {
	m.successes.WithLabelValues(of.migration, of.wave).Inc()
	began := admittedAt(member)
	if began.IsZero() {
		began = member.StartedAt
	}
	if !began.IsZero() {
		m.durations.WithLabelValues(of.migration, of.wave).Observe(max(0, member.CompletedAt.Sub(began).Seconds()))
	}
}

// countApprovals of waves that opened. A wave that was waiting when this manager began to report has waited since the waves
// before have passed.
func (m *Metrics) countApprovals(plan fleet.Plan, now time.Time) {
	for i := range plan.Migrations {
		passedAt := time.Time{}
		for w := range plan.Migrations[i].Waves {
			wave, of := &plan.Migrations[i].Waves[w], seriesOf(plan, i, w)
			since, asked := m.asked[of]
			switch {
			case wave.State == ucv1.WaveAwaitingApproval && !asked:
				m.asked[of] = now
				if m.clusters == nil && !passedAt.IsZero() {
					m.asked[of] = passedAt
				}
			case asked && !wave.OpenedAt.IsZero():
				m.approvals.WithLabelValues(of.migration, of.wave).Observe(max(0, wave.OpenedAt.Sub(since).Seconds()))
				delete(m.asked, of)
			}
			passedAt = later(passedAt, wave.PassedAt)
		}
	}
}
