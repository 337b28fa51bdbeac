package simtest

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

func TestFreedLeases(t *testing.T) {
	t.Parallel()
	drained := func(at func(*World) bool) []Intervention {
		return []Intervention{{Name: "drains the Node of the leader", When: at, Do: drainLeader}}
	}
	runScenarios(t, map[string]scenarioTest{
		"that of a CCM whose Node is drained in the roll": {
			scenario: with(func(s *Scenario) { s.Interventions = drained(AtStep(ucv1.StepRoll)) }),
			ends:     ucv1.StepFinished, says: []string{"FreeLease: Clearing cloud-controller-manager-"},
		},
		"also under the hostname of its Node": {
			scenario: with(func(s *Scenario) { s.HostNetwork = true; s.Interventions = drained(AtStep(ucv1.StepVerify)) }),
			ends:     ucv1.StepFinished,
		},
		"not when all is finished": {
			scenario: with(
				func(s *Scenario) { s.Interventions = drained(Finished) },
			),
			ends:  ucv1.StepFinished,
			never: []string{"Clearing cloud-controller"},
		},
	})
}

// TestAFreedLeaseIsTakenSoon: from the end of the leader to the next one.
func TestAFreedLeaseIsTakenSoon(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		g := NewWithT(t)
		w := NewWorld(rand.New(rand.NewPCG(seed, 1)), with(func(*Scenario) {}))
		ended := time.Time{}
		for range 2000 {
			g.Expect(w.round()).To(Succeed())
			switch {
			case ended.IsZero() && AtStep(ucv1.StepRoll)(w) && w.CCM.Leader() != nil:
				drainLeader(w)
				ended = w.Now
			case !ended.IsZero() && w.CCM.Leader() != nil:
				g.Expect(w.Now.Sub(ended)).To(BeNumerically("<=", 3*simulation.RetryPeriod+2*simulation.Tick), "seed %d", seed)
				ended = w.Now.Add(time.Hour)
			}
			if Finished(w) {
				break
			}
		}
		g.Expect(ended).NotTo(BeZero())
	}
}

func TestARightThatStays(t *testing.T) {
	t.Parallel()
	protects := Intervention{
		Name: "protects our right to KCM's Lease",
		When: AtStep(ucv1.StepHandover),
		Do:   func(w *World) { w.Leases.RightStays = true },
	}
	runScenarios(t, map[string]scenarioTest{
		"is told at the end, and the migration is finished when a person deletes it": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append(
					[]Intervention{protects}, then(ucv1.CouldNotActReason, func(w *World) { w.Leases.MayFreeKCM = false })...,
				)
			}), ends: ucv1.StepFinished, says: []string{"STALLED", "kubectl -n", "delete rolebinding,role"},
		},
		"holds up no rollback but its end": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append([]Intervention{protects}, rolledBack(rolled)[0])
			}), ends: ucv1.StepRollbackAddons, reason: ucv1.CouldNotActReason, says: []string{"its cloud loops back"},
		},
	})
}
