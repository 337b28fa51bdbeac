package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// fair is a world in which no limit is 0, every trouble passes, and people do what they are asked for.
func fair(seed uint64) *world {
	w := newWorld(seed, false)
	for _, fm := range w.fms {
		for i := range fm.Spec.Waves {
			wave := &fm.Spec.Waves[i]
			wave.MaxInconclusive = nil
			if isZero(wave.MaxConcurrency) {
				wave.MaxConcurrency = nil
			}
		}
		for i := range fm.Spec.Budgets {
			b := &fm.Spec.Budgets[i]
			if b.MaxNodes != nil {
				*b.MaxNodes++
			} else {
				*b.MaxConcurrency++
			}
		}
		if fm.Spec.MaxStartsPerHour != nil {
			*fm.Spec.MaxStartsPerHour++
		}
		for i := range fm.Spec.Maintenance.Windows {
			fm.Spec.Maintenance.Windows[i].ClusterSelector = nil
		}
	}
	for _, c := range w.clusters {
		c.feature, c.violates, c.truth.Blocking = true, false, observation.Known(false)
		if c.stallsAfter > 0 && c.recoversAfter == 0 {
			c.recoversAfter = 3 * time.Hour
		}
	}
	return w
}

// Property 10.
func TestEveryFairFleetEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		w := fair(seed)
		for range 40 {
			if w.run(400); w.err != nil || w.ended() {
				break
			}
		}
		if w.err != nil || !w.ended() {
			t.Fatalf("seed %d: it does not end: %v\n%s", seed, w.err, w)
		}
		w.checkRest(t, seed)
	}
}

func (w *world) ended() bool {
	waits := slices.ContainsFunc(w.clusters, func(c *cluster) bool {
		a := c.truth.Admission
		return a != nil && a.Wave != "" && c.truth.CompletedAt.IsZero() && !w.stands(a.UID)
	})
	return !waits && !slices.ContainsFunc(w.fms, func(fm *ucv1.FleetMigration) bool {
		first := fm.Status.Waves
		return fm.Status.Wave != "" && (len(first) == 0 || first[0].WaitsFor != ucv1.FirstWaveEmptyReason)
	})
}

// stands says that a FleetMigration waits for a person who corrects its first wave.
func (w *world) stands(uid string) bool {
	fm := w.migration(uid)
	return fm == nil || len(fm.Status.Waves) > 0 && fm.Status.Waves[0].WaitsFor == ucv1.FirstWaveEmptyReason
}

// checkRest: property 18. Where nothing changes, nothing is written.
func (w *world) checkRest(t *testing.T, seed uint64) {
	t.Helper()
	w.pass()
	f := w.observe()
	plan := fleet.Decide(f, w.now)
	for i := range plan.Migrations {
		if diff := cmp.Diff(w.migration(plan.Migrations[i].UID).Status, plan.Migrations[i].Status); diff != "" {
			t.Fatalf("seed %d: property 18: the status changes and nothing else did:\n%s", seed, diff)
		}
	}
	for i := range plan.Members {
		if wanted := plan.Members[i].Admission(plan, &f.Members[i], w.now); wanted != nil {
			t.Fatalf("seed %d: property 18: the admission of %s is written again: %+v", seed, f.Members[i].Name, wanted)
		}
	}
}

// Property 15: with more room no fewer Clusters start, and with an exclusion no more. Budgets of Nodes are left out: one large
// Cluster may take the place of several small ones.
func TestMoreRoomAdmitsNoFewer(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range uint64(300) {
		w := newWorld(seed, false)
		for _, fm := range w.fms {
			fm.Spec.Budgets = slices.DeleteFunc(fm.Spec.Budgets, func(b ucv1.FleetBudget) bool { return b.MaxNodes != nil })
		}
		w.run(w.rng.IntN(200))
		for range 12 {
			w.newCluster() // The last pass admitted what could be.
		}
		before := w.admits()
		some += before
		for _, fm := range w.fms {
			if len(fm.Spec.Budgets) > 0 {
				*fm.Spec.Budgets[0].MaxConcurrency += 2
			}
			fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(1000))
			fm.Generation++
		}
		more := w.admits()
		for _, fm := range w.fms {
			fm.Spec.Maintenance.Exclusions = append(fm.Spec.Maintenance.Exclusions, exclusionNow(w.now))
			fm.Generation++
		}
		if fewest := w.admits(); more < before || fewest > 0 {
			t.Fatalf("seed %d: %d start, with more room %d, and in an exclusion %d", seed, before, more, fewest)
		}
	}
	NewWithT(t).Expect(some).To(BeNumerically(">", 100))
}

func (w *world) admits() int {
	plan, count := fleet.Decide(w.observe(), w.now), 0
	for _, p := range plan.Members {
		if p.Admit {
			count++
		}
	}
	return count
}

