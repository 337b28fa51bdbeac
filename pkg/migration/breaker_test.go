package migration

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// turning is a MachineDeployment of two replicas in the middle of its roll: one old Machine, one new one whose Node registered
// four minutes ago and is not initialized.
func turning() Observation {
	o := verifying()
	edit(&o.Machines, func(m *observation.Machines) {
		old := outdated()
		old.Sets[0].UID, old.Sets[0].Name, old.Sets[0].Current = "ms-old", "workers-1", false
		old.Sets[0].Replicas, old.Sets[0].Version = 1, "9"
		old.Machines[0].Ref, old.Machines[0].Set, old.Machines[0].NodeName = observation.Ref{
			Kind:      "Machine",
			Namespace: "kube-system",
			Name:      "workers-1-a",
			UID:       "old",
		}, "ms-old", "n0"
		m.Sets, m.Machines = append(m.Sets, old.Sets...), append(m.Machines, old.Machines...)
		m.Deployments[0].Replicas, m.Deployments[0].MaxUnavailable, m.Deployments[0].Settled = 2, 1, false
		m.Deployments[0].Guard = endless()
		m.Machines[0].CreatedAt = ago(5 * time.Minute)
	})
	edit(&o.Nodes, func(n *[]observation.Node) {
		*n = append(*n, provenNode("n0"))
		(*n)[0].Uninitialized, (*n)[0].CreatedAt = true, ago(4*time.Minute)
	})
	o.Cluster.Status.Breaker = &ucv1.BreakerStatus{Guarded: []string{"md"}}
	return o
}

func endless() observation.Guard {
	return observation.Guard{MinReadySeconds: rollout.EndlessMinReadySeconds, MinReadyOurs: true}
}

// proving is the same with a new Machine that is proven.
func proving() Observation {
	o := turning()
	firstNode(proveFirst)(&o)
	return o
}

// alone is the end of it: one replica, and the old Machine is gone.
func alone(o *Observation) {
	machines(func(m *observation.Machines) {
		m.Deployments[0].Replicas, m.Sets[1].Replicas = 1, 0
		m.Machines = slices.DeleteFunc(m.Machines, func(machine observation.Machine) bool { return machine.UID == "old" })
	})(o)
}

func firstDeployment(change func(*observation.MachineDeployment)) func(*Observation) {
	return machines(func(m *observation.Machines) { change(&m.Deployments[0]) })
}

func firstNode(change func(*observation.Node)) func(*Observation) {
	return func(o *Observation) { edit(&o.Nodes, func(n *[]observation.Node) { change(&(*n)[0]) }) }
}

func both(changes ...func(*Observation)) func(*Observation) {
	return func(o *Observation) {
		for _, change := range changes {
			change(o)
		}
	}
}

// lateSecond is another MachineDeployment with a Node that is not initialized.
func lateSecond(o *Observation) {
	edit(&o.Machines, func(m *observation.Machines) {
		second(m)
		d, set, machine := &m.Deployments[1], &m.Sets[len(m.Sets)-1], &m.Machines[len(m.Machines)-1]
		d.Replicas, d.Settled, d.RestartValue, d.Guard = 2, false, generation, m.Deployments[0].Guard
		set.RestartValue, set.CreatedAt = generation, ago(25*time.Minute)
		machine.Annotation, machine.NodeName, machine.CreatedAt = "true", "n2", ago(5*time.Minute)
	})
	edit(&o.Nodes, func(n *[]observation.Node) {
		late := provenNode("n2")
		late.Uninitialized, late.CreatedAt = true, ago(4*time.Minute)
		*n = append(*n, late)
	})
}

func lacksLeader(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() }

func proveFirst(n *observation.Node) {
	*n = provenNode("n1")
	n.CreatedAt = ago(4 * time.Minute)
}

