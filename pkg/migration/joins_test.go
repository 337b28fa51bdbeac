package migration

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// unjoined takes the Node of every new Machine away, and says since when the MachineDeployment is known to wait for one.
func unjoined(since time.Duration) func() Observation {
	return func() Observation {
		o := pooled{3, 1, 0, "RRR", "U"}.observation()
		edit(&o.Machines, func(m *observation.Machines) {
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
			given: unjoined(time.Hour), step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason, says: []string{"no Node of one has " +
				"joined since 2026-01-01T11:00:00Z"},
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

func TestANodeThatJoinsEndsTheWait(t *testing.T) {
	o := pooled{3, 2, 0, "RR", "UU"}.observation()
	edit(&o.Machines, func(m *observation.Machines) {
		for i := range m.Machines {
			if m.Machines[i].Name == "workers-2-1" {
				m.Machines[i].NodeName, m.Machines[i].CreatedAt = "", ago(time.Minute)
			}
		}
	})
	o.Cluster.Status.Breaker.Joining = []ucv1.JoiningMachineDeployment{
		{UID: o.Machines.Value().Deployments[0].UID, Since: metav1.NewTime(ago(time.Hour))},
	}
	d := Decide(o, noon())
	g := NewWithT(t)
	g.Expect(d.Calls()).To(BeNil(), "%+v", d.Calls())
	g.Expect(d.Facts.Breaker.Joining).To(ConsistOf(HaveField("Since.Time", Equal(ago(5*time.Minute)))), "since the other one joined")
}

// unlinked is a Node that waits for the CCM and that no Machine names, while one waits for its Node.
func unlinked(registered time.Duration) func() Observation {
	return func() Observation {
		o := unjoined(10 * time.Minute)()
		o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(180))
		edit(&o.Machines, func(m *observation.Machines) {
			for i := range m.Machines {
				if m.Machines[i].NodeName == "" {
					m.Machines[i].CreatedAt = ago(10 * time.Minute)
				}
			}
		})
		edit(&o.Nodes, func(nodes *[]observation.Node) {
			*nodes = append(
				slices.DeleteFunc(*nodes, func(n observation.Node) bool { return n.Uninitialized }),
				observation.Node{Name: "unlinked", UID: "unlinked", Ready: true, Uninitialized: true, CreatedAt: ago(registered)},
			)
		})
		return o
	}
}

func TestANodeThatNoMachineNames(t *testing.T) {
	accepted := func(o *Observation) { o.Cluster.Spec.Rollout.AcceptNodes = []string{"unlinked"} }
	runDecisions(t, map[string]decision{
		"it trips the breaker": {
			given: unlinked(5 * time.Minute), step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason, says: []string{"Node unlinked, " +
				"which no Machine names yet"},
		},
		"it has its time": {
			given: unlinked(2 * time.Minute),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"one of before the Machine is no new": {given: unlinked(time.Hour), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason},
		"a person may vouch for it": {
			given: unlinked(5 * time.Minute),
			when:  accepted,
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
	})
}
