package simtest

import (
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// TestProofsOutliveTheController: kubelets that know their providerID leave nothing that shows for long.
func TestProofsOutliveTheController(t *testing.T) {
	t.Parallel()
	killedLate := func(interventions ...Intervention) Scenario {
		return with(func(s *Scenario) {
			s.KubeletsKnowProviderID, s.Interventions = true, interventions
			s.Configure = func(c *ucv1.Cluster) { c.Spec.Rollout.SoakSeconds = new(int32(200)) }
			s.KillAt = func(_ int, point KillPoint, d migration.Decision) bool {
				// Their events are gone by then.
				return point == AfterDecide && d.Wait != nil && d.Wait.Reason == ucv1.SoakingReason && d.Wait.After < 100*simulation.Tick &&
					d.Wait.After > 95*simulation.Tick
			}
		})
	}
	lost := Intervention{Name: "loses what was kept", When: soaks, Do: func(w *World) { w.ProofsUnread = true }}
	accepted := Intervention{Name: "vouches for the Nodes", When: Stalled(ucv1.KubeletsNotExternalReason), Do: func(w *World) {
		for _, n := range w.Nodes.All {
			w.Cluster.Spec.Rollout.AcceptNodes = append(w.Cluster.Spec.Rollout.AcceptNodes, n.Name)
		}
	}}
	replaced := Intervention{Name: "deletes the Machines", When: Stalled(ucv1.KubeletsNotExternalReason), Do: func(w *World) {
		for _, m := range w.Machines.All {
			w.Machines.Delete(m)
		}
	}}
	runScenarios(t, map[string]scenarioTest{
		"a controller that is killed after the taint and the event went goes on": {
			scenario: killedLate(), ends: ucv1.StepFinished, says: []string{"killed"}, never: []string{ucv1.KubeletsNotExternalReason},
		},
		"a proof that is lost is not waited for": {
			scenario: killedLate(lost),
			ends:     ucv1.StepRoll,
			reason:   ucv1.KubeletsNotExternalReason,
			says:     []string{"spec.rollout.acceptNodes"},
		},
		"a Node whose proof is lost is accepted by name": {scenario: killedLate(lost, accepted), ends: ucv1.StepFinished},
		"a Node whose proof is lost is replaced":         {scenario: killedLate(lost, replaced), ends: ucv1.StepFinished},
	})
}

func soaks(w *World) bool { return w.last.Wait != nil && w.last.Wait.Reason == ucv1.SoakingReason }