func TestBreakerTrips(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a Node that is not initialized in time calls a person, and nothing more is rolled": {
			given: turning, step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
			says: []string{"no further old Machine goes: not initialized within 3m0s: Node n1 of Machine " +
				"kube-system/workers-2-a"},
		},
		"so does one whose CCM does not lead, whatever row waits for that": {
			given: turning,
			when:  lacksLeader,
			step:  ucv1.StepMachineController,
			wait:  ucv1.WaitingForLeaderReason,
			fails: ucv1.BreakerTrippedReason,
		},
		"a Node without a providerID of the provider counts, too": {
			given: turning, when: firstNode(func(n *observation.Node) { n.Uninitialized, n.ProviderID = false, "kubermatic://x" }),
			step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
		},
		"a young Node is waited for": {
			given: turning,
			when:  firstNode(func(n *observation.Node) { n.CreatedAt = ago(2 * time.Minute) }),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"the deadline is that of the spec": {
			given: turning, when: func(o *Observation) { o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(600)) },
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"every late Node is named": {
			given: turning,
			when:  lateSecond,
			step:  ucv1.StepRoll,
			fails: ucv1.BreakerTrippedReason,
			says:  []string{"Node n1 of Machine", "Node n2 of Machine"},
		},
		"another MachineDeployment does not go on either": {
			given: proving, when: lateSecond, step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason, says: []string{"Node n2 of Machine"},
		},
		"the old Node of a MachineDeployment that was not told to roll is none of ours": {
			given: rolling,
			when: both(
				firstNode(func(n *observation.Node) { n.Uninitialized = true }),
				func(o *Observation) { o.Cluster.Status.RolledMachineDeployments = nil },
			),
			step: ucv1.StepRoll,
			wait: ucv1.WaitingForBudgetReason,
		},
		"a deleted Cluster says how to let it go as it is": {
			given: turning,
			when:  func(o *Observation) { o.Cluster.DeletionTimestamp = stampAgo(0) },
			step:  ucv1.StepRoll,
			fails: ucv1.BreakerTrippedReason,
			says:  []string{"or at once with annotation usercluster.k8c.io/abandon=true"},
		},
		"a rollback is not held up": {
			given: turning, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Rollback, o.Cluster.Status.Rollback = true, &ucv1.RollbackStatus{StartedAt: stampAgo(time.Minute)}
			},
			step: ucv1.StepRollbackMachineController, action: outcome.ActionChangeArguments,
		},
	})
}

func halted(o *Observation) {
	o.Cluster.Status.SLO = &ucv1.SLOStatus{Since: stampAgo(time.Hour), ViolatedAt: stampAgo(time.Minute)}
}

func violated(o *Observation) { measure(slow(time.Minute, "a", "b")...)(o) }

func noted(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.ViolatedAt).NotTo(BeNil()) }

func TestAPersonIsCalledWhateverElseIsDone(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a row above that waits ends no halt": {
			given: proving, when: both(halted, lacksLeader), step: ucv1.StepMachineController,
			wait: ucv1.WaitingForLeaderReason, fails: ucv1.SLOViolatedReason,
		},
		"a violation is noted while a row above waits": {
			given: proving, when: both(violated, lacksLeader), step: ucv1.StepMachineController,
			wait: ucv1.WaitingForLeaderReason, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"giving minReadySeconds of one that is done back ends no halt": {
			given:  proving,
			when:   both(halted, alone, machines(second)),
			step:   ucv1.StepRoll,
			action: outcome.ActionReturnMinReady,
			fails:  ucv1.SLOViolatedReason,
		},
	})
}

