package migration

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// turning is a MachineDeployment of two replicas in the middle of its roll: one old Machine, one new one whose Node registered
// four minutes ago and is not initialized.
func turning() Observation {
	o := verifying()
	edit(&o.Machines, func(m *Machines) {
		old := outdated()
		old.Sets[0].UID, old.Sets[0].Name, old.Sets[0].Current = "ms-old", "workers-1", false
		old.Machines[0].Ref, old.Machines[0].Set, old.Machines[0].NodeName = Ref{Kind: "Machine", Namespace: "kube-system", Name: "workers-1-a", UID: "old"}, "ms-old", "n0"
		m.Sets, m.Machines = append(m.Sets, old.Sets...), append(m.Machines, old.Machines...)
		m.Deployments[0].Replicas, m.Deployments[0].Complete = 2, false
		m.Deployments[0].Guard = Guard{MinReadySeconds: 270, MinReadyOurs: true}
		m.Machines[0].CreatedAt = ago(5 * time.Minute)
	})
	edit(&o.Nodes, func(n *[]Node) {
		*n = append(*n, provenNode("n0"))
		(*n)[0].Uninitialized, (*n)[0].CreatedAt = true, ago(4*time.Minute)
	})
	o.Cluster.Status.Breaker = &ucv1.BreakerStatus{Guarded: []string{"md"}}
	return o
}

func firstDeployment(change func(*MachineDeployment)) func(*Observation) {
	return machines(func(m *Machines) { change(&m.Deployments[0]) })
}

func firstNode(change func(*Node)) func(*Observation) {
	return func(o *Observation) { edit(&o.Nodes, func(n *[]Node) { change(&(*n)[0]) }) }
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
	edit(&o.Machines, func(m *Machines) {
		second(m)
		d, set, machine := &m.Deployments[1], &m.Sets[len(m.Sets)-1], &m.Machines[len(m.Machines)-1]
		d.Replicas, d.Complete, d.RestartValue, d.Guard = 2, false, generation, m.Deployments[0].Guard
		set.RestartValue, set.CreatedAt = generation, ago(25*time.Minute)
		machine.Annotation, machine.NodeName, machine.CreatedAt = "true", "n2", ago(5*time.Minute)
	})
	edit(&o.Nodes, func(n *[]Node) {
		late := provenNode("n2")
		late.Uninitialized, late.CreatedAt = true, ago(4*time.Minute)
		*n = append(*n, late)
	})
}

func lacksLeader(o *Observation) { o.CCMLease = Absent[Lease]() }

func proveFirst(n *Node) {
	*n = provenNode("n1")
	n.CreatedAt = ago(4 * time.Minute)
}

func TestBreakerTrips(t *testing.T) {
	pausedByUs := firstDeployment(func(d *MachineDeployment) { d.Paused, d.PausedByUs = true, true })
	runDecisions(t, map[string]decision{
		"a Node that is not initialized in time pauses its MachineDeployment": {
			given: turning, step: ucv1.StepRoll, verb: VerbPauseMachineDeployment,
			says: []string{"Pausing MachineDeployment kube-system/workers", "not initialized 3m0s after registering", "Node n1 of Machine kube-system/workers-2-a"},
		},
		"it is paused although the CCM does not lead, whatever row waits for that": {
			given: turning, when: lacksLeader,
			step: ucv1.StepMachineController, verb: VerbPauseMachineDeployment,
		},
		"a Node without a providerID of the provider counts, too": {
			given: turning, when: firstNode(func(n *Node) { n.Uninitialized, n.ProviderID = false, "kubermatic://x" }),
			step: ucv1.StepRoll, verb: VerbPauseMachineDeployment,
		},
		"a young Node is waited for": {
			given: turning, when: firstNode(func(n *Node) { n.CreatedAt = ago(2 * time.Minute) }), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"the deadline is that of the spec": {
			given: turning, when: func(o *Observation) { o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(600)) },
			step: ucv1.StepRoll, verb: VerbOwnMinReady, says: []string{"900 while it is rolled"},
		},
		"one that a person paused is not paused again": {
			given: turning, when: firstDeployment(func(d *MachineDeployment) { d.Paused = true }), step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason,
		},
		"one that a person unpaused is paused again": {
			given: turning, when: firstDeployment(func(d *MachineDeployment) { d.Paused, d.PausedByUs = false, false }),
			step: ucv1.StepRoll, verb: VerbPauseMachineDeployment,
		},
		"the old Node of a MachineDeployment that was not told to roll is none of ours": {
			given: rolling, when: both(firstNode(func(n *Node) { n.Uninitialized = true }), func(o *Observation) { o.Cluster.Status.RolledMachineDeployments = nil }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBudgetReason,
		},
		"a paused one says which Node and whose pause it is": {
			given: turning, when: pausedByUs, step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
			says: []string{"We paused MachineDeployment kube-system/workers, for Node n1 of Machine", "The pause is ours"},
		},
		"it says so while a row above waits, too: the CCM that broke does not lead any more": {
			given: turning, when: both(pausedByUs, lacksLeader),
			step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason, fails: ucv1.BreakerTrippedReason, says: []string{"for Node n1 of Machine"},
		},
		"our pause is taken back when the Node is proven": {
			given: turning, when: both(pausedByUs, firstNode(proveFirst)), step: ucv1.StepRoll, verb: VerbUnpauseMachineDeployment,
		},
		"our pause stays while a new Machine is unproven, however young": {
			given: turning, when: both(pausedByUs, firstNode(func(n *Node) { n.CreatedAt = ago(time.Second) })),
			step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
		},
		"an undo pauses nothing": {
			given: turning, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Rollback, o.Cluster.Status.Rollback = true, &ucv1.RollbackStatus{StartedAt: stampAgo(time.Minute)}
			},
			step: ucv1.StepUndoMachineController, verb: VerbChangeArguments,
		},
	})
}

