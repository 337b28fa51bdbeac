package forecast_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func member(name string, nodes int32, changes ...func(*fleet.Member)) fleet.Member {
	m := fleet.Member{
		Namespace: "user", Name: name, UID: "uid-" + name, Requested: true, Labels: labels.Set{"tier": "only"},
		Nodes: observation.Known(nodes), Blocking: observation.Known(false), LookedAt: start().Add(-time.Hour),
	}
	for _, change := range changes {
		change(&m)
	}
	return m
}

func admitted(at time.Time) func(*fleet.Member) {
	return func(m *fleet.Member) {
		m.Admission = &ucv1.AdmissionStatus{
			FleetMigration: "fleet", UID: "uid", Wave: "only", State: ucv1.AdmissionAdmitted, AdmittedAt: &metav1.Time{Time: at},
			Directive: ucv1.DirectiveProceed,
		}
		m.StartedAt = at
	}
}

func done(at time.Time, took time.Duration) func(*fleet.Member) {
	return func(m *fleet.Member) {
		admitted(at.Add(-took))(m)
		m.CompletedAt, m.HealthySince, m.RolledOut = at, at, true
	}
}

func oneWave(changes ...func(*ucv1.FleetMigration)) *ucv1.FleetMigration {
	fm := &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: "uid", CreationTimestamp: metav1.NewTime(start())},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: selecting(), Waves: []ucv1.Wave{{
				Name: "only", ClusterSelector: selecting("tier", "only"), MaxConcurrency: new(intstr.FromInt32(10)),
			}},
		},
	}
	for _, change := range changes {
		change(fm)
	}
	return fm
}

// night opens once a day.
func night(fm *ucv1.FleetMigration) {
	fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
		Name: "night", Schedule: "0 1 * * *", DurationSeconds: 3600, TimeZone: "UTC",
	}}}
}

func hour(*fleet.Member) forecast.Takes { return forecast.Takes{Roll: time.Hour, All: time.Hour} }

// story is a fleet, and when its forecast ends, or what it waits for.
type story struct {
	with    func(*ucv1.FleetMigration)
	members []fleet.Member
	ends    time.Time
	waits   string
	assumes string
}

func after(d time.Duration) time.Time { return start().Add(d) }

func TestStoriesOfForecasts(t *testing.T) {
	for name, tc := range storiesOfTime() {
		t.Run(name, tc.tell)
	}
	for name, tc := range storiesWithoutEnd() {
		t.Run(name, tc.tell)
	}
}

func (tc story) tell(t *testing.T) {
	g := NewWithT(t)
	if tc.with == nil {
		tc.with = func(*ucv1.FleetMigration) {}
	}
	of := forecast.Fleet{Migrations: []*ucv1.FleetMigration{oneWave(tc.with)}, Members: tc.members}
	made := forecast.Run(of, "fleet", hour, start())
	g.Expect(made.EndsAt).To(Equal(tc.ends))
	g.Expect(made.Waits.Reason).To(Equal(tc.waits))
	g.Expect(strings.Join(made.Assumptions, " ")).To(ContainSubstring(tc.assumes))
	g.Expect(made.Steps).To(BeNumerically("<", 500))
}

func storiesOfTime() map[string]story {
	return map[string]story{
		"all start at once, and the soak is the end": {
			members: []fleet.Member{member("a", 3), member("b", 3)}, ends: after(2 * time.Hour),
		},
		"one that migrates is done after what is left": {
			members: []fleet.Member{member("a", 3, admitted(after(-40*time.Minute)))}, ends: after(80 * time.Minute),
		},
		"one that should be done is about to be": {
			members: []fleet.Member{member("a", 3, admitted(after(-3*time.Hour)))}, ends: after(61 * time.Minute),
		},
		"a look comes again before it is too old": {
			with: night, members: []fleet.Member{member("a", 3, func(m *fleet.Member) { m.LookedAt = after(-25 * time.Hour) })},
			ends: after(5 * time.Hour),
		},
		"one that was not looked at counts as without findings": {
			members: []fleet.Member{member("a", 3, func(m *fleet.Member) { m.Blocking = observation.Observed[bool]{} })},
			ends:    after(2 * time.Hour), assumes: "was not looked at lately",
		},
		"an exclusion of half a year ends": {
			with: func(fm *ucv1.FleetMigration) {
				fm.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{{
					Name: "freeze", From: metav1.NewTime(start()), To: metav1.NewTime(after(180 * 24 * time.Hour)),
				}}
			},
			members: []fleet.Member{member("a", 3)}, ends: after(180*24*time.Hour + 2*time.Hour),
		},
	}
}

