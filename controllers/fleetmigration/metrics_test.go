package fleetmigration_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// bench is metrics of a fleet that a test changes between reports.
type bench struct {
	t        *testing.T
	metrics  *fleetmigration.Metrics
	registry *prometheus.Registry
	now      time.Time
	fms      []*ucv1.FleetMigration
	members  []fleet.Member
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, registry: prometheus.NewPedanticRegistry(), now: noon()}
	metrics, err := fleetmigration.NewMetrics(b.registry)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	b.metrics = metrics
	return b
}

func noon() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) }

func selecting(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// fleetOf has the waves canary, which is open, and prod, which a person has to approve, and one budget and window.
func fleetOf(uid string) *ucv1.FleetMigration {
	return &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(noon().Add(-72 * time.Hour))},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: &metav1.LabelSelector{},
			Waves: []ucv1.Wave{
				{
					Name: "canary", ClusterSelector: selecting("tier", "canary"), MaxConcurrency: new(intstr.FromInt32(1)),
					SoakSeconds: new(int32(0)), MinSuccesses: new(intstr.FromInt32(1)), MaxFailures: new(intstr.FromInt32(1)),
				},
				{Name: "prod", ClusterSelector: selecting("tier", "prod"), Approval: ucv1.WaveApprovalRequired},
			},
			Budgets: []ucv1.FleetBudget{
				{Name: "nodes", MaxNodes: new(int32(40))}, {Name: "region", Per: "region", MaxConcurrency: new(int32(3))},
			},
			Maintenance: ucv1.FleetMaintenance{Windows: []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "days", Schedule: "0 8 * * *", DurationSeconds: 36000, TimeZone: "UTC",
			}}}},
		},
		Status: ucv1.FleetMigrationStatus{Waves: []ucv1.WaveStatus{{
			Name: "canary", OpenedAt: &metav1.Time{Time: noon().Add(-26 * time.Hour)},
		}}},
	}
}

func member(name, tier string) fleet.Member {
	return fleet.Member{
		Namespace: "user", Name: name, UID: "uid-" + name, Provider: "openstack", Requested: true,
		Labels: labels.Set{"tier": tier, "region": "eu-1"},
		Nodes:  observation.Known[int32](3), Blocking: observation.Known(false),
	}
}

func queued(m fleet.Member) fleet.Member {
	m.Admission = &ucv1.AdmissionStatus{FleetMigration: "fleet", UID: "uid", Wave: m.Labels["tier"], State: ucv1.AdmissionQueued}
	return m
}

func admitted(m fleet.Member, at time.Time) fleet.Member {
	m = queued(m)
	m.Admission.State, m.Admission.AdmittedAt, m.StartedAt = ucv1.AdmissionAdmitted, &metav1.Time{Time: at}, at.Add(time.Minute)
	return m
}

func succeeded(m fleet.Member, admittedAt, at time.Time) fleet.Member {
	m = admitted(m, admittedAt)
	m.CompletedAt, m.HealthySince, m.RolledOut, m.Verdict = at, at, true, slo.Met
	return m
}

func stalled(m fleet.Member, since time.Time) fleet.Member {
	m = admitted(m, since.Add(-time.Hour))
	m.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: since}
	return m
}

// report what is now, and carry the status of the FleetMigrations over, as a controller does.
func (b *bench) report(members ...fleet.Member) {
	b.members = members
	f := fleet.Fleet{Members: members}
	for _, fm := range b.fms {
		f.Migrations = append(f.Migrations, fleet.Compile(fm))
	}
	(&fleet.Placer{}).Place(&f)
	plan := fleet.Decide(f, b.now)
	b.metrics.Report(f, plan, b.now, 3*time.Millisecond)
	for _, r := range plan.Migrations {
		for _, fm := range b.fms {
			if string(fm.UID) == r.UID {
				fm.Status = *r.Status.DeepCopy()
				fm.Status.Admitting = nil
			}
		}
	}
}

func (b *bench) gather() []*dto.MetricFamily {
	b.t.Helper()
	families, err := b.registry.Gather()
	NewWithT(b.t).Expect(err).NotTo(HaveOccurred())
	return families
}

// byLabel has FleetMigration and wave first: what else there is says of them.
func byLabel(a, b *dto.LabelPair) int {
	order := []string{"fleet_migration", "wave"}
	at := func(l *dto.LabelPair) uint { return uint(slices.Index(order, l.GetName())) }
	return cmp.Compare(at(a), at(b))
}