// The largest Cluster is not passed over for ever by small ones.
func TestABudgetOfNodesIsKeptForALargeCluster(t *testing.T) {
	g := NewWithT(t)
	fm := openFleet()
	fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "nodes", MaxNodes: new(int32(10))}}
	fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(100))
	fm.Spec.Waves[0].Order = ucv1.Alphabetical
	large := member("a-large", "canary")
	large.Nodes = observation.Known[int32](9)
	plan := decide(fm, admitted(member("0", "canary"), ago(time.Hour)), large, member("b-small", "canary"))
	g.Expect(obstacles(plan.Members[1])).To(ConsistOf(ucv1.BudgetExhaustedReason))
	g.Expect(obstacles(plan.Members[2])).To(ConsistOf(ucv1.BudgetReservedReason), "the wave has been open for a day")
	fm.Status.Waves[0].OpenedAt.Time = ago(time.Hour)
	plan = decide(fm, admitted(member("0", "canary"), ago(time.Hour)), large, member("b-small", "canary"))
	g.Expect(plan.Members[2].Admit).To(BeTrue(), "it has not waited for long")
	g.Expect(plan.WakeAt).To(BeTemporally("<=", ago(time.Hour).Add(24*time.Hour)))
}

func TestCanaries(t *testing.T) {
	canaries := func(fm *ucv1.FleetMigration) {
		fm.Spec.Waves[0].Canaries = new(int32(1))
		fm.Spec.Waves[0].MinSuccesses = new(intstr.FromString("100%"))
	}
	tell(t, map[string]story{
		"one canary goes alone": {
			with: canaries, members: []fleet.Member{admitted(member("a", "canary"), ago(time.Minute)), member("b", "canary")},
			reasons: []string{ucv1.CanariesFirstReason},
		},
		"and soaks": {
			with: canaries, members: []fleet.Member{succeeded(member("a", "canary"), ago(time.Minute)), member("b", "canary")},
			reasons: []string{ucv1.CanariesFirstReason},
		},
		"then the others start": {
			with: canaries, members: []fleet.Member{succeeded(member("a", "canary"), ago(2*time.Hour)), member("b", "canary")}, admits: true,
		},
		"a later success does not ask for another soak": {
			with: canaries, members: []fleet.Member{
				succeeded(member("a", "canary"), ago(2*time.Hour)), succeeded(member("b", "canary"), ago(time.Minute)), member("c", "canary"),
			}, admits: true,
		},
	})
}

// An approval is of a report: a late failure makes it void, a Cluster that joins or succeeds late does not.
func TestApprovals(t *testing.T) {
	g := NewWithT(t)
	fm := openFleet()
	fm.Spec.Waves[1].Approval = ucv1.WaveApprovalRequired
	fm.Spec.Waves[0].MaxFailures, fm.Spec.Waves[0].MinSuccesses = new(intstr.FromString("50%")), new(intstr.FromInt32(1))
	done, waits := succeeded(member("a", "canary"), ago(5*time.Hour)), member("z", "prod")
	gate := decide(fm, done, waits).Migrations[0].Waves[1]
	g.Expect(gate.State).To(Equal(ucv1.WaveAwaitingApproval))
	fm.Spec.Approvals = []ucv1.ApprovedWave{{Wave: "prod", GateDigest: gate.Gate.Digest}}
	g.Expect(decide(fm, done, waits).Members[1].Admit).To(BeTrue())

	violated := succeeded(member("b", "canary"), ago(4*time.Hour))
	violated.Verdict, violated.VerdictAt = slo.Violated, ago(3*time.Hour)
	again := decide(fm, done, violated, waits)
	g.Expect(again.Migrations[0].Waves[1].State).To(Equal(ucv1.WaveAwaitingApproval))
	g.Expect(again.Migrations[0].Waves[1].Gate.Digest).NotTo(Equal(gate.Gate.Digest))

	joined := succeeded(member("b", "canary"), ago(4*time.Hour))
	g.Expect(decide(fm, done, joined, waits).Members[2].Admit).To(BeTrue())

	fm.Spec.Waves[1].MaxConcurrency = new(intstr.FromString("100%"))
	g.Expect(decide(fm, done, waits).Migrations[0].Waves[1].State).To(Equal(ucv1.WaveAwaitingApproval), "its settings are others")
}

func exclusionNow(now time.Time) ucv1.FleetExclusion {
	e := ucv1.FleetExclusion{Name: "now"}
	e.From.Time, e.To.Time = now.Add(-time.Minute), now.Add(time.Minute)
	return e
}

