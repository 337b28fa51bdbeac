package simtest

import (
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestCanaryAndBreaker(t *testing.T) {
	t.Parallel()
	none := func(c *ucv1.Cluster) { c.Spec.Rollout.Canary = ucv1.NoCanary }
	broken := Intervention{Name: "breaks the cloud", When: AtStep(ucv1.StepMachineController), Do: BreakCloud}
	halfWay := Intervention{Name: "breaks the cloud", When: halfRolled, Do: BreakCloud}
	fixed := func(reason string) Intervention {
		return Intervention{Name: "fixes the cloud", When: Stalled(reason), Do: FixCloud}
	}
	runScenarios(t, map[string]scenarioTest{
		"a cloud that is broken from the start touches no Machine": {
			scenario: with(func(s *Scenario) { s.Interventions = []Intervention{broken} }),
			ends:     ucv1.StepRoll, reason: ucv1.CanaryFailedReason, never: []string{"Rolling MachineDeployment"},
		},
		"a canary that is proven late is enough": {
			scenario: with(func(s *Scenario) { s.Interventions = []Intervention{broken, fixed(ucv1.CanaryFailedReason)} }),
			ends:     ucv1.StepFinished, says: []string{"the canary is proven"},
		},
		"no one wants a canary: the breaker stops the first MachineDeployment": {
			scenario: with(func(s *Scenario) { s.Configure, s.Interventions = none, []Intervention{broken} }),
			ends:     ucv1.StepRoll, reason: ucv1.BreakerTrippedReason, never: []string{"canary", "StepMachineSet"},
		},
		"a cloud that breaks half way is fixed, and it goes on by itself": {
			scenario: with(func(s *Scenario) {
				s.Pools = []Pool{{Name: "a", Replicas: 9, Surge: 2, Unavailable: 1}}
				s.Interventions = []Intervention{halfWay, fixed(ucv1.BreakerTrippedReason)}
			}),
			ends: ucv1.StepFinished, says: []string{"StepMachineSet"},
		},
		"a migration that is rolled back while the breaker holds it": {
			scenario: with(func(s *Scenario) {
				s.Pools = []Pool{{Name: "a", Replicas: 9}}
				s.Interventions = []Intervention{
					halfWay, {Name: "asks for the rollback", When: Stalled(ucv1.BreakerTrippedReason), Do: func(w *World) { Rollback(w, true) }},
				}
			}),
			ends: ucv1.StepRolledBack,
		},
		"the Cluster is deleted while the canary is there": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					broken, {Name: "deletes the Cluster", When: Stalled(ucv1.CanaryFailedReason), Do: DeleteCluster},
				}
			}),
			ends: ucv1.StepRoll, says: []string{"Letting the deleted Cluster go"},
		},
	})
}