// values by name and labels, such as "fleet_clusters fleet_migration=fleet wave=canary state=Queued".
func (b *bench) values() map[string]float64 {
	b.t.Helper()
	values := map[string]float64{}
	for _, family := range b.gather() {
		for _, metric := range family.GetMetric() {
			key := strings.TrimPrefix(family.GetName(), "ccm_migration_")
			slices.SortStableFunc(metric.GetLabel(), byLabel)
			for _, label := range metric.GetLabel() {
				key += fmt.Sprintf(" %s=%s", label.GetName(), label.GetValue())
			}
			if h := metric.GetHistogram(); h != nil {
				values[key+" count"], values[key+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
				continue
			}
			values[key] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return values
}

// smallFleet has one Cluster of most kinds.
func smallFleet(b *bench) []fleet.Member {
	b.fms = []*ucv1.FleetMigration{fleetOf("uid")}
	aws := queued(member("prod-1", "prod"))
	aws.Provider = "aws"
	lost := queued(member("canary-lost", "canary"))
	lost.Unreachable, lost.Nodes = ucv1.UnreachableReason, observation.Observed[int32]{}
	gone := member("gone", "canary")
	gone.OutOfScope = "External"
	return []fleet.Member{
		succeeded(member("canary-1", "canary"), noon().Add(-25*time.Hour), noon().Add(-24*time.Hour)),
		admitted(member("canary-2", "canary"), noon().Add(-30*time.Minute)),
		queued(member("canary-3", "canary")), lost, aws, member("typo", "cannary"), gone,
	}
}

func TestMetricsOfASmallFleet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.report(smallFleet(b)...)
	values := b.values()
	at := func(when time.Time) float64 { return float64(when.Unix()) }
	for key, value := range map[string]float64{
		"clusters provider=openstack state=Succeeded":  1,
		"clusters provider=openstack state=InFlight":   1,
		"clusters provider=openstack state=Queued":     1,
		"clusters provider=openstack state=Ineligible": 2,
		"clusters provider=openstack state=OutOfScope": 1,
		"clusters provider=aws state=Queued":           1,
		"clusters provider=aws state=Failed":           0,

		"fleet_clusters fleet_migration=fleet wave=canary state=Succeeded":  1,
		"fleet_clusters fleet_migration=fleet wave=canary state=InFlight":   1,
		"fleet_clusters fleet_migration=fleet wave=canary state=Ineligible": 1,
		"fleet_clusters fleet_migration=fleet wave=prod state=Queued":       1,
		"fleet_clusters fleet_migration=fleet wave= state=Ineligible":       1,
		"fleet_nodes fleet_migration=fleet wave=canary state=InFlight":      3,
		"fleet_nodes fleet_migration=fleet wave=canary state=Ineligible":    0,

		"fleet_waiting_clusters fleet_migration=fleet wave=canary reason=ConcurrencyReached": 2,
		"fleet_waiting_clusters fleet_migration=fleet wave=prod reason=WaveWaiting":          1,
		"fleet_waiting_clusters fleet_migration=fleet wave= reason=Unplaced":                 1,

		"fleet_wave_state fleet_migration=fleet wave=canary state=Open":   1,
		"fleet_wave_state fleet_migration=fleet wave=canary state=Passed": 0,
		"fleet_wave_state fleet_migration=fleet wave=prod state=Waiting":  1,

		"fleet_budget_used fleet_migration=fleet budget=nodes unit=nodes value=":          3,
		"fleet_budget_limit fleet_migration=fleet budget=nodes unit=nodes value=":         40,
		"fleet_budget_used fleet_migration=fleet budget=region unit=clusters value=eu-1":  1,
		"fleet_budget_limit fleet_migration=fleet budget=region unit=clusters value=eu-1": 3,
		"fleet_window_open fleet_migration=fleet window=days":                             1,
		"fleet_window_next_change_timestamp_seconds fleet_migration=fleet window=days":    at(noon().Add(6 * time.Hour)),
		"fleet_halted fleet_migration=fleet reason=":                                      0,
		"fleet_stalled fleet_migration=fleet reason=":                                     0,
		"fleet_last_progress_timestamp_seconds fleet_migration=fleet":                     at(noon().Add(-30 * time.Minute)),
		"fleet_last_decision_timestamp_seconds":                                           at(noon()),
		"fleet_decision_duration_seconds count":                                           1,
		"fleet_admissions_total fleet_migration=fleet wave=canary":                        0,
		"fleet_successes_total fleet_migration=fleet wave=prod":                           0,
	} {
		NewWithT(t).Expect(values).To(HaveKeyWithValue(key, value))
	}
}

func TestMetricsOfAFleetThatHaltsInAnExclusion(t *testing.T) {
	t.Parallel()
	g, b := NewWithT(t), newBench(t)
	fm := fleetOf("uid")
	fm.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{{
		Name: "freeze", From: metav1.NewTime(noon().Add(-time.Hour)), To: metav1.NewTime(noon().Add(time.Hour)),
	}}
	fm.Status.Forecast = &ucv1.FleetForecast{Earliest: metav1.NewTime(noon()), Latest: metav1.NewTime(noon().Add(time.Hour))}
	b.fms = []*ucv1.FleetMigration{fm}
	long := noon().Add(-time.Hour)
	b.report(stalled(member("a", "canary"), long), stalled(member("b", "canary"), long))
	values := b.values()
	g.Expect(values).To(HaveKeyWithValue("fleet_halted fleet_migration=fleet reason=MaxFailuresExceeded", 1.))
	g.Expect(values).NotTo(HaveKey("fleet_halted fleet_migration=fleet reason="))
	g.Expect(values).To(HaveKeyWithValue("fleet_stalled fleet_migration=fleet reason=MaxFailuresExceeded", 1.))
	g.Expect(values).To(HaveKeyWithValue("fleet_window_open fleet_migration=fleet window=days", 0.))
	g.Expect(values).To(HaveKeyWithValue("fleet_forecast_timestamp_seconds fleet_migration=fleet bound=earliest", float64(noon().Unix())))
}

func TestMetricsAreNamedByTheRules(t *testing.T) {
	t.Parallel()
	g, b := NewWithT(t), newBench(t)
	members := smallFleet(b)
	b.report(members...)
	b.now = b.now.Add(2 * time.Hour)
	members[1] = stalled(member("canary-2", "canary"), noon())
	members[2] = succeeded(member("canary-3", "canary"), noon(), noon().Add(time.Hour))
	b.report(members...)
	problems, err := promlint.NewWithMetricFamilies(b.gather()).Lint()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(problems).To(BeEmpty())
	for key := range b.values() {
		g.Expect(key).NotTo(MatchRegexp(`canary-|typo`), "no names of Clusters")
	}
}

func TestSeriesEndWithTheirFleetMigration(t *testing.T) {
	t.Parallel()
	g, b := NewWithT(t), newBench(t)
	members := smallFleet(b)
	b.report(members...)
	members[2] = succeeded(member("canary-3", "canary"), noon(), noon().Add(time.Minute))
	b.now = b.now.Add(time.Hour)
	b.report(members...)
	const counted = "fleet_successes_total fleet_migration=fleet wave=canary"
	g.Expect(b.values()).To(HaveKeyWithValue(counted, 1.))

	again := fleetOf("uid-2")
	again.Spec.Waves = again.Spec.Waves[:1]
	b.fms = []*ucv1.FleetMigration{again}
	b.report(members...)
	g.Expect(b.values()).To(HaveKeyWithValue(counted, 0.), "another one by the same name begins again")
	for key := range b.values() {
		g.Expect(key).NotTo(ContainSubstring("wave=prod"), "a wave that is gone")
	}

	b.fms = nil
	b.report(members...)
	for key := range b.values() {
		g.Expect(key).NotTo(ContainSubstring("fleet_migration=fleet"))
	}
	g.Expect(b.values()).To(HaveKeyWithValue("fleet_waiting_clusters fleet_migration= wave= reason=FleetMigrationGone", 2.))
	g.Expect(b.values()).To(HaveKeyWithValue("clusters provider=openstack state=Succeeded", 2.), "what was migrated stays so")
}

func TestSeriesDoNotGrowWithTheFleet(t *testing.T) {
	t.Parallel()
	series := func(clusters int) []string {
		b := newBench(t)
		b.fms = []*ucv1.FleetMigration{fleetOf("uid")}
		members := []fleet.Member{}
		for i := range clusters {
			m := member(fmt.Sprintf("c%d", i), []string{"canary", "prod", "typo"}[i%3])
			m.Provider, m.Labels["region"] = fmt.Sprintf("p%03d", i), fmt.Sprintf("r%03d", i)
			switch i % 4 {
			case 0:
				m = admitted(m, noon().Add(-time.Hour))
			case 1:
				m = stalled(m, noon().Add(-time.Hour))
			}
			members = append(members, m)
		}
		b.report(members...)
		b.now = b.now.Add(time.Minute)
		b.report(members...)
		return slices.Sorted(maps.Keys(b.values()))
	}
	NewWithT(t).Expect(series(2000)).To(HaveLen(len(series(200))))
}

// An alert sees failures before they halt the fleet, and how long a Cluster may take.
func TestFailuresBesideTheirLimit(t *testing.T) {
	t.Parallel()
	g, b := NewWithT(t), newBench(t)
	fm := fleetOf("uid")
	fm.Spec.Failures.ProgressDeadlineSeconds = new(int32(7200))
	b.fms = []*ucv1.FleetMigration{fm}
	members := []fleet.Member{stalled(member("one", "canary"), noon().Add(-time.Hour)), queued(member("two", "canary"))}
	b.report(members...)
	g.Expect(b.values()).To(And(
		HaveKeyWithValue("fleet_failures fleet_migration=fleet wave=canary", 1.),
		HaveKeyWithValue("fleet_failures_limit fleet_migration=fleet wave=canary", 1.),
		HaveKeyWithValue("fleet_failures_limit fleet_migration=fleet wave=prod", 0.),
		HaveKeyWithValue("fleet_progress_deadline_seconds fleet_migration=fleet", 7200.),
	))
	fm.Spec.Failures.CountSince = &metav1.Time{Time: noon()}
	b.report(members...)
	g.Expect(b.values()).To(HaveKeyWithValue("fleet_failures fleet_migration=fleet wave=canary", 0.), "a person looked at it")
}
