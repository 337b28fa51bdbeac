package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func machines(change func(*observation.Machines)) func(*Observation) {
	return func(o *Observation) { edit(&o.Machines, change) }
}

// second adds an outdated MachineDeployment with one Machine.
func second(m *observation.Machines) {
	more := outdated()
	more.Deployments[0].Ref = observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "builders", UID: "md2"}
	more.Sets[0].UID, more.Sets[0].Deployment = "ms2", "md2"
	more.Machines[0].Ref, more.Machines[0].Set = observation.Ref{
		Kind: "Machine", Namespace: "kube-system", Name: "b", UID: "ma2",
	}, "ms2"
	m.Deployments = append(m.Deployments, more.Deployments...)
	m.Sets = append(m.Sets, more.Sets...)
	m.Machines = append(m.Machines, more.Machines...)
}

func TestRollBeginsWithACanary(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the forceRestart value is persisted before it is used": {
			given: recording, step: ucv1.StepRoll, action: outcome.ActionRecord, says: []string{"forceRestart"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.RollGeneration).To(Equal("1767268800000000000")) },
		},
		"one MachineDeployment is rolled at a time": {
			given: rolling, when: machines(second), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			says: []string{"Rolling MachineDeployment kube-system/builders: at most 1 at a time"},
		},
		"a larger budget begins with one canary": {
			given: rolling, when: func(o *Observation) {
				machines(second)(o)
				o.Cluster.Spec.Rollout.MaxConcurrent, o.Cluster.Spec.Rollout.Canary = new(intstr.FromInt32(2)), ucv1.CanaryMachineDeployment
			},
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			says:  []string{"Rolling MachineDeployment kube-system/builders: at most 1 at a time"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.RolledMachineDeployments).To(Equal([]string{"md2"})) },
		},
		"a larger budget rolls more when a canary is proven": {
			given: verifying, when: func(o *Observation) {
				machines(func(m *observation.Machines) {
					second(m)
					third := m.Deployments[1]
					third.Name, third.UID, third.Replicas = "testers", "md3", 0
					m.Deployments = append(m.Deployments, third)
				})(o)
				o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2))
			},
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			says: []string{"kube-system/builders, MachineDeployment kube-system/testers"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.RolledMachineDeployments).To(Equal([]string{"md", "md3", "md2"}))
			},
		},
		"one that was told to roll, and lost our value before a revision was made, is not told again": {
			given: rolling, when: func(o *Observation) { o.Cluster.Status.RolledMachineDeployments = []string{"md"} },
			step: ucv1.StepRoll, fails: ucv1.MachineDeploymentFieldConflictReason, says: []string{"lost annotation forceRestart"},
		},
		"a KCM of someone else that leads holds the roll up": {
			given: rolling, when: func(o *Observation) { edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "stranger_1" }) },
			step: ucv1.StepRoll, wait: ucv1.ProvingSilenceReason, says: []string{"held by stranger_1"},
		},
		"a CCM that has not led for long needs a person": {
			given: rolling, when: func(o *Observation) {
				edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt, l.WatchedAt = ago(time.Hour), ago(2*time.Hour) })
			},
			step: ucv1.StepMachineController, fails: ucv1.LeaderDeadlineExceededReason,
		},
		"a Machine of a MachineSet whose MachineDeployment is gone is named": {
			given: verifying, when: machines(func(m *observation.Machines) {
				second(m)
				m.Deployments = m.Deployments[:1]
			}),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"Machine kube-system/b has no MachineDeployment"},
		},
	})
}