// What migrates holds its roll when someone asked for that, and goes on when that is over.
func TestDirectives(t *testing.T) {
	inFlight := admitted(member("a", "canary"), ago(time.Hour))
	inFlight.Admission.Directive = ucv1.DirectiveProceed
	held := inFlight
	held.Admission = inFlight.Admission.DeepCopy()
	held.Admission.Directive = ucv1.DirectiveHoldRoll
	halted := func(fm *ucv1.FleetMigration) {
		fm.Status.Halt = &ucv1.FleetHalt{At: metav1.NewTime(ago(time.Minute)), Reason: ucv1.MaxFailuresExceededReason}
	}
	nights := func(policy ucv1.InFlightPolicy) func(*ucv1.FleetMigration) {
		return func(fm *ucv1.FleetMigration) {
			fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Etc/UTC",
			}, InFlight: policy}}
		}
	}
	for name, test := range map[string]struct {
		with   func(*ucv1.FleetMigration)
		member fleet.Member
		want   ucv1.FleetDirective
	}{
		"nothing is asked for":                  {func(*ucv1.FleetMigration) {}, inFlight, ucv1.DirectiveProceed},
		"what was held goes on":                 {func(*ucv1.FleetMigration) {}, held, ucv1.DirectiveProceed},
		"a halt lets rolls go on":               {halted, inFlight, ucv1.DirectiveProceed},
		"a halt that holds rolls":               {func(fm *ucv1.FleetMigration) { halted(fm); fm.Spec.OnHalt = ucv1.HoldRollInFlight }, inFlight, ucv1.DirectiveHoldRoll},
		"a window that has closed":              {nights(""), inFlight, ucv1.DirectiveProceed},
		"a window that holds rolls when closed": {nights(ucv1.HoldRollInFlight), inFlight, ucv1.DirectiveHoldRoll},
		"an exclusion that holds rolls": {func(fm *ucv1.FleetMigration) {
			e := exclusionNow(noon())
			e.InFlight = ucv1.HoldRollInFlight
			fm.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{e}
		}, inFlight, ucv1.DirectiveHoldRoll},
		"a rollback of what may be past its point of no return": {func(fm *ucv1.FleetMigration) {
			fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"canary"}, Scope: ucv1.RollbackAll}
		}, inFlight, ucv1.DirectiveProceed},
		"a rollback": {func(fm *ucv1.FleetMigration) {
			fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"canary"}, Scope: ucv1.RollbackInFlight}
		}, func() fleet.Member { m := inFlight; m.BeforeNoReturn = true; return m }(), ucv1.DirectiveRollback},
		"a rollback of another wave": {func(fm *ucv1.FleetMigration) {
			fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"prod"}, Scope: ucv1.RollbackInFlight}
		}, func() fleet.Member { m := inFlight; m.BeforeNoReturn = true; return m }(), ucv1.DirectiveProceed},
	} {
		t.Run(name, func(t *testing.T) {
			fm := openFleet()
			test.with(fm)
			NewWithT(t).Expect(decide(fm, test.member).Members[0].Directive).To(Equal(test.want))
		})
	}
}

// A person who rolls a wave back sees how far it is, and which Clusters stay.
func TestARollbackSaysWhatStays(t *testing.T) {
	fm := openFleet()
	fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"canary"}, Scope: ucv1.RollbackInFlight}
	fm.Status.Halt = &ucv1.FleetHalt{Reason: ucv1.MaxFailuresExceededReason, Message: "Too many.", At: metav1.NewTime(noon())}
	migrates := admitted(member("migrates", "canary"), ago(time.Hour))
	before := migrates
	before.Name, before.UID, before.BeforeNoReturn = "before", "uid-before", true
	back := admitted(member("back", "canary"), ago(time.Hour))
	back.RolledBack, back.StartedAt, back.Admission.State = true, time.Time{}, ucv1.AdmissionQueued
	going := admitted(member("going", "canary"), ago(time.Hour))
	going.RollingBack = true
	done := succeeded(member("done", "canary"), ago(time.Hour))
	other := admitted(member("other", "prod"), ago(time.Hour))
	ready := func(members ...fleet.Member) (*metav1.Condition, []metav1.Condition) {
		conditions := decide(fm, members...).Migrations[0].Status.Conditions
		return meta.FindStatusCondition(conditions, ucv1.ReadyCondition), conditions
	}

	g := NewWithT(t)
	said, conditions := ready(migrates, before, back, going, done, other)
	g.Expect(said.Reason).To(Equal(ucv1.FleetRollsBackReason))
	g.Expect(said.Message).To(Equal("spec.rollback: 1 Cluster is rolled back, 2 on the way, and 0 waiting for a budget; 1 not rolled " +
		"back, because not known to be before the point of no return, such as user/migrates."))
	g.Expect(meta.IsStatusConditionTrue(conditions, ucv1.ReconcilingCondition)).To(BeTrue())
	g.Expect(meta.IsStatusConditionTrue(conditions, ucv1.HaltedCondition)).To(BeTrue(), "it goes on being halted")

	fm.Spec.Rollback.Scope = ucv1.RollbackAll
	said, _ = ready(back, done)
	g.Expect(said.Message).To(HaveSuffix("such as user/done. Remove spec.rollback: no Cluster is admitted until then."))

	fm.Spec.Rollback.Scope = ucv1.RollbackInFlight
	said, conditions = ready(back, done)
	g.Expect(said.Message).To(Equal("spec.rollback: 1 Cluster is rolled back, 0 on the way, and 0 waiting for a budget. " +
		"Remove spec.rollback: no Cluster is admitted until then."))
	g.Expect(meta.IsStatusConditionTrue(conditions, ucv1.ReconcilingCondition)).To(BeFalse(), "nothing goes on by itself")
	g.Expect(meta.IsStatusConditionTrue(conditions, ucv1.StalledCondition)).To(BeTrue(), "a person has to act")
}
