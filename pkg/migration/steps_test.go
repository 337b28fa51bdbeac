package migration

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// pooled is a MachineDeployment in the middle of its roll: a letter for each Machine of the old MachineSet and of the new one.
//
//	R ready   N NotReady   E ready, with an error   M ready and marked   - going
//	P proven  U not initialized
type pooled struct {
	replicas, surge, unavailable int32
	old, fresh                   string
}

func (p pooled) observation() Observation {
	o := proving()
	o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(3600))
	var nodes []observation.Node
	edit(&o.Machines, func(m *observation.Machines) {
		m.Deployments[0].Replicas, m.Deployments[0].MaxSurge, m.Deployments[0].MaxUnavailable = p.replicas, p.surge, p.unavailable
		fresh, old := m.Machines[0], m.Machines[1]
		m.Machines, m.Sets[0].Replicas, m.Sets[1].Replicas = nil, 0, 0
		add := func(set *observation.MachineSet, like observation.Machine, letters string) {
			for i, letter := range letters {
				machine := like
				machine.Name, machine.NodeName = fmt.Sprintf("%s-%d", set.Name, i), fmt.Sprintf("%s-node-%d", set.Name, i)
				machine.UID, machine.GoesFirst, machine.Deleting = machine.Name, letter == 'M', letter == '-'
				if letter == 'E' {
					machine.Problem = "CreateMachine: quota"
				}
				node := provenNode(machine.NodeName)
				node.CreatedAt = machine.CreatedAt
				node.Ready, node.Uninitialized = letter != 'N', letter == 'U'
				if !machine.Deleting {
					set.Replicas++
				}
				m.Machines, nodes = append(m.Machines, machine), append(nodes, node)
			}
		}
		add(&m.Sets[0], fresh, p.fresh)
		add(&m.Sets[1], old, p.old)
	})
	o.Nodes = observation.Known(nodes)
	return o
}

func TestStepsGrantedByProof(t *testing.T) {
	for name, tc := range map[string]struct {
		pooled
		// marks and to are what is decided; to is -1 when no MachineSet is lowered.
		marks []string
		to    int32
	}{
		"nothing is proven: nothing goes":                           {pooled{3, 1, 0, "RRR", "U"}, nil, -1},
		"a proven one marks the old one that goes":                  {pooled{3, 1, 0, "RRR", "P"}, []string{"workers-1-0"}, -1},
		"and then lets it go":                                       {pooled{3, 1, 0, "MRR", "P"}, nil, 2},
		"while the next one is not proven nothing goes":             {pooled{3, 1, 0, "RR", "PU"}, nil, -1},
		"the last one needs no mark":                                {pooled{3, 1, 0, "R", "PPP"}, nil, 0},
		"one replica":                                               {pooled{1, 1, 0, "R", "P"}, nil, 0},
		"one replica that is not proven":                            {pooled{1, 1, 0, "R", "U"}, nil, -1},
		"as much surge as replicas, two proven":                     {pooled{3, 3, 0, "MMR", "PPU"}, nil, 1},
		"as much surge as replicas, none proven":                    {pooled{3, 3, 0, "RRR", "UUU"}, nil, -1},
		"no surge, one may be unavailable: the first is no step":    {pooled{3, 0, 1, "RR", "U"}, nil, -1},
		"no surge, and it is proven":                                {pooled{3, 0, 1, "MR", "P"}, nil, 1},
		"an old Node that is NotReady goes first":                   {pooled{3, 1, 0, "RNR", "P"}, []string{"workers-1-1"}, -1},
		"two that are NotReady keep no proven one from one's place": {pooled{3, 1, 0, "RNN", "P"}, []string{"workers-1-1"}, -1},
		"nothing that serves goes while others do not":              {pooled{3, 1, 0, "MRR", "UN"}, nil, -1},
		"one with an error would go anyway, so it is marked":        {pooled{3, 1, 0, "RRE", "P"}, []string{"workers-1-2"}, -1},
		"what another one marked goes first":                        {pooled{3, 1, 0, "RRM", "P"}, nil, 2},
		"one that is going is not counted":                          {pooled{3, 1, 0, "-RR", "PU"}, nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := Decide(tc.observation(), noon())
			switch {
			case len(tc.marks) > 0:
				g.Expect(d.Next()).To(HaveField("Kind", outcome.ActionMarkMachines), "%+v", d)
				var names []string
				for _, ref := range d.Next().Objects {
					names = append(names, ref.Name)
				}
				g.Expect(names).To(Equal(tc.marks))
			case tc.to >= 0:
				g.Expect(d.Next()).To(HaveField("Kind", outcome.ActionStepMachineSet), "%+v", d)
				g.Expect(*d.Next().Step).To(Equal(outcome.MachineSetStep{
					Deployment: observation.Ref{
						Kind:      "MachineDeployment",
						Namespace: "kube-system",
						Name:      "workers",
						UID:       "md",
					},
					Generation: 3,
					Version:    "9",
					Replicas:   tc.to,
				}))
				g.Expect(d.Next().Objects[0].UID).To(Equal("ms-old"))
			default:
				g.Expect(d.Next()).To(BeNil(), "%+v", d.Next())
			}
		})
	}
}

