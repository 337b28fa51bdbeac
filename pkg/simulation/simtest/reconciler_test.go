package simtest

import (
	"fmt"
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Whoever reconciles KCM's Deployment, and leaves no mark on it, writes the in-tree arguments back while the fence is closed.
func TestReconcilersWithoutAMark(t *testing.T) {
	t.Parallel()
	tests := map[string]scenarioTest{
		"an owner who lets go of KCM's arguments lets the migration go on": {
			scenario: with(func(s *Scenario) {
				s.ReconciledAfter = time.Second
				s.Interventions = then(ucv1.CloudLoopsContendedReason, func(w *World) {
					w.Traits.ReconciledAfter = 0
					ChangeKCM(w, "person", map[string]string{"cloud-provider": "external"})
				})
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED CloudLoopsContended"},
		},
	}
	for _, after := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
		for protocol, configure := range map[string]func(*Scenario){
			"a closed fence": func(*Scenario) {}, "the lock": byLock,
			"free leases": func(s *Scenario) { s.LeasesAreFree = true },
		} {
			tests[fmt.Sprintf("after %s, with %s, KCM keeps the loops", after, protocol)] = scenarioTest{
				scenario: with(func(s *Scenario) { configure(s); s.ReconciledAfter = after }),
				ends:     ucv1.StepHandover, reason: ucv1.CloudLoopsContendedReason,
				says: []string{"STALLED", "changed by reconciler"}, never: []string{"OpenFence"},
			}
		}
	}
	runScenarios(t, tests)
}
