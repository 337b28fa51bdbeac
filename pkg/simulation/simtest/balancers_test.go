package simtest

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestOldLoadBalancersAreRenamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with func(*Scenario)
		// renamed is how many have the CCM's name at the end, says a line of the story.
		renamed int
		says    string
	}{
		"where the Cluster asks for it, when the migration is completed": {
			with: renameLoadBalancers, renamed: 2, says: "Finalize: RenameLoadBalancers: Giving the CCM's names to the load balancers of",
		},
		"nowhere else": {with: func(*Scenario) {}},
		"also where it asks after the end": {
			with: func(s *Scenario) {
				s.Interventions = append(s.Interventions, Intervention{
					Name: "wants load balancers renamed", When: Finished,
					Do: func(w *World) { w.Cluster.Spec.Cloud.LoadBalancers = ucv1.RenameLoadBalancers },
				})
			}, renamed: 2, says: "Finalize: RenameLoadBalancers",
		},
		"a person frees a name that another cluster's has": {
			with: func(s *Scenario) {
				renameLoadBalancers(s)
				s.Interventions = append(s.Interventions, Intervention{
					Name: "a load balancer of another cluster gets the name of one of ours", When: AtStep(ucv1.StepRoll),
					Do: func(w *World) { w.Cloud.OldNames.Taken["kube_service_prod_default_"+w.Cloud.Services[0].Name] = "lb-9" },
				}, Intervention{
					Name: "renames that one", When: Stalled(ucv1.LoadBalancersNotRenamedReason),
					Do: func(w *World) { clear(w.Cloud.OldNames.Taken) },
				})
			}, renamed: 2, says: "lb-9 has that name",
		},
		"a person who gives KCM the loops back after it lets KCM make them again": {
			with: func(s *Scenario) {
				renameLoadBalancers(s)
				people := contended(Finished)
				people[1].When = After(4 * time.Minute)
				s.Interventions = append(s.Interventions, people...)
			}, renamed: 2, says: "cloud: creates load balancer again-",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(10) {
				s := HighlyAvailable()
				s.OldLoadBalancers = true
				tc.with(&s)
				var world *World
				s.Interventions = append(s.Interventions, Intervention{Name: "looks", When: Finished, Do: func(w *World) { world = w }})
				transcript, err := Run(seed, s)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
				g.Expect(world.Cloud.OldNames.Renamed).To(HaveLen(tc.renamed), transcript.String())
				g.Expect(transcript.Says(tc.says)).To(BeTrue(), transcript.String())
			}
		})
	}
}