func storiesWithoutEnd() map[string]story {
	return map[string]story{
		"one that needs a person is never done": {
			members: []fleet.Member{member("a", 3, admitted(after(-time.Minute)), func(m *fleet.Member) { m.Paused = true })},
			waits:   string(fleet.InFlight), assumes: "stays as it is",
		},
		"a finding is for ever": {
			members: []fleet.Member{member("a", 3, func(m *fleet.Member) { m.Blocking = observation.Known(true) })},
			waits:   ucv1.PreflightFindingsReason, assumes: "never start",
		},
		"a limit of 0 is for ever": {
			with: func(fm *ucv1.FleetMigration) {
				night(fm)
				fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "none", MaxConcurrency: new(int32(0))}}
			},
			members: []fleet.Member{member("a", 3)}, waits: ucv1.BudgetExhaustedReason,
		},
		"Hold is for ever": {
			with: func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }, members: []fleet.Member{member("a", 3)},
			waits: ucv1.FleetOnHoldReason,
		},
		"a first wave without a Cluster stops all": {waits: ucv1.FirstWaveEmptyReason},
		"one that takes longer than the deadline halts": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Failures.ProgressDeadlineSeconds = new(int32(1800)) },
			members: []fleet.Member{member("a", 3), member("b", 3)}, waits: ucv1.FleetHaltedReason,
		},
	}
}

func TestDurationsAreMeasured(t *testing.T) {
	var members []fleet.Member
	for _, took := range []time.Duration{time.Hour, 90 * time.Minute, 2 * time.Hour, 150 * time.Minute, 3 * time.Hour} {
		members = append(members, member(took.String(), 10, done(start().Add(-time.Hour), took)))
	}
	small, large := member("small", 10), member("large", 500)
	for name, tc := range map[string]struct {
		done                []fleet.Member
		measured            int
		early, likely, late time.Duration
	}{
		"too few are done: assumed":                   {members[:2], 0, 55 * time.Minute, 80 * time.Minute, 130 * time.Minute},
		"half of those that are done, and the tenths": {members, 5, 60 * time.Minute, 120 * time.Minute, 180 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			of := forecast.Fleet{Migrations: []*ucv1.FleetMigration{oneWave()}, Members: append(slices.Clip(tc.done), small, large)}
			d := forecast.Measure(of, "fleet")
			g.Expect(d.Measured).To(Equal(tc.measured))
			g.Expect([]time.Duration{d.Early(&small).All, d.Likely(&small).All, d.Late(&small).All}).To(Equal(
				[]time.Duration{tc.early, tc.likely, tc.late}))
			g.Expect(d.Late(&large).All).To(Equal(4*time.Hour-time.Minute), "the deadline bounds what a forecast is about")
			made := forecast.Make(of, "fleet", start())
			g.Expect(made.Earliest).To(BeTemporally("<=", made.EndsAt))
			g.Expect(made.Latest).To(BeTemporally(">=", made.EndsAt))
			g.Expect(made.Status().Latest.Time).To(Equal(made.Latest))
			g.Expect(made.Assumptions).To(ContainElement(ContainSubstring("spec.failures.progressDeadlineSeconds")))
		})
	}
}

func TestDaysAreThoseOfAZone(t *testing.T) {
	g := NewWithT(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	g.Expect(err).NotTo(HaveOccurred())
	made := forecast.Forecast{Starts: []forecast.Start{
		{Name: "a", At: start(), Nodes: 3}, {Name: "b", At: start().Add(90 * time.Minute), Nodes: 4},
		{Name: "c", At: start().Add(3 * time.Hour), Nodes: 5},
	}}
	g.Expect(made.Days(time.UTC)).To(HaveLen(2))
	days := made.Days(berlin)
	g.Expect(days).To(HaveLen(2))
	g.Expect(days[0].Starts).To(Equal(1))
	g.Expect(days[1].Starts).To(Equal(2))
	g.Expect(days[1].Nodes).To(BeEquivalentTo(9))
}