func TestRollKeepsTheBudget(t *testing.T) {
	runDecisions(t, map[string]decision{
		"one that rolls is waited for": {
			given: rolling, when: machines(func(m *observation.Machines) { second(m); m.Deployments[0].RestartValue = generation }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"MachineDeployment kube-system/workers"},
		},
		"one that someone else disrupted uses the budget up, with its name": {
			given: rolling, when: machines(func(m *observation.Machines) { second(m); m.Deployments[1].Settled = false }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBudgetReason,
			says: []string{"1 of 2 are rolling or not serving in full: kube-system/builders"},
		},
		"one that is paused and serves makes no failure of another that does not for a moment": {
			given: rolling, when: machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[0].Paused, m.Deployments[1].Settled = true, false
			}),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBudgetReason, says: []string{"kube-system/builders"},
		},
		"a Node that is tainted uses the budget up although its MachineDeployment is complete": {
			given: rolling, when: func(o *Observation) {
				machines(second)(o)
				edit(&o.Machines, func(m *observation.Machines) { m.Machines[1].NodeName = "n2" })
				edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, provenNode("n2")); (*n)[1].Uninitialized = true })
			},
			step: ucv1.StepRoll, wait: ucv1.WaitingForBudgetReason, says: []string{"kube-system/builders"},
		},
		"a Machine that is going uses the budget up although it is not counted any more": {
			given: rolling, when: machines(func(m *observation.Machines) {
				m.Machines = append(m.Machines, m.Machines[0])
				m.Machines[1].Name, m.Machines[1].Deleting, m.Machines[1].DeletingSince = "going", true, ago(time.Second)
			}),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBudgetReason,
		},
		"a budget that cannot be read allows nothing": {
			given: rolling, when: func(o *Observation) { o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromString("half")) },
			step: ucv1.StepRoll, fails: ucv1.InputInvalidReason, says: []string{"spec.rollout.maxConcurrent allows nothing"},
		},
		"nothing is rolled while the CCM does not lead": {
			given: rolling,
			when:  func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(time.Minute) }) },
			step:  ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
		},
	})
}

func TestRollNamesWhatIsBlocked(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a paused one is named when the others are done": {
			given: verifying, when: machines(func(m *observation.Machines) { second(m); m.Deployments[1].Paused = true }),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
			says: []string{"MachineDeployment kube-system/builders is paused; unpause it"},
		},
		"a paused one does not hold the others up": {
			given: rolling, when: machines(func(m *observation.Machines) { second(m); m.Deployments[1].Paused = true }),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment, says: []string{"kube-system/workers"},
		},
		"a paused one that was told to roll is named": {
			given: rolling, when: machines(func(m *observation.Machines) {
				m.Deployments[0].RestartValue, m.Deployments[0].Paused = generation, true
			}),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"is paused; unpause it"},
		},
		"our value that was taken out again is not applied again": {
			given: rolling, when: machines(func(m *observation.Machines) {
				m.Sets = append(m.Sets, observation.MachineSet{
					Ref: observation.Ref{Name: "workers-2", UID: "ms-ours"}, Deployment: "md", RestartValue: generation,
					CreatedAt: ago(25 * time.Minute),
				})
				m.Sets[0].Current = true
			}),
			step: ucv1.StepRoll, fails: ucv1.MachineDeploymentFieldConflictReason,
			says: []string{"lost annotation forceRestart", generation},
		},
		"a revision that was made after the flags is never rolled": {
			given: verifying,
			when:  machines(func(m *observation.Machines) { m.Deployments[0].RestartValue, m.Sets[0].RestartValue = "", "" }),
			step:  ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"a standalone outdated Machine is named": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Machines = append(
					m.Machines, observation.Machine{
						Ref: observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "alone"}, NodeName: "n1",
					},
				)
			}),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"Machine kube-system/alone has no MachineDeployment"},
		},
		"a Machine of a MachineSet without a MachineDeployment is named": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Sets = append(m.Sets, observation.MachineSet{Ref: observation.Ref{UID: "loose"}})
				m.Machines = append(
					m.Machines, observation.Machine{
						Ref: observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "loose"}, Set: "loose",
					},
				)
			}),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"Machine kube-system/loose"},
		},
	})
}

func TestWhatWasRolledIsNotedAlsoWhenTheStatusWasRefusedThen(t *testing.T) {
	g := NewWithT(t)
	o := verifying()
	o.Cluster.Status.RolledMachineDeployments = nil
	g.Expect(Decide(o, noon()).Facts.RolledMachineDeployments).To(Equal([]string{"md"}))
	o.Cluster.Status.RolledMachineDeployments = make([]string, 200)
	if facts := Decide(o, noon()).Facts; facts != nil {
		g.Expect(facts.RolledMachineDeployments).To(HaveLen(200), "one that was dropped does not come and go")
		g.Expect(facts.RolledMachineDeployments).NotTo(ContainElement("md"))
	}
}

