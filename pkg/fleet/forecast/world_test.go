package forecast_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

func start() time.Time { return time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC) }

// world is a fleet that runs, minute by minute.
type world struct {
	now     time.Time
	fms     []*ucv1.FleetMigration
	members []fleet.Member
	// worked is how long each Cluster has migrated without being held.
	worked []time.Duration
	takes  func(*fleet.Member) forecast.Takes
	placer fleet.Placer
	// starts, done, opened and passed are what happened in the FleetMigration that is watched.
	starts, done, opened, passed map[string]time.Time
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func limit(rng *rand.Rand, of ...string) *intstr.IntOrString {
	chosen := pick(rng, of...)
	if chosen == "" {
		return nil
	}
	return new(intstr.Parse(chosen))
}

// draw a world from a seed. All times in it are whole minutes.
func draw(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 20))
	w := &world{
		now: start(), starts: map[string]time.Time{}, done: map[string]time.Time{}, opened: map[string]time.Time{},
		passed: map[string]time.Time{},
	}
	for range 1 + rng.IntN(2) {
		w.fms = append(w.fms, drawMigration(rng, len(w.fms)))
	}
	for i := range 1 + rng.IntN(25) {
		name := fmt.Sprintf("c-%02d", i)
		w.members = append(w.members, fleet.Member{
			Namespace: "user", Name: name, UID: "uid-" + name, NamespaceLabels: labels.Set{}, Requested: rng.Float64() < 0.9,
			Labels: labels.Set{
				"tier": pick(rng, "canary", "prod", "prod", "rest"), "region": pick(rng, "a", "b"), "team": pick(rng, "x", "x", "y"),
			},
			Nodes: observation.Known(int32(1 + rng.IntN(30))), Blocking: observation.Known(rng.Float64() < 0.05),
		})
	}
	w.worked = make([]time.Duration, len(w.members))
	each := time.Duration(1+rng.IntN(8)) * time.Minute
	w.takes = func(m *fleet.Member) forecast.Takes {
		roll := each * time.Duration(m.Nodes.Value())
		return forecast.Takes{Roll: roll, All: roll + 10*time.Minute}
	}
	return w
}

func drawMigration(rng *rand.Rand, i int) *ucv1.FleetMigration {
	name := fmt.Sprint("fm-", i)
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(start()),
	}}
	s := &fm.Spec
	s.Mode, s.ClusterSelector = ucv1.FleetRun, pick(rng, selecting(), selecting("team", "x"))
	s.Enablement = pick(rng, "", ucv1.EnablementOnAdmission)
	s.OnHalt = pick(rng, "", ucv1.HoldRollInFlight)
	for _, tier := range []string{"canary", "prod", "rest"} {
		wave := ucv1.Wave{
			Name: tier, ClusterSelector: selecting("tier", tier), Order: pick(rng, "", ucv1.Alphabetical),
			MaxConcurrency: limit(rng, "", "2", "5", "50%"), MinSuccesses: limit(rng, "", "1", "50%"), MaxFailures: limit(rng, "", "1", "20%"),
			SoakSeconds: new(int32(60 * rng.IntN(90))), Approval: pick(rng, "", ucv1.WaveApprovalRequired),
		}
		if rng.IntN(3) == 0 {
			wave.Canaries = new(int32(rng.IntN(3)))
		}
		s.Waves = append(s.Waves, wave)
	}
	if rng.IntN(2) == 0 {
		s.Budgets = []ucv1.FleetBudget{
			{Name: "region", Per: "region", MaxConcurrency: new(int32(1 + rng.IntN(3)))}, {Name: "nodes", MaxNodes: new(int32(1 + rng.IntN(60)))},
		}
	}
	if rng.IntN(2) == 0 {
		s.Maintenance.Windows = []ucv1.FleetWindow{{InFlight: pick(rng, "", ucv1.HoldRollInFlight), MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: "nights", Schedule: pick(rng, "0 22 * * *", "30 1 * * 1-5", "0 */3 * * *"), TimeZone: "Europe/Berlin",
			DurationSeconds: int32(900 * (1 + rng.IntN(20))), MinRemainingSeconds: pick(rng, nil, new(int32(600))),
		}}}
		from := start().Add(time.Duration(rng.IntN(300)) * time.Minute)
		s.Maintenance.Exclusions = []ucv1.FleetExclusion{{
			Name: "freeze", From: metav1.NewTime(from), To: metav1.NewTime(from.Add(5 * time.Hour)), InFlight: ucv1.HoldRollInFlight,
		}}
	}
	if rng.IntN(3) == 0 {
		s.MaxStartsPerHour = new(int32(1 + rng.IntN(3)))
	}
	return fm
}

// minute lets the Clusters go on, and the manager decide until it has nothing to do.
func (w *world) minute() {
	w.now = w.now.Add(time.Minute)
	for i := range w.members {
		w.step(i)
	}
	for w.pass() {
	}
}

func (w *world) step(i int) {
	m := &w.members[i]
	a := m.Admission
	if a == nil || a.State != ucv1.AdmissionAdmitted || !m.CompletedAt.IsZero() {
		return
	}
	if a.Directive == ucv1.DirectiveHoldRoll && !m.RolledOut {
		return
	}
	w.worked[i] += time.Minute
	takes := w.takes(m)
	m.RolledOut = m.RolledOut || w.worked[i] >= takes.Roll
	if w.worked[i] >= takes.All {
		m.CompletedAt, m.HealthySince, m.Verdict, m.VerdictAt = w.now, w.now, slo.Met, w.now
		w.done[m.Name] = w.now
	}
}

// pass is false when the manager has nothing to do any more.
func (w *world) pass() (changed bool) {
	f := fleet.Fleet{Members: w.members}
	for _, fm := range w.fms {
		f.Migrations = append(f.Migrations, fleet.Compile(fm.DeepCopy()))
	}
	w.placer.Place(&f)
	plan := fleet.Decide(f, w.now)
	for i := range plan.Migrations {
		changed = w.status(&plan.Migrations[i]) || changed
	}
	for i := range w.members {
		m := &w.members[i]
		wanted := plan.Members[i].Admission(plan, m, w.now)
		if wanted == nil {
			continue
		}
		changed = true
		if m.Admission = wanted; plan.Members[i].Admit {
			m.StartedAt, m.Requested = w.now, true
			if wanted.FleetMigration == w.fms[0].Name {
				w.starts[m.Name] = w.now
			}
		}
		m.PausedFor = time.Duration(wanted.HeldSeconds) * time.Second
	}
	return changed
}

// status is written, and people approve what asks for it.
func (w *world) status(plan *fleet.MigrationPlan) (changed bool) {
	for i, fm := range w.fms {
		if fm.Name != plan.Name {
			continue
		}
		fm.Status = *plan.Status.DeepCopy()
		fm.Status.Admitting = nil
		for _, wave := range plan.Waves {
			if i == 0 && !wave.OpenedAt.IsZero() {
				w.opened[wave.Name] = wave.OpenedAt
			}
			if i == 0 && !wave.PassedAt.IsZero() {
				w.passed[wave.Name] = wave.PassedAt
			}
			if wave.State == ucv1.WaveAwaitingApproval {
				fm.Spec.Approvals = append(fm.Spec.Approvals, ucv1.ApprovedWave{Wave: wave.Name, GateDigest: wave.Gate.Digest})
				changed = true
			}
		}
	}
	return changed
}
