package fleetmigration

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// What bounds the series, however many Clusters there are. Whoever writes Clusters can invent names of providers.
const (
	shownProviders = 20
	otherProviders = "other"
)

// standing is how the fleets stood at the last report. The whole set is replaced with each, so that nothing outlives its object.
type standing struct {
	all []*prometheus.Desc

	clusters, ofWaves, nodes, waiting, states, halted, stalled, progress, forecast, decided *prometheus.Desc
	budgetLimit, budgetUsed, windowOpen, windowChange, failures, failuresLimit, deadline    *prometheus.Desc

	mu    sync.Mutex
	shown []prometheus.Metric
}

func newStanding() *standing {
	s := &standing{}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		d := prometheus.NewDesc("ccm_migration_"+name, help, labels, nil)
		s.all = append(s.all, d)
		return d
	}
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return desc("fleet_"+name, help, append([]string{"fleet_migration"}, labels...)...)
	}
	s.clusters = desc("clusters", "All Clusters, by state and provider, also those of no FleetMigration.", "state", "provider")
	s.ofWaves = of("clusters", "Clusters of a wave, by state; those that no wave selects have an empty wave.", "wave", "state")
	s.nodes = of("nodes", "Nodes of Clusters of a wave, as far as they are known, by the state of the Cluster.", "wave", "state")
	s.waiting = of("waiting_clusters", "Clusters that wait, by the first reason; the FleetMigration is empty where it is gone or "+
		"selects the Cluster no longer.", "wave", "reason")
	s.states = of("wave_state", "1 for the state in which a wave is, 0 for the others.", "wave", "state")
	s.budgetLimit = of("budget_limit", "Limit of a budget, of the 20 fullest of a FleetMigration.", "budget", "value", "unit")
	s.budgetUsed = of("budget_used", "Use of a budget, of the 20 fullest of a FleetMigration.", "budget", "value", "unit")
	s.windowOpen = of("window_open", "1 while a window is open and nothing is excluded; the window is empty where there are none.",
		"window")
	s.windowChange = of("window_next_change_timestamp_seconds", "When a window opens or closes next.", "window")
	s.failures = of("failures", "Failed Clusters of a wave that no person has looked at (spec.failures.countSince).", "wave")
	s.failuresLimit = of("failures_limit", "How many of them a wave may have; one more halts the FleetMigration.", "wave")
	s.deadline = of("progress_deadline_seconds", "How long a Cluster may take from its admission on before it counts as failed.")
	s.halted = of("halted", "1 while a FleetMigration is halted, 0 otherwise.", "reason")
	s.stalled = of("stalled", "1 while a FleetMigration needs a person, 0 otherwise.", "reason")
	s.progress = of("last_progress_timestamp_seconds", "When a Cluster was last admitted or completed, or a wave opened or passed.")
	s.forecast = of("forecast_timestamp_seconds", "When the last Cluster is expected to be done.", "bound")
	s.decided = desc("fleet_last_decision_timestamp_seconds", "When it was last decided about all Clusters.")
	return s
}

// Describe all that there can be.
func (s *standing) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.all {
		ch <- d
	}
}

// Collect what the last report had.
func (s *standing) Collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	shown := s.shown
	s.mu.Unlock()
	for _, metric := range shown {
		ch <- metric
	}
}