func TestAMachineThatNoMachineDeploymentBootsIsTold(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a new Machine without a MachineDeployment is said to be one that does not boot": {
			given: verifying, when: machines(func(m *observation.Machines) {
				alone := observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "alone"}
				m.Machines = append(m.Machines, observation.Machine{Ref: alone, Annotation: "true", CreatedAt: ago(25 * time.Minute)})
			}),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"Machine kube-system/alone has no Node, and no MachineDeployment whose bootstrap data it could boot with"},
		},
	})
}

func TestRollKeepsDeadlines(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a new Machine within its deadline is waited for": {
			given: verifying, when: func(o *Observation) {
				edit(&o.Machines, func(m *observation.Machines) { m.Machines[0].CreatedAt = ago(time.Minute) })
				edit(&o.Nodes, func(n *[]observation.Node) { (*n)[0].Uninitialized, (*n)[0].CreatedAt = true, ago(time.Minute) })
			},
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"a new Machine that missed its deadline stops the roll with its name": {
			given: verifying, when: machines(func(m *observation.Machines) { m.Machines[0].NodeName = "" }),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"Machine kube-system/workers-2-a has no initialized Node"},
		},
		"a deletion within its deadline is waited for": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Machines = append(
					m.Machines, observation.Machine{
						Ref: observation.Ref{Kind: "Machine", Namespace: "x", Name: "old"}, Deleting: true, DeletingSince: ago(time.Minute),
					},
				)
			}),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"Machine x/old"},
		},
		"a deletion that is stuck stops the roll with its name": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Machines = append(
					m.Machines, observation.Machine{
						Ref: observation.Ref{Kind: "Machine", Namespace: "x", Name: "old"}, Deleting: true, DeletingSince: ago(time.Hour),
					},
				)
			}),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason, says: []string{"Machine x/old is being deleted and does not go"},
		},
		"a MachineDeployment that is deleted with its Machines is waited for": {
			given: rolling, when: machines(func(m *observation.Machines) { m.Deployments[0].Deleting = true }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"a MachineDeployment without Machines that is deleted is done": {
			given: verifying, when: machines(func(m *observation.Machines) {
				second(m)
				m.Deployments[1].Deleting = true
				m.Machines = m.Machines[:1]
			}),
			step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
		"a cluster without the CRDs has nothing to roll": {
			given: verifying, when: func(o *Observation) {
				o.Machines = observation.Absent[observation.Machines]()
				edit(&o.Nodes, func(n *[]observation.Node) { *n = nil })
			},
			step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
	})
}

func TestMachineControllerRow(t *testing.T) {
	first := func(change func(*observation.MachineControllerDeployment)) func(*Observation) {
		return func(o *Observation) {
			edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { change(&(*d)[0]) })
		}
	}
	runDecisions(t, map[string]decision{
		"flags in place and rolled out are recorded": {
			given: configured, step: ucv1.StepMachineController, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.MachineControllerConfiguredAt.Time).To(Equal(noon())) },
		},
		"an old pod is waited for": {
			given: configured, when: first(func(d *observation.MachineControllerDeployment) { d.RolledOut = false }),
			step: ucv1.StepMachineController, wait: ucv1.RollingOutReason,
			says: []string{"user-alpha/machine-controller is still rolling out"},
		},
		"arguments that are not understood block": {
			given: configured, when: first(func(d *observation.MachineControllerDeployment) {
				d.Arguments = observation.Arguments{Problem: "a shell"}
			}),
			step: ucv1.StepMachineController, fails: ucv1.InputInvalidReason, says: []string{"a shell"},
		},
		"a flag that is set to false is set": {
			given: configured, when: first(func(d *observation.MachineControllerDeployment) {
				d.Arguments.Flags["node-external-cloud-provider"] = "false"
			}),
			step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
		},
		"the CCM has to lead": {
			given: configured, when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason,
		},
		"without Nodes the CCM need not lead": {
			given: configured, when: func(o *Observation) { noNodes(o); o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepMachineController, action: outcome.ActionRecord,
		},
		"a flag that is lost later is recorded first, and MachineSets are judged again": {
			given: rolling, when: first(func(d *observation.MachineControllerDeployment) { d.Arguments.Flags = map[string]string{} }),
			step: ucv1.StepMachineController, action: outcome.ActionRecord, says: []string{"lost -node-external-cloud-provider"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.MachineControllerConfiguredAt).To(BeNil()) },
		},
	})
}

