package simtest

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// A webhook that refuses one MachineDeployment holds up no other.
func TestAMachineDeploymentThatIsRefused(t *testing.T) {
	t.Parallel()
	refused := func(canary ucv1.CanaryKind, more ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.Pools = []Pool{{Name: "a", Replicas: 1}, {Name: "b", Replicas: 2}, {Name: "c", Replicas: 3}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = canary }
			s.Interventions = append([]Intervention{
				{Name: "refuses a", When: AtStep(ucv1.StepMachineController), Do: func(w *World) { Refuse(w, "a", observation.RefusedChange, true) }},
			}, more...)
		})
	}
	accepts := then(ucv1.BlockedMachinesReason, func(w *World) { Refuse(w, "a", observation.RefusedChange, false) })
	tests := map[string]scenarioTest{
		"it is rolled when it is accepted": {scenario: refused(ucv1.CanaryMachine, accepts...), ends: ucv1.StepFinished},
	}
	for name, kind := range map[string]ucv1.CanaryKind{
		"with a canary Machine": ucv1.CanaryMachine, "with a canary MachineDeployment": ucv1.CanaryMachineDeployment, "without a canary": ucv1.NoCanary,
	} {
		tests["the others are rolled, and then a person is called, "+name] = scenarioTest{
			scenario: refused(kind), ends: ucv1.StepRoll, reason: ucv1.BlockedMachinesReason,
			says:  []string{"STALLED BlockedMachines: These cannot be rolled: webhook test refuses changes of MachineDeployment kube-system/a;"},
			never: []string{"creates Machine a-"},
		}
	}
	runScenarios(t, tests)
}

// A policy that refuses changes of Machines and MachineSets keeps old Machines, and nothing goes without proof.
func TestStepsThatAreRefused(t *testing.T) {
	t.Parallel()
	refused := func(more ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.Pools = []Pool{{Name: "a", Replicas: 2, Refuses: observation.RefusedStep, RefusedFor: 24 * time.Hour}, {Name: "b", Replicas: 3}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2)) }
			s.Interventions = more
		})
	}
	runScenarios(t, map[string]scenarioTest{
		"the others are rolled, and then a person is called": {
			scenario: refused(), ends: ucv1.StepRoll, reason: ucv1.BlockedMachinesReason,
			says: []string{"STALLED BlockedMachines: These cannot be " +
				"rolled: webhook test refuses changes of Machines or MachineSets of MachineDeployment kube-system/a;"},
			never: []string{"Giving minReadySeconds of MachineDeployment kube-system/a back"},
		},
		"it goes on when they are accepted": {
			scenario: refused(then(ucv1.BlockedMachinesReason, func(w *World) { Refuse(w, "a", observation.RefusedStep, false) })...),
			ends:     ucv1.StepFinished,
		},
	})
}

// What the breaker took of one is not given back: the others are rolled all the same, and it is named when they are done.
func TestMinReadySecondsThatMayNotBeGivenBack(t *testing.T) {
	t.Parallel()
	lowered := func(w *World) bool {
		for _, d := range w.Machines.Deployments {
			for _, s := range w.Machines.SetsOf(d) {
				if d.Restart != "" && s.Restart == "" && s.Replicas == 0 {
					return true
				}
			}
		}
		return false
	}
	scenario := with(func(s *Scenario) {
		s.Pools = []Pool{{Name: "a", Replicas: 1}, {Name: "b", Replicas: 2}}
		s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
		s.Interventions = []Intervention{{Name: "refuses a", When: lowered, Do: func(w *World) { Refuse(w, "a", observation.RefusedChange, true) }}}
	})
	accepted := scenario
	accepted.Interventions = append(scenario.Interventions[:1:1],
		then(ucv1.BlockedMachinesReason, func(w *World) { Refuse(w, "a", observation.RefusedChange, false) })...)
	runScenarios(t, map[string]scenarioTest{
		"the others are rolled": {
			scenario: scenario, ends: ucv1.StepRoll, reason: ucv1.BlockedMachinesReason,
			says: []string{"Giving minReadySeconds of MachineDeployment kube-system/b back"},
		},
		"it is given back when that is accepted": {scenario: accepted, ends: ucv1.StepFinished},
	})
}

// randomRefusals draws whether a webhook refuses one MachineDeployment for a while.
func randomRefusals(rng *rand.Rand, s *Scenario) {
	if len(s.Pools) == 0 || rng.IntN(3) > 0 {
		return
	}
	pool := &s.Pools[rng.IntN(len(s.Pools))]
	pool.RefusedAfter = time.Duration(rng.IntN(600)) * simulation.Tick
	pool.RefusedFor = time.Duration(1+rng.IntN(1200)) * simulation.Tick
	if rng.IntN(2) == 0 {
		pool.Refuses = observation.RefusedStep
	}
	s.MaxTicks = max(s.MaxTicks, 6000)
}

// A newer webhook stores a template in another form at any write, also at that by which minReadySeconds is given back.
func TestAWebhookThatRewrites(t *testing.T) {
	t.Parallel()
	rewriting := func(when func(*World) bool, more ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.Pools = []Pool{{Name: "a", Replicas: 2}, {Name: "b", Replicas: 1}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
			s.Interventions = append([]Intervention{{Name: "the webhook is another one", When: when, Do: func(w *World) {
				for _, d := range w.Machines.Deployments {
					d.Webhook.RewritesFrom = w.Now
				}
			}}}, more...)
		})
	}
	rollsBack := Intervention{Name: "rolls back", Do: func(w *World) {
		Spec(w, func(s *ucv1.ClusterSpec) { s.Handover.Rollback = true })
	}}
	for name, test := range map[string]struct {
		scenario Scenario
		ends     ucv1.Step
		replaced int
	}{
		"the roll is such a write":                        {rewriting(AtStep(ucv1.StepMachineController)), ucv1.StepFinished, 3},
		"what follows a write of ours is waited for, too": {rewriting(halfRolled), ucv1.StepFinished, 5},
		"and in a rollback":                               {rewriting(halfRolled, rollsBack), ucv1.StepRolledBack, 2},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range orders(20) {
				transcript, err := Run(seed, test.scenario)
				NewWithT(t).Expect(err).NotTo(HaveOccurred(), transcript.String())
				NewWithT(t).Expect(transcript.Outcome.Step).To(Equal(test.ends), transcript.String())
				NewWithT(t).Expect(transcript.Outcome.Replaced).To(BeNumerically(">=", test.replaced), transcript.String())
			}
		})
	}
}