func TestAllThatAreLateArePausedAtOnce(t *testing.T) {
	g, o := NewWithT(t), turning()
	lateSecond(&o)
	verb := Decide(o, noon()).Verb
	g.Expect(verb.Kind).To(Equal(VerbPauseMachineDeployment))
	g.Expect(refNames(verb.Objects)).To(Equal([]string{"MachineDeployment kube-system/builders", "MachineDeployment kube-system/workers"}))
	g.Expect(verb.Why).To(And(ContainSubstring("kube-system/builders: not init"), ContainSubstring("kube-system/workers: not init")))
}

func TestAPauseRepeatsNoInstruction(t *testing.T) {
	g, o := NewWithT(t), turning()
	instruct(&o)
	gated("CSIMigration=false")(&o)
	d := Decide(o, noon())
	g.Expect(d.Verb).To(HaveField("Kind", VerbPauseMachineDeployment))
	g.Expect(d.Step).To(Equal(ucv1.StepVolumeMigration))
	g.Expect(d.Instructions).To(HaveLen(1), "%+v", d.Instructions)
}

func TestARowDoesNotCountForADeletedCluster(t *testing.T) {
	g, o := NewWithT(t), turning()
	o.Cluster.DeletionTimestamp = stampAgo(0)
	edit(&o.MachineController, func(d *[]MachineControllerDeployment) { (*d)[0].Arguments.Problem = "it runs a shell" })
	d := Decide(o, noon())
	g.Expect(d.Verb).To(HaveField("Kind", VerbPauseMachineDeployment))
	g.Expect(d.Failure).To(BeNil())
}

func halted(o *Observation) {
	o.Cluster.Status.SLO = &ucv1.SLOStatus{Since: stampAgo(time.Hour), ViolatedAt: stampAgo(time.Minute)}
}

func violated(o *Observation) { measure(slow(time.Minute, "a", "b")...)(o) }

func noted(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.ViolatedAt).NotTo(BeNil()) }

func TestAPersonIsCalledWhateverElseIsDone(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a row above that waits ends no halt": {
			given: turning, when: both(halted, heldByUs, firstNode(proveFirst), lacksLeader), step: ucv1.StepMachineController,
			wait: ucv1.WaitingForLeaderReason, fails: ucv1.SLOViolatedReason,
		},
		"a violation is noted while a row above waits": {
			given: turning, when: both(violated, heldByUs, firstNode(proveFirst), lacksLeader), step: ucv1.StepMachineController,
			wait: ucv1.WaitingForLeaderReason, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"giving minReadySeconds of one that is done back ends no halt": {
			given: turning, when: both(halted, firstNode(proveFirst), func(o *Observation) {
				edit(&o.Machines, func(m *Machines) {
					second(m)
					m.Machines = slices.DeleteFunc(m.Machines, func(machine Machine) bool { return machine.UID == "old" })
					m.Deployments[0].Replicas, m.Deployments[0].Complete = 1, true
				})
			}), step: ucv1.StepRoll, verb: VerbReturnMinReady, fails: ucv1.SLOViolatedReason,
		},
		"what a person was called for stays beside the pause": {
			given: turning, when: func(o *Observation) {
				edit(&o.MachineController, func(d *[]MachineControllerDeployment) { (*d)[0].Arguments.Problem = "it runs a shell" })
			}, step: ucv1.StepMachineController,
			verb: VerbPauseMachineDeployment, fails: ucv1.InputInvalidReason,
		},
	})
}