func TestMachineDeploymentsThatStandStillStopTheRoll(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a MachineDeployment for which no Machine was made in time stops the roll with its name": {
			given: verifying,
			when:  machines(func(m *observation.Machines) { m.Deployments[0].Replicas, m.Deployments[0].Settled = 2, false }),
			step:  ucv1.StepRoll, fails: ucv1.WaitingForMachinesReason,
			says: []string{"no Machine came or began to go of MachineDeployment kube-system/workers"},
		},
		"the endless minReadySeconds of ours is no patience": {
			given: verifying,
			when:  firstDeployment(func(d *observation.MachineDeployment) { d.Replicas, d.Settled, d.Guard = 2, false, endless() }),
			step:  ucv1.StepRoll, fails: ucv1.WaitingForMachinesReason,
		},
		"an extra Machine that a quota refuses stops the roll with what is not replaced": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Sets = append(
					m.Sets, observation.MachineSet{Ref: observation.Ref{Name: "workers-1", UID: "old"}, Deployment: m.Deployments[0].UID},
				)
				m.Deployments[0].Settled, m.Machines[0].Set = false, "old"
			}),
			step: ucv1.StepRoll, fails: ucv1.WaitingForMachinesReason,
			says: []string{"these are not replaced or not proven: workers-2-a", "a quota"},
		},
		"minReadySeconds may pass before a MachineDeployment counts as stuck": {
			given: verifying, when: machines(func(m *observation.Machines) {
				m.Deployments[0].Replicas, m.Deployments[0].Settled, m.Deployments[0].MinReadySeconds = 2, false, 7200
			}),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"a MachineDeployment that lacks a Machine for a short time is waited for": {
			given: verifying,
			when: both(firstNode(func(n *observation.Node) { n.CreatedAt = ago(time.Minute) }), machines(func(m *observation.Machines) {
				m.Deployments[0].Replicas, m.Deployments[0].Settled, m.Machines[0].CreatedAt = 2, false, ago(time.Minute)
			})),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
	})
}

func TestNodesHaveTheirDeadlineToBecomeReadyAgain(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a new Node that was initialized and is not Ready any more is waited for": {
			given: verifying, when: firstNode(func(n *observation.Node) { n.Ready, n.ReadyChangedAt = false, ago(time.Minute) }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"one whose object was made again has the time of a new one": {
			given: verifying, when: firstNode(func(n *observation.Node) { n.Uninitialized, n.CreatedAt = true, ago(time.Minute) }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"one that stays away stops no other": {
			given: verifying, when: both(firstNode(func(n *observation.Node) { n.Ready, n.ReadyChangedAt = false, ago(21*time.Minute) }),
				machines(second), func(o *Observation) {
					o.Cluster.Spec.Rollout.MaxConcurrent = new(intstr.FromInt32(2))
					edit(&o.Machines, func(m *observation.Machines) { m.Machines[1].NodeName = "n2" })
					edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, provenNode("n2")) })
				}),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"one that stays so calls a person": {
			given: verifying, when: firstNode(func(n *observation.Node) { n.Ready, n.ReadyChangedAt = false, ago(21*time.Minute) }),
			step: ucv1.StepRoll, fails: ucv1.NodesNotInitializedReason,
			says: []string{"workers-2-a, since 2026-01-01T11:39:00Z", "their kubelets"},
		},
	})
}
