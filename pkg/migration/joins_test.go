package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// unjoined takes the Node of every new Machine away, and says since when the MachineDeployment is known to wait for one.
func unjoined(since time.Duration) func() Observation {
	return func() Observation {
		o := pooled{3, 1, 0, "RRR", "U"}.observation()
		edit(&o.Machines, func(m *Machines) {
			for i := range m.Machines {
				if m.Machines[i].Annotation == "true" {
					m.Machines[i].NodeName, m.Machines[i].CreatedAt = "", ago(time.Minute)
				}
			}
			for i := range m.Sets {
				m.Sets[i].CreatedAt = m.Sets[i].CreatedAt.Add(-2 * time.Hour)
			}
		})
		o.Cluster.Status.Breaker.Joining = []ucv1.JoiningMachineDeployment{
			{UID: o.Machines.Value().Deployments[0].UID, Since: metav1.NewTime(ago(since))},
		}
		return o
	}
}

func TestAMachineThatIsMadeAgainWaitsSinceTheFirst(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is late": {
			given: unjoined(time.Hour), step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason, says: []string{"no Node of one has joined since 2026-01-01T11:00:00Z"},
		},
		"it is not late yet": {given: unjoined(10 * time.Minute), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason},
	})
	NewWithT(t).Expect(Decide(unjoined(10*time.Minute)(), noon()).Facts.Breaker.Joining).To(HaveLen(1), "it is kept while one waits")
}

func TestTheWaitOfNewMachinesIsNoted(t *testing.T) {
	g := NewWithT(t)
	o := unjoined(time.Hour)()
	o.Cluster.Status.Breaker.Joining = nil
	g.Expect(Decide(o, noon()).Facts.Breaker.Joining).To(ConsistOf(HaveField("Since.Time", Equal(ago(time.Minute)))), "it is noted")
}
