package simtest

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// held is how a MachineDeployment stood during a run, from the moment in which it is rolled: the fewest Machines that served, and
// the most that were not proven.
type held struct{ serving, unproven int }

// watch is asked in every second of the model, and never happens.
func (h *held) watch(w *World) bool {
	if w.Cluster.Status.RollGeneration == "" {
		return false
	}
	for _, d := range w.Machines.Deployments {
		if d.Guard.Canary || d.Restart == "" {
			continue
		}
		serving := 0
		for _, s := range w.Machines.SetsOf(d) {
			for _, m := range w.Machines.Of(s) {
				if n := w.Nodes.Of(m); n != nil && n.Ready && !n.Tainted {
					serving++
				}
			}
		}
		h.serving, h.unproven = min(h.serving, serving), max(h.unproven, len(uninitialized(w, d)))
	}
	return false
}

// The breaker holds by construction: whatever of ours does not come, and whoever pauses, no more Machines than the limits allow
// are replaced by such that serve nothing. The bars are maxSurge + maxUnavailable unproven, and replicas - maxUnavailable
// serving.
func TestTheBreakerHolds(t *testing.T) {
	t.Parallel()
	broken := Intervention{Name: "breaks the cloud", When: rolling, Do: BreakCloud}
	dies := func(from func(migration.Decision) bool) func(int, KillPoint, migration.Decision) bool {
		dead := false
		return func(_ int, point KillPoint, decision migration.Decision) bool {
			dead = dead || from(decision)
			return dead && point == AfterDecide
		}
	}
	rolled := func(d migration.Decision) bool {
		return d.Next() == nil && d.Wait != nil && d.Step == ucv1.StepRoll && d.Wait.Reason == ucv1.WaitingForMachinesReason
	}
	refused := func(_ int, point KillPoint, decision migration.Decision) bool {
		return point == AfterDecide && decision.Next() != nil && decision.Next().Kind == outcome.ActionStepMachineSet
	}
	for name, test := range map[string]struct {
		pool   Pool
		people []Intervention
		kill   func() func(int, KillPoint, migration.Decision) bool
	}{
		"one replica, a cloud that breaks":                {Pool{Replicas: 1}, []Intervention{broken}, nil},
		"as much surge as replicas, a cloud that breaks":  {Pool{Replicas: 3, Surge: 3}, []Intervention{broken}, nil},
		"no surge, a cloud that breaks":                   {Pool{Replicas: 3, Unavailable: 1}, []Intervention{broken}, nil},
		"surge and unavailability, a cloud that breaks":   {Pool{Replicas: 5, Surge: 2, Unavailable: 1}, []Intervention{broken}, nil},
		"a manager that never comes back":                 {Pool{Replicas: 3}, nil, func() func(int, KillPoint, migration.Decision) bool { return dies(rolled) }},
		"one that never comes back, as much surge":        {Pool{Replicas: 3, Surge: 3}, nil, func() func(int, KillPoint, migration.Decision) bool { return dies(rolled) }},
		"one that never comes back to a cloud that broke": {Pool{Replicas: 1}, []Intervention{broken}, func() func(int, KillPoint, migration.Decision) bool { return dies(rolled) }},
		"an API that refuses every step":                  {Pool{Replicas: 3}, nil, func() func(int, KillPoint, migration.Decision) bool { return refused }},
		"a pause by others in the middle": {Pool{Replicas: 4}, []Intervention{
			broken, {Name: "pauses", When: Stalled(ucv1.BreakerTrippedReason), Do: func(w *World) { Pause(w, "a", true) }},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range orders(40) {
				test.pool.Name = "a"
				h, s := heldIn(test.pool, test.people)
				s.WebhookAsks = seed%2 == 1 // A cloud that broke then also refuses writes of ours and of others.
				if test.kill != nil {
					s.KillAt = test.kill()
				}
				transcript, _ := Run(seed, s)
				g, least := NewWithT(t), test.pool.Replicas-test.pool.Unavailable
				g.Expect(h.serving).To(BeNumerically(">=", least), "seed %d: %s", seed, transcript)
				g.Expect(h.unproven).To(BeNumerically("<=", test.pool.surge()+test.pool.Unavailable), "seed %d: %s", seed, transcript)
			}
		})
	}
}