func TestObjectivesPauseWhatRolls(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a roll that goes on is paused, too": {
			given: turning, when: both(halted, firstNode(proveFirst)), step: ucv1.StepRoll, verb: VerbPauseMachineDeployment,
			fails: ucv1.SLOViolatedReason, why: "Pausing MachineDeployment kube-system/workers: the objectives for the CCM were violated.",
		},
		"its pause stays as long as the halt, and the objectives are the reason": {
			given: turning, when: both(halted, heldByUs, firstNode(proveFirst)), step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason,
			says: []string{"What was rolling is paused by us."},
		},
		"a violation while the breaker waits for a Node is noted, so that its pause outlasts the Node": {
			given: turning, when: both(heldByUs, violated), step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason, facts: noted,
			says: []string{"for Node n1", "spec.slo.countSince"},
		},
		"the breaker's pause is not taken back in the pass that sees the violation": {
			given: turning, when: both(heldByUs, firstNode(proveFirst), violated), step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"one that was rolled and is scaled up is not halted": {
			given: turning, when: both(violated, firstNode(func(n *Node) { n.CreatedAt = ago(time.Minute) }), machines(func(m *Machines) {
				m.Machines = slices.DeleteFunc(m.Machines, func(machine Machine) bool { return machine.UID == "old" })
				m.Machines[0].CreatedAt = ago(2 * time.Minute)
			})), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.ViolatedAt).To(BeNil()) },
		},
		"a person who looked is heard while nothing is measured": {
			given: turning, when: both(halted, firstNode(proveFirst), func(o *Observation) {
				o.Cluster.Status.MachineControllerConfiguredAt, o.Cluster.Spec.SLO.CountSince = nil, stampAgo(time.Second)
			}), step: ucv1.StepMachineController, verb: VerbRecord,
		},
		"a Node that missed its deadline is the nearer reason": {
			given: turning, when: both(halted, heldByUs), step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
		},
		"the pause goes with the halt": {
			given: turning, when: both(halted, heldByUs, firstNode(proveFirst), func(o *Observation) {
				o.Cluster.Spec.SLO.CountSince = stampAgo(time.Second)
			}), step: ucv1.StepRoll, verb: VerbUnpauseMachineDeployment,
		},
		"nothing is paused where a violation is only reported": {
			given: turning, when: both(halted, firstNode(proveFirst), func(o *Observation) {
				o.Cluster.Spec.SLO.OnViolation = ucv1.ContinueOnViolation
			}), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"a deleted Cluster lets go": {
			given: turning, when: both(halted, heldByUs, firstNode(proveFirst), func(o *Observation) { o.Cluster.DeletionTimestamp = stampAgo(0) }),
			step: ucv1.StepRoll, verb: VerbUnpauseMachineDeployment,
		},
	})
}

func TestBreakerTakes(t *testing.T) {
	free := firstDeployment(func(d *MachineDeployment) { d.Guard = Guard{} })
	runDecisions(t, map[string]decision{
		"minReadySeconds is taken before a MachineDeployment is rolled": {
			given: rolling, when: free, step: ucv1.StepRoll, verb: VerbOwnMinReady, says: []string{"Taking minReadySeconds of MachineDeployment kube-system/workers, 270"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker.Guarded).To(Equal([]string{"md"})) },
		},
		"when it is ours the roll begins": {
			given: rolling, when: firstDeployment(func(d *MachineDeployment) { d.Guard = Guard{MinReadyOurs: true, MinReadySeconds: 270} }),
			step: ucv1.StepRoll, verb: VerbRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker).To(BeNil()) },
		},
		"somebody else's value is theirs, and a warning says what that means": {
			given: rolling, when: firstDeployment(func(d *MachineDeployment) { d.Guard = Guard{MinReadySeconds: 5, MinReadyOwner: "argocd"} }),
			step: ucv1.StepRoll, verb: VerbRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Breaker.Warnings).To(ConsistOf(ContainSubstring("minReadySeconds is 5, by argocd, and not the 270")))
			},
		},
		"what was taken from us is not taken again": {
			given: rolling, when: both(free, func(o *Observation) { o.Cluster.Status.Breaker = &ucv1.BreakerStatus{Guarded: []string{"md"}} }),
			step: ucv1.StepRoll, verb: VerbRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker.Warnings).To(HaveLen(1)) },
		},
	})
}