func (s *standing) show(f fleet.Fleet, plan fleet.Plan, now time.Time) {
	t := tallyOf(f, plan)
	next := &exposition{}
	t.expose(next, s)
	for i := range plan.Migrations {
		s.exposeMigration(next, &plan.Migrations[i], t.progress[i])
		next.set(s.deadline, f.Migrations[i].Deadline().Seconds(), plan.Migrations[i].Name)
		for _, b := range plan.Migrations[i].Budgets { // A plan has the 20 fullest.
			unit := "clusters"
			if f.Migrations[i].BudgetCountsNodes(b.Name) {
				unit = "nodes"
			}
			next.set(s.budgetLimit, float64(b.Limit), plan.Migrations[i].Name, b.Name, b.Value, unit)
			next.set(s.budgetUsed, float64(b.Used), plan.Migrations[i].Name, b.Name, b.Value, unit)
		}
	}
	next.at(s.decided, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = next.metrics
}

func (s *standing) exposeMigration(next *exposition, r *fleet.MigrationPlan, progress time.Time) {
	for w := range r.Waves {
		for _, state := range []ucv1.WaveState{
			ucv1.WaveWaiting, ucv1.WaveAwaitingApproval, ucv1.WaveOpen, ucv1.WaveSoaking, ucv1.WavePassed, ucv1.WaveEmpty,
		} {
			next.is(s.states, r.Waves[w].State == state, r.Name, r.Waves[w].Name, string(state))
		}
		next.set(s.failures, float64(r.Waves[w].Failures), r.Name, r.Waves[w].Name)
		next.set(s.failuresLimit, float64(r.Waves[w].MaxFailures), r.Name, r.Waves[w].Name)
	}
	open := meta.FindStatusCondition(r.Status.Conditions, ucv1.WindowOpenCondition)
	excluded := open != nil && open.Reason == ucv1.ExcludedReason
	for _, w := range r.Windows {
		next.is(s.windowOpen, w.Open && !excluded, r.Name, w.Name)
		next.at(s.windowChange, w.ChangesAt, r.Name, w.Name)
	}
	if len(r.Windows) == 0 {
		next.is(s.windowOpen, !excluded, r.Name, "")
	}
	reason := ""
	if r.Halt != nil {
		reason = r.Halt.Reason
	}
	next.is(s.halted, reason != "", r.Name, reason)
	reason = ""
	if stalled := meta.FindStatusCondition(r.Status.Conditions, ucv1.StalledCondition); stalled != nil {
		reason = stalled.Reason
	}
	next.is(s.stalled, reason != "", r.Name, reason)
	next.at(s.progress, progress, r.Name)
	if forecast := r.Status.Forecast; forecast != nil {
		next.at(s.forecast, forecast.Earliest.Time, r.Name, "earliest")
		next.at(s.forecast, forecast.Latest.Time, r.Name, "latest")
	}
}

// exposition is what is shown next.
type exposition struct{ metrics []prometheus.Metric }

func (e *exposition) set(d *prometheus.Desc, value float64, labels ...string) {
	metric, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, value, labels...)
	if err != nil {
		metric = prometheus.NewInvalidMetric(d, err)
	}
	e.metrics = append(e.metrics, metric)
}

func (e *exposition) is(d *prometheus.Desc, is bool, labels ...string) {
	value := 0.
	if is {
		value = 1
	}
	e.set(d, value, labels...)
}

// at a time; one that is not known has no series, because 0 would be in 1970.
func (e *exposition) at(d *prometheus.Desc, at time.Time, labels ...string) {
	if !at.IsZero() {
		e.set(d, float64(at.Unix()), labels...)
	}
}

// states of Clusters that a FleetMigration counts, in the order of FleetCount.
func states() []fleet.State {
	return []fleet.State{
		fleet.NotRequested, fleet.Ineligible, fleet.Queued, fleet.InFlight, fleet.Succeeded, fleet.Failed, fleet.RolledBack,
	}
}

// tally of the Clusters of a plan.
type tally struct {
	plan fleet.Plan
	// clusters by provider and state.
	clusters map[string]map[fleet.State]int
	waves    map[place]*crowd
	waiting  map[waiters]int
	// progress of each FleetMigration: the newest that happened in it.
	progress []time.Time
}

// place is a wave of a FleetMigration, -1 for what none of its waves selects.
type place struct{ migration, wave int }

// crowd is the Clusters of a place, and their Nodes.
type crowd struct{ clusters, nodes map[fleet.State]int }

type waiters struct{ migration, wave, reason string }