// heldIn is a scenario of one MachineDeployment, in which every second is looked at, and what people do.
func heldIn(pool Pool, people []Intervention) (*held, Scenario) {
	h := &held{serving: pool.Replicas}
	all := []Intervention{}
	for _, one := range people {
		when := one.When
		one.When = func(w *World) bool { h.watch(w); return when(w) }
		all = append(all, one)
	}
	return h, with(func(s *Scenario) {
		s.Pools, s.Interventions, s.MaxTicks = []Pool{pool}, append(all, Intervention{Name: "watches", When: h.watch}), 600
		s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
	})
}

func rolling(w *World) bool {
	for _, d := range w.Machines.Deployments {
		if d.Restart != "" {
			return true
		}
	}
	return false
}

// An old Node that is NotReady is the first to go, and no other one for it.
func TestAnOldNodeThatIsNotReadyGoesFirst(t *testing.T) {
	t.Parallel()
	for seed := range orders(20) {
		h := held{serving: 4}
		var sick string
		s := with(func(s *Scenario) {
			s.Pools, s.MaxTicks = []Pool{{Name: "a", Replicas: 4}}, 900
			s.Interventions = []Intervention{
				{Name: "breaks a Node", When: rolling, Do: func(w *World) {
					n := w.Nodes.Of(w.Machines.Of(w.Machines.SetsOf(w.Machines.Deployments[0])[0])[0])
					n.NotReadyUntil, sick = w.Now.Add(time.Hour), n.Machine
				}},
				{Name: "watches", When: func(w *World) bool {
					if sick != "" {
						h.watch(w)
					}
					return Finished(w)
				}, Do: func(*World) {}},
			}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
		})
		transcript, err := Run(seed, s)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred(), transcript.String())
		g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
		g.Expect(h.serving).To(
			BeNumerically(">=", 3),
			"the sick one does not serve, and no other is missing: seed %d: %s",
			seed,
			transcript,
		)
	}
}

// An old release waits for the pods of a Node that is not Ready: a person is called with their names, and what they do lets the
// roll go on.
func TestADrainOfANodeThatIsNotReady(t *testing.T) {
	t.Parallel()
	silent := func(more ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.Pools, s.DrainsNotReady = []Pool{{Name: "a", Replicas: 3}}, true
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
			s.Interventions = append([]Intervention{{Name: "breaks a Node", When: rolling, Do: func(w *World) {
				w.Nodes.Of(w.Machines.Of(w.Machines.SetsOf(w.Machines.Deployments[0])[0])[0]).NotReadyUntil = w.Now.Add(24 * time.Hour)
			}}}, more...)
		})
	}
	const pods = "these pods are going and not gone: default/web-0; the machine-controller stops draining, and deletes the instance by force"
	runScenarios(t, map[string]scenarioTest{
		"a person is called": {scenario: silent(), ends: ucv1.StepRoll, reason: ucv1.NodesNotInitializedReason, says: []string{"STALLED", "does not go", pods}},
		"the roll goes on when its drain is skipped": {
			scenario: silent(then(ucv1.NodesNotInitializedReason, SkipEvictions)...), ends: ucv1.StepFinished,
		},
	})
}

// The machine-controller takes the old MachineSet for the only one in the pass in which it copies an annotation, and a pause keeps
// nothing of that. It cannot be prevented, and the migration ends truly all the same.
func TestAnAnnotationOfAPausedMachineDeploymentRaisesItsOldSet(t *testing.T) {
	t.Parallel()
	raised := func(w *World) bool {
		return slices.ContainsFunc(w.Machines.Sets, func(s *simulation.MachineSet) bool { return s.Restart == "" && s.Replicas == 3 })
	}
	for seed := range orders(40) {
		transcript, err := Run(seed, with(func(s *Scenario) {
			s.Pools = []Pool{{Name: "a", Replicas: 3}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
			s.Interventions = []Intervention{
				{Name: "pauses", When: halfRolled, Do: func(w *World) { Pause(w, "a", true) }},
				{Name: "annotates", When: Stalled(ucv1.BlockedMachinesReason), Do: func(w *World) { Annotate(w, "a") }},
				{Name: "unpauses", When: raised, Do: func(w *World) { Pause(w, "a", false) }},
			}
		}))
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred(), "seed %d: %s", seed, transcript)
		g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), "seed %d: %s", seed, transcript)
	}
}

// called says that the owner of a MachineDeployment was, or that nothing is left to be called for.
func called(w *World) bool {
	return Stalled(ucv1.BlockedMachinesReason)(w) || Stalled(ucv1.MachineDeploymentFieldConflictReason)(w) || Finished(w) || RolledBack(w)
}