func TestObjectivesHoldWhatRolls(t *testing.T) {
	runDecisions(t, map[string]decision{
		"no further old Machine goes": {
			given: proving,
			when:  halted,
			step:  ucv1.StepRoll,
			fails: ucv1.SLOViolatedReason,
			says:  []string{"no further old Machine goes"},
		},
		"nor in the pass that sees the violation": {
			given: proving, when: violated, step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"a violation while the breaker waits for a Node is noted": {
			given: turning, when: violated, step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason, facts: noted, says: []string{"Node n1"},
		},
		"one that was rolled and is scaled up is not halted": {
			given: turning,
			when: both(
				violated,
				firstNode(func(n *observation.Node) { n.CreatedAt = ago(time.Minute) }),
				machines(func(m *observation.Machines) {
					m.Machines = slices.DeleteFunc(m.Machines, func(machine observation.Machine) bool { return machine.UID == "old" })
					m.Machines[0].CreatedAt = ago(2 * time.Minute)
				}),
			),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.ViolatedAt).To(BeNil()) },
		},
		"a person who looked is heard while nothing is measured": {
			given: proving, when: both(halted, func(o *Observation) {
				o.Cluster.Status.MachineControllerConfiguredAt, o.Cluster.Spec.SLO.CountSince = nil, stampAgo(time.Second)
			}), step: ucv1.StepMachineController, action: outcome.ActionRecord,
		},
		"it goes on when a person looked": {
			given:  proving,
			when:   both(halted, func(o *Observation) { o.Cluster.Spec.SLO.CountSince = stampAgo(time.Second) }),
			step:   ucv1.StepRoll,
			action: outcome.ActionStepMachineSet,
		},
		"nothing is held where a violation is only reported": {
			given: proving, when: both(halted, func(o *Observation) { o.Cluster.Spec.SLO.OnViolation = ucv1.ContinueOnViolation }),
			step: ucv1.StepRoll, action: outcome.ActionStepMachineSet,
		},
	})
}

func TestBreakerTakes(t *testing.T) {
	runDecisions(t, map[string]decision{
		"an endless minReadySeconds goes along with the roll": {
			given: rolling, step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker.Guarded).To(Equal([]string{"md"})) },
		},
		"the value of another owner blocks, by its name": {
			given: rolling, when: firstDeployment(func(d *observation.MachineDeployment) {
				d.Guard = observation.Guard{MinReadySeconds: 5, MinReadyOwner: "argocd"}
			}),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"minReadySeconds of MachineDeployment " +
				"kube-system/workers is 5, by argocd"},
		},
		"a limit that cannot be read blocks": {
			given: rolling,
			when:  firstDeployment(func(d *observation.MachineDeployment) { d.LimitProblem = observation.Say("maxSurge is no number") }),
			step:  ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"maxSurge is no number"},
		},
		"whoever takes it in the middle of the roll is named, and nothing more is rolled": {
			given: proving, when: firstDeployment(func(d *observation.MachineDeployment) {
				d.Guard = observation.Guard{MinReadySeconds: 5, MinReadyOwner: "argocd"}
			}),
			step: ucv1.StepRoll, fails: ucv1.MachineDeploymentFieldConflictReason, says: []string{"kube-system/workers, by argocd"},
		},
		"what was taken but not noted is noted": {
			given:  proving,
			when:   func(o *Observation) { o.Cluster.Status.Breaker = nil },
			step:   ucv1.StepRoll,
			action: outcome.ActionStepMachineSet,
			facts:  func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker.Guarded).To(Equal([]string{"md"})) },
		},
	})
	o := rolling()
	action := Decide(o, noon()).Next()
	NewWithT(t).Expect([]any{action.Endless, action.RestartValue}).To(Equal([]any{true, generation}))
}