func TestNoStepIsGranted(t *testing.T) {
	ready := pooled{3, 1, 0, "MRR", "P"}.observation
	runDecisions(t, map[string]decision{
		"but it would be": {
			given:  ready,
			step:   ucv1.StepRoll,
			action: outcome.ActionStepMachineSet,
			says:   []string{"from 3 to 2: 1 of 3 new Machines"},
		},
		"while the MachineDeployment is paused": {
			given: ready,
			when:  firstDeployment(func(d *observation.MachineDeployment) { d.Paused = true }),
			step:  ucv1.StepRoll,
			fails: ucv1.BlockedMachinesReason,
		},
		"while the CCM does not lead": {
			given: ready, when: lacksLeader, step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
		},
		"while what was measured cannot be looked at": {
			given: ready,
			when:  func(o *Observation) { o.Measured = observation.Unknown[slo.Seen]("timeout") },
			step:  ucv1.StepRoll,
			wait:  ucv1.CouldNotLookReason,
		},
		"while a MachineSet does not have what it wants: a step is under way": {
			given: ready,
			when:  machines(func(m *observation.Machines) { m.Sets[1].Replicas = 2 }),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"nor for the next one that is proven meanwhile": {
			given: pooled{3, 1, 0, "MRR", "PP"}.observation, when: machines(func(m *observation.Machines) { m.Sets[1].Replicas = 2 }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"to another template than ours": {
			given: ready,
			when:  firstDeployment(func(d *observation.MachineDeployment) { d.RestartValue = "theirs" }),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"without a budget that can be read": {
			given: ready,
			when:  func(o *Observation) { o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromString("many")) },
			step:  ucv1.StepRoll,
			fails: ucv1.InputInvalidReason,
		},
	})
}

// The template was changed by its owner in the middle of the roll, and there is no bootstrap data for the revision of before any
// more.
func TestAMachineOfARevisionInBetweenGoes(t *testing.T) {
	o := pooled{4, 1, 0, "RRR", "P"}.observation()
	edit(&o.Machines, func(m *observation.Machines) {
		between, lost := m.Sets[0], m.Machines[0]
		between.Name, between.UID, between.Current, between.Replicas = "workers-between", "between", false, 1
		between.CreatedAt = m.Sets[0].CreatedAt.Add(-time.Minute)
		lost.Name, lost.UID, lost.Set, lost.NodeName = "lost", "lost", "between", ""
		m.Sets, m.Machines = append(m.Sets, between), append(m.Machines, lost)
	})
	d := Decide(o, noon())
	g := NewWithT(t)
	g.Expect(d.Next()).To(HaveField("Kind", outcome.ActionStepMachineSet), "%+v", d)
	g.Expect(d.Next().Why).To(ContainSubstring("workers-between from 1 to 0"))
}

func TestARollThatWaitedForUsIsNotStuck(t *testing.T) {
	o := pooled{3, 1, 0, "MRR", "P"}.observation()
	edit(&o.Machines, func(m *observation.Machines) {
		for i := range m.Machines {
			m.Machines[i].CreatedAt = m.Machines[i].CreatedAt.Add(-24 * time.Hour)
		}
		for i := range m.Sets {
			m.Sets[i].CreatedAt = m.Sets[i].CreatedAt.Add(-24 * time.Hour)
		}
	})
	d := Decide(o, noon())
	NewWithT(t).Expect(d.Next()).To(HaveField("Kind", outcome.ActionStepMachineSet), "the manager was away for a day: %+v", d)
}

func TestTheLeadersMachineGoesLast(t *testing.T) {
	g := NewWithT(t)
	o := pooled{3, 1, 0, "RRR", "P"}.observation()
	o.CCMNode = observation.Known("workers-1-node-0")
	d := Decide(o, noon())
	g.Expect(d.Next().Objects[0].Name).To(Equal("workers-1-1"))
	o.CCMNode = observation.Unknown[string]("timeout")
	g.Expect(Decide(o, noon()).Next().Objects[0].Name).To(Equal("workers-1-0"))
}