func tallyOf(f fleet.Fleet, plan fleet.Plan) *tally {
	t := &tally{
		plan: plan, clusters: map[string]map[fleet.State]int{}, waves: map[place]*crowd{}, waiting: map[waiters]int{},
		progress: make([]time.Time, len(plan.Migrations)),
	}
	for i := range plan.Migrations {
		for w := range plan.Migrations[i].Waves {
			t.crowd(place{i, w})
			t.advance(i, plan.Migrations[i].Waves[w].OpenedAt)
			t.advance(i, plan.Migrations[i].Waves[w].PassedAt)
		}
	}
	for i := range f.Members {
		t.add(&f.Members[i], &plan.Members[i])
	}
	return t
}

func (t *tally) crowd(at place) *crowd {
	if t.waves[at] == nil {
		t.waves[at] = &crowd{map[fleet.State]int{}, map[fleet.State]int{}}
	}
	return t.waves[at]
}

func (t *tally) advance(migration int, at time.Time) {
	t.progress[migration] = later(t.progress[migration], at)
}

func (t *tally) add(m *fleet.Member, p *fleet.MemberPlan) {
	if t.clusters[m.Provider] == nil {
		t.clusters[m.Provider] = map[fleet.State]int{}
	}
	t.clusters[m.Provider][stateOf(m, p)]++
	if p.Migration < 0 {
		if len(p.Obstacles) > 0 {
			t.waiting[waiters{reason: p.Obstacles[0].Reason}]++
		}
		return
	}
	r, wave := &t.plan.Migrations[p.Migration], ""
	if p.Wave >= 0 {
		wave = r.Waves[p.Wave].Name
	}
	if p.Position > 0 && len(p.Obstacles) > 0 {
		t.waiting[waiters{r.Name, wave, p.Obstacles[0].Reason}]++
	}
	c := t.crowd(place{p.Migration, p.Wave})
	c.clusters[p.State]++
	if nodes, known := m.Nodes.Get(); known {
		c.nodes[p.State] += int(nodes)
	}
	t.advance(p.Migration, admittedAt(m))
	t.advance(p.Migration, m.CompletedAt)
}

// stateOf a Cluster, also of one that no FleetMigration counts: a dashboard shows what was migrated before there was one.
func stateOf(m *fleet.Member, p *fleet.MemberPlan) fleet.State {
	switch {
	case p.State != fleet.Outside:
		return p.State
	case m.OutOfScope != "":
		return fleet.OutOfScope
	case m.RollingBack, m.RolledBack:
		return fleet.RolledBack
	case !m.CompletedAt.IsZero():
		return fleet.Succeeded
	case !m.StartedAt.IsZero(), !admittedAt(m).IsZero():
		return fleet.InFlight
	case !m.Requested:
		return fleet.NotRequested
	}
	return fleet.Queued
}

func (t *tally) expose(next *exposition, s *standing) {
	for provider, counts := range t.byProvider() {
		for _, state := range append(states(), fleet.OutOfScope) {
			next.set(s.clusters, float64(counts[state]), string(state), provider)
		}
	}
	for at, c := range t.waves {
		r, wave := &t.plan.Migrations[at.migration], ""
		if at.wave >= 0 {
			wave = r.Waves[at.wave].Name
		}
		for _, state := range states() {
			next.set(s.ofWaves, float64(c.clusters[state]), r.Name, wave, string(state))
			next.set(s.nodes, float64(c.nodes[state]), r.Name, wave, string(state))
		}
	}
	for of, count := range t.waiting {
		next.set(s.waiting, float64(count), of.migration, of.wave, of.reason)
	}
}

// byProvider has those with the most Clusters, and all others together.
func (t *tally) byProvider() map[string]map[fleet.State]int {
	total := func(provider string) (sum int) {
		for _, count := range t.clusters[provider] {
			sum += count
		}
		return sum
	}
	names := slices.SortedFunc(maps.Keys(t.clusters), func(a, b string) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), cmp.Compare(a, b))
	})
	shown := map[string]map[fleet.State]int{}
	for i, name := range names {
		if i >= shownProviders {
			name = otherProviders
		}
		if shown[name] == nil {
			shown[name] = map[fleet.State]int{}
		}
		for state, count := range t.clusters[names[i]] {
			shown[name][state] += count
		}
	}
	return shown
}