func TestBreakerGivesBack(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is given back when all are proven and no old one is left": {
			given: proving, when: alone, step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker).To(BeNil()) },
		},
		"not while it is paused: the machine-controller would scale the old MachineSet up": {
			given: proving,
			when:  both(alone, firstDeployment(func(d *observation.MachineDeployment) { d.Paused = true })),
			step:  ucv1.StepRoll,
			fails: ucv1.BlockedMachinesReason,
		},
		"not while an old MachineSet wants Machines": {
			given: proving,
			when:  both(alone, machines(func(m *observation.Machines) { m.Sets[1].Replicas = 1 })),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"not while a new one is not proven": {
			given: turning,
			when:  both(alone, firstNode(func(n *observation.Node) { n.CreatedAt = ago(time.Minute) })),
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
		"nor while another owner of the template rolls back": {
			given: proving,
			when: both(
				alone,
				firstDeployment(func(d *observation.MachineDeployment) { d.RestartValue = "" }),
				machines(func(m *observation.Machines) {
					for i := range m.Sets {
						m.Sets[i].Current = false
					}
				}),
			),
			step:  ucv1.StepRoll,
			fails: ucv1.MachineDeploymentFieldConflictReason,
		},
		"in a rollback it goes with the write that says in-tree again": {
			given:  turningBack,
			when:   firstDeployment(func(d *observation.MachineDeployment) { d.Guard = endless() }),
			step:   ucv1.StepRollbackRoll,
			action: outcome.ActionRollMachineDeployment,
		},
	})
	g, o := NewWithT(t), proving()
	alone(&o)
	action := Decide(o, noon()).Next()
	g.Expect([]any{action.RestartValue, action.Endless, action.Versions}).To(
		Equal([]any{generation, false, []string{"7"}}),
		"the annotation stays, and the object is as it was seen",
	)
	o = turningBack()
	firstDeployment(func(d *observation.MachineDeployment) { d.Guard = endless() })(&o)
	g.Expect(Decide(o, noon()).Next().Endless).To(BeFalse())
}

func TestAPauseOfTheClusterNamesWhatIsHalfRolled(t *testing.T) {
	g, o := NewWithT(t), proving()
	g.Expect(Decide(o, noon()).RollsOn).To(BeEmpty())
	o.Cluster.Spec.Paused = true
	decision := Decide(o, noon())
	g.Expect(decision.Next()).To(BeNil(), "no step is granted")
	g.Expect(decision.RollsOn).To(Equal("MachineDeployment kube-system/workers"))
	firstDeployment(func(d *observation.MachineDeployment) { d.Paused = true })(&o)
	g.Expect(Decide(o, noon()).RollsOn).To(Equal("MachineDeployment kube-system/workers"), "the machine-controller scales a "+
		"paused one, too")

	rolledBack := turningBack()
	rolledBack.Cluster.Spec.Paused = true
	firstDeployment(func(d *observation.MachineDeployment) { d.RestartValue = back })(&rolledBack)
	g.Expect(Decide(rolledBack, noon()).RollsOn).To(Equal("MachineDeployment kube-system/workers"))
	firstDeployment(func(d *observation.MachineDeployment) { d.Paused = true })(&rolledBack)
	g.Expect(Decide(rolledBack, noon()).RollsOn).To(BeEmpty(), "no breaker holds it, so its own pause does")
}

func TestThePassThatSeesALateNodeIsNotLate(t *testing.T) {
	age := func(d time.Duration) func(*Observation) {
		return firstNode(func(n *observation.Node) { n.CreatedAt = ago(d) })
	}
	for name, test := range map[string]struct {
		when func(*Observation)
		want time.Duration
	}{
		"a young Node is looked at when the objectives are missed": {age(10 * time.Second), 52 * time.Second},
		"and again at the breaker's deadline":                      {age(100 * time.Second), 82 * time.Second},
		"which may come first": {
			both(
				age(10*time.Second), func(o *Observation) { o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(15)) },
			), 7 * time.Second,
		},
		"a row that waits for something else does not matter": {both(age(10*time.Second), func(o *Observation) { o.Addons = observation.Unknown[observation.Addons]("timeout") }), 52 * time.Second},
		"one that is late is looked at as usual":              {age(4 * time.Minute), 0},
		"one that is initialized is not awaited":              {firstNode(proveFirst), 0},
		"nor is one of a Machine that goes":                   {both(age(10*time.Second), machines(func(m *observation.Machines) { m.Machines[0].Deleting = true })), 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := turning()
			test.when(&o)
			NewWithT(t).Expect(Decide(o, noon()).LookAfter).To(Equal(test.want))
		})
	}
}