func TestBreakerGivesBack(t *testing.T) {
	paused := Guard{PausedByUs: true, MinReadyOurs: true, MinReadySeconds: 270}
	runDecisions(t, map[string]decision{
		"it is given back when the last ones are proven, while they are not available yet": {
			given: turning, when: both(firstNode(proveFirst), firstDeployment(func(d *MachineDeployment) { d.Replicas = 1 })),
			step: ucv1.StepRoll, verb: VerbReturnMinReady,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Breaker).To(BeNil()) },
		},
		"what it said stays": {
			given: turning, when: both(firstNode(proveFirst), firstDeployment(func(d *MachineDeployment) { d.Replicas = 1 }), func(o *Observation) {
				o.Cluster.Status.Breaker.Warnings = []string{"Beware."}
			}),
			step: ucv1.StepRoll, verb: VerbReturnMinReady,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Breaker).To(Equal(&ucv1.BreakerStatus{Guarded: []string{}, Warnings: []string{"Beware."}}))
			},
		},
		"it stays while more Machines will be made": {
			given: turning, when: firstNode(proveFirst), step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
		},
		"it is given back by one that is done": {
			given: verifying, when: firstDeployment(func(d *MachineDeployment) { d.Guard = Guard{MinReadyOurs: true, MinReadySeconds: 270} }),
			step: ucv1.StepRoll, verb: VerbReturnMinReady,
		},
		"it is given back by one that a person paused before it was rolled": {
			given: rolling, when: firstDeployment(func(d *MachineDeployment) {
				d.Paused, d.Guard = true, Guard{MinReadyOurs: true, MinReadySeconds: 270}
			}),
			step: ucv1.StepRoll, verb: VerbReturnMinReady,
		},
		"it stays, and so does the pause, while another owner of the template rolls back what nobody watches": {
			given: turning, when: both(firstDeployment(func(d *MachineDeployment) { d.RestartValue, d.Paused, d.Guard = "", true, paused }), machines(func(m *Machines) {
				for i := range m.Sets {
					m.Sets[i].Current = false
				}
			})),
			step: ucv1.StepRoll, fails: ucv1.BreakerTrippedReason,
		},
		"in an undo it stays until the template says in-tree again": {
			given: rollingBack, when: firstDeployment(func(d *MachineDeployment) { d.Paused, d.Guard = true, paused }),
			step: ucv1.StepUndoRoll, verb: VerbRollMachineDeployment,
		},
		"in an undo it is given back with the pause when the template says so": {
			given: rollingBack, when: firstDeployment(func(d *MachineDeployment) { d.RestartValue, d.Paused, d.Guard = back, true, paused }),
			step: ucv1.StepUndoRoll, verb: VerbReturnMinReady,
		},
	})
}

func TestAPauseNamesWhatRollsOnWithoutTheBreaker(t *testing.T) {
	g := NewWithT(t)
	o := turning()
	g.Expect(Decide(o, noon()).RollsOn).To(BeEmpty(), "the breaker watches it")
	o.Cluster.Spec.Paused = true
	decision := Decide(o, noon())
	g.Expect(decision.Verb).To(BeNil())
	g.Expect(decision.RollsOn).To(Equal("MachineDeployment kube-system/workers"))
	firstDeployment(func(d *MachineDeployment) { d.Paused = true })(&o)
	g.Expect(Decide(o, noon()).RollsOn).To(BeEmpty(), "a person stopped it")
}

func TestThePassThatSeesALateNodeIsNotLate(t *testing.T) {
	age := func(d time.Duration) func(*Observation) { return firstNode(func(n *Node) { n.CreatedAt = ago(d) }) }
	for name, test := range map[string]struct {
		when func(*Observation)
		want time.Duration
	}{
		"a young Node is looked at when the objectives are missed": {age(10 * time.Second), 52 * time.Second},
		"and again at the breaker's deadline":                      {age(100 * time.Second), 82 * time.Second},
		"which may come first": {
			both(age(10*time.Second), func(o *Observation) { o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(15)) }), 7 * time.Second,
		},
		"a row that waits for something else does not matter": {both(age(10*time.Second), func(o *Observation) { o.CCMLease = Absent[Lease]() }), 52 * time.Second},
		"one that is late is looked at as usual":              {age(4 * time.Minute), 0},
		"one that is initialized is not awaited":              {firstNode(proveFirst), 0},
		"nor is one of a Machine that goes":                   {both(age(10*time.Second), machines(func(m *Machines) { m.Machines[0].Deleting = true })), 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := turning()
			test.when(&o)
			NewWithT(t).Expect(Decide(o, noon()).LookAfter).To(Equal(test.want))
		})
	}
}

func TestGuardOutlastsTheDeadline(t *testing.T) {
	g := NewWithT(t)
	for _, deadline := range []time.Duration{time.Second, time.Minute, 3 * time.Minute, time.Hour} {
		left := time.Duration(RealDeadlines().guardSeconds(deadline))*time.Second - deadline
		g.Expect(left).To(BeNumerically(">=", 30*time.Second), "after a deadline of %s", deadline)
	}
}
