package simtest

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// What the machine-controller does between a Machine and its Node.
func TestMachinesAndTheirNodes(t *testing.T) {
	t.Parallel()
	canary := func(kind ucv1.CanaryKind) func(*ucv1.Cluster) {
		return func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = kind }
	}
	noInstances := Intervention{Name: "has no more instances", When: rolling, Do: func(w *World) { Boots(w, false) }}
	runScenarios(t, map[string]scenarioTest{
		"Machine after Machine that gets no Node is Stalled with the MachineDeployment's name": {
			scenario: with(func(s *Scenario) {
				s.Configure, s.JoinTimeout, s.Interventions = canary(ucv1.NoCanary), time.Minute, []Intervention{noInstances}
			}),
			ends: ucv1.StepRoll, reason: ucv1.NodesNotInitializedReason,
			says: []string{"STALLED", "the new Machines of MachineDeployment kube-system/b (no Node of one has joined since"},
		},
		"it ends as soon as Machines get Nodes": {
			scenario: with(func(s *Scenario) {
				s.Configure, s.JoinTimeout = canary(ucv1.NoCanary), time.Minute
				s.Interventions = append(
					[]Intervention{noInstances},
					then(ucv1.NodesNotInitializedReason, func(w *World) { Boots(w, true) })...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED", "no Node of one has joined since"},
		},
		"a Node that is found by its providerID only, and has none, trips the breaker without its Machine": {
			scenario: with(func(s *Scenario) {
				s.Configure, s.LinksLate = canary(ucv1.NoCanary), true
				s.Interventions = []Intervention{{Name: "breaks the cloud", When: rolling, Do: BreakCloud}}
			}),
			ends: ucv1.StepRoll, reason: ucv1.BreakerTrippedReason, says: []string{"which no Machine names yet"},
		},
		"Machines whose Nodes are found late are rolled": {
			scenario: with(func(s *Scenario) { s.LinksLate, s.JoinTimeout = true, time.Minute }),
			ends:     ucv1.StepFinished,
		},
		"a webhook that asks a cloud without an answer lets nothing be rolled until there is one": {
			scenario: with(func(s *Scenario) {
				s.Configure, s.WebhookAsks = canary(ucv1.NoCanary), true
				s.Interventions = []Intervention{
					{Name: "breaks the cloud", When: AtStep(ucv1.StepMachineController), Do: BreakCloud},
					{Name: "fixes the cloud", When: After(5 * time.Minute), Do: FixCloud},
				}
			}),
			ends: ucv1.StepFinished,
		},
	})
}

// A Node that a CCM named, and that was Ready before, wakes no one: the machine-controller finds it up to five minutes later.
func TestNodesThatAreFoundAfterTheirDeadlineLetTheRollGoOn(t *testing.T) {
	t.Parallel()
	for seed := range orders(60) {
		transcript, err := Run(seed, with(func(s *Scenario) {
			s.LinksLate, s.MaxTicks, s.Pools = true, 6000, []Pool{{Name: "a", Replicas: 3}}
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
		}))
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred(), transcript.String())
		g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
	}
}
