package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// Static pods on Nodes a, b, and c, which an administrator gives the migration lock and takes it from; a leads.

func staticUnlocked() Observation {
	o := unlocked()
	staticPlane(&o, inTree(), inTree(), inTree())
	recordStatic(&o)
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil
	return o
}

// halfArmed: Nodes b and c have the lock.
func halfArmed() Observation {
	o := staticUnlocked()
	staticPlane(&o, inTree(), locked(inTree()), locked(inTree()))
	recordArmed(&o, "b", "c")
	return o
}

// recordArmed records the processes with the lock of Nodes beside those before them, which have ended.
func recordArmed(o *Observation, nodes ...string) {
	recordStatic(o, nodes...)
	for _, node := range nodes {
		o.Cluster.Status.Handover.Processes = append(o.Cluster.Status.Handover.Processes, ucv1.ManagerProcess{
			PodUID: "uid-" + node, PodName: "kcm-" + node, NodeName: node, BootID: "boot-" + node, ConfigHash: "hash-" + node,
		})
	}
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
}

// allArmed: a holds both Leases.
func allArmed() Observation {
	o := staticUnlocked()
	staticPlane(&o, locked(inTree()), locked(inTree()), locked(inTree()))
	recordArmed(&o, "a", "b", "c")
	o.Cluster.Status.Handover.LockArmedAt = stampAgo(time.Minute)
	edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("host-a_1") })
	return o
}

// staticBothLocked waits for the administrator to switch the loops off.
func staticBothLocked() Observation {
	o := allArmed()
	o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(20 * time.Second)
	edit(&o.Fence, func(f *observation.Fence) { f.Open = true })
	o.CCMLease = finished().CCMLease
	return o
}

// halfDisarmed: Node b has its loops off and no lock.
func halfDisarmed() Observation {
	o := staticBothLocked()
	staticPlane(&o, locked(inTree()), silentArguments(), locked(inTree()))
	recordArmed(&o, "a", "b", "c")
	o.Cluster.Status.Handover.ChangingSince = stampAgo(time.Minute)
	return o
}

// endAll lets every recorded process have ended.
func endAll(o *Observation) {
	for i := range o.Cluster.Status.Handover.Processes {
		o.Cluster.Status.Handover.Processes[i].EndedAt = microAgo(20 * time.Second)
	}
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
}

// armedInstruction is what gives the lock to a Node.
func armedInstruction(order int32, node string) ucv1.Instruction {
	configuration, _ := handover.RenderLock(fresh().Cluster, "openstack")
	return ucv1.Instruction{
		Order: order, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-" + node, Node: node, Leader: node == "a",
		Set:   []string{"--enable-leader-migration=true", "--leader-migration-config=/etc/ccm-migration/leader-migration.yaml"},
		Files: []ucv1.InstructedFile{{Path: handover.LockPath, Volume: handover.LockVolume, Content: configuration.File.Data}},
	}
}

// disarmedInstruction is what takes it from a Node.
func disarmedInstruction(order int32, node string) ucv1.Instruction {
	return ucv1.Instruction{
		Order: order, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-" + node, Node: node, Leader: node == "a",
		Set:         []string{silentControllers},
		Remove:      []string{"--enable-leader-migration", "--leader-migration-config"},
		RemoveFiles: []string{handover.LockPath},
	}
}

func doneWith(instruction ucv1.Instruction) ucv1.Instruction {
	instruction.Done = true
	return instruction
}

func TestTheLockIsInstructed(t *testing.T) {
	left := []ucv1.Instruction{doneWith(armedInstruction(1, "b")), doneWith(armedInstruction(2, "c")), armedInstruction(3, "a")}
	runInstructions(t, map[string]instructionTest{
		"every Node gets the file and the flags, the leader's at last": {
			given: staticUnlocked,
			want:  []ucv1.Instruction{armedInstruction(1, "b"), armedInstruction(2, "c"), armedInstruction(3, "a")},
		},
		"Nodes that have it, and whose former process has ended, are done": {given: halfArmed, want: left},
		"a Node whose former process is not proven to have ended is not done": {
			given: halfArmed, when: func(o *Observation) {
				o.Cluster.Status.Handover.Processes[2].EndedAt = nil
				o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
			},
			want: []ucv1.Instruction{doneWith(armedInstruction(1, "b")), armedInstruction(2, "c"), armedInstruction(3, "a")},
		},
		"a Node whose new container does not run is not done": {
			given: halfArmed, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[2].RunningSince = time.Time{} })
			},
			want: []ucv1.Instruction{doneWith(armedInstruction(1, "b")), armedInstruction(2, "c"), armedInstruction(3, "a")},
		},
		"what was begun keeps its list while something before it waits": {
			given: halfArmed, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Deployment kube-system/ccm has no pod") })
			},
			want: left,
		},
		"what was not begun has none": {
			given: staticUnlocked, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Deployment kube-system/ccm has no pod") })
			},
		},
		"when all have it, nothing is left to change": {given: allArmed},
		"the loops go with the lock and its file": {
			given: staticBothLocked,
			want:  []ucv1.Instruction{disarmedInstruction(1, "b"), disarmedInstruction(2, "c"), disarmedInstruction(3, "a")},
		},
		"a Node that is rid of both is not done until its former process has ended": {
			given: halfDisarmed,
			want:  []ucv1.Instruction{disarmedInstruction(1, "b"), disarmedInstruction(2, "c"), disarmedInstruction(3, "a")},
		},
		"then it is": {
			given: halfDisarmed, when: endAll,
			want: []ucv1.Instruction{doneWith(disarmedInstruction(1, "b")), disarmedInstruction(2, "c"), disarmedInstruction(3, "a")},
		},
		"loops that are back are to be switched off": {
			given: halfDisarmed, when: func(o *Observation) {
				o.Cluster.Status.Handover.LoopsOffAt = stampAgo(time.Second)
				edit(&o.Fence, func(f *observation.Fence) { f.Open = false })
				staticPlane(o, silentArguments(), inTree(), silentArguments())
				endAll(o)
			},
			want: []ucv1.Instruction{disarmedInstruction(1, "b"), doneWith(disarmedInstruction(2, "c")), doneWith(disarmedInstruction(3, "a"))},
		},
		"a Node without loops that keeps the lock has to lose it": {
			given: halfDisarmed, when: func(o *Observation) {
				staticPlane(o, locked(inTree()), locked(silentArguments()), locked(inTree()))
			},
			want: []ucv1.Instruction{disarmedInstruction(1, "b"), disarmedInstruction(2, "c"), disarmedInstruction(3, "a")},
		},
	})
}

func TestOthersGiveKCMTheLock(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is asked for": {
			given: staticUnlocked, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.WaitingForAdministratorReason,
			says:  []string{"The migration lock has to be given, one after the other, to kube-controller-manager on Node b, "},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LockArmedAt).To(BeNil()) },
		},
		"of a Deployment that is not ours to change, too": {
			given: unlocked, when: instruct, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.WaitingForAdministratorReason,
			says: []string{"to Deployment user-alpha/kube-controller-manager, as status.instructions says"},
		},
		"not while a Node is NotReady": {
			given: staticUnlocked, when: notReady, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.NodesNotReadyReason,
		},
		"a NotReady Node is no reason to stop half way": {
			given: halfArmed, when: notReady, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.WaitingForAdministratorReason,
		},
		"the administrator has time: KCM runs the loops": {
			given: halfArmed, when: func(o *Observation) { o.Cluster.Status.Handover.StartedAt = stampAgo(90 * 24 * time.Hour) },
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.WaitingForAdministratorReason,
		},
	})
}

func TestTheFenceStaysClosedUntilOthersGaveTheLockEverywhere(t *testing.T) {
	runDecisions(t, map[string]decision{
		"that all have it is noted": {
			given: allArmed, when: func(o *Observation) { o.Cluster.Status.Handover.LockArmedAt = nil },
			step: ucv1.StepHandover, line: "KCMArmed", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LockArmedAt.Time).To(Equal(noon())) },
		},
		"a Node that cannot be seen is no Node with the lock": {
			given: allArmed, when: func(o *Observation) {
				o.Cluster.Status.Handover.LockArmedAt = nil
				hideNode(o)
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"Node a shows no static pod"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LockArmedAt).To(BeNil()) },
		},
		"the fence stays closed beside a Node that cannot be seen any more": {
			given: allArmed, when: func(o *Observation) {
				hideNode(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = true })
				edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "host-b_1" })
				endAll(o)
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"Node a shows no static pod"},
		},
		"and beside one whose former process is not proven to have ended": {
			given: allArmed, when: func(o *Observation) {
				o.Cluster.Status.Handover.Processes[1].EndedAt = nil
				o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"Pod kube-system/kcm-b"},
		},
		"and while no one holds the lock": {
			given: allArmed, when: lockOf(observation.Lease{}), step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
			says: []string{"No one holds the migration lock yet"},
		},
		"for ten minutes at most": {
			given: allArmed, when: func(o *Observation) {
				lockOf(observation.Lease{})(o)
				o.Cluster.Status.Handover.LockArmedAt = stampAgo(11 * time.Minute)
			},
			step: ucv1.StepHandover, line: "KCMArmed", fails: ucv1.ArmingReason,
		},
		"also when it was closed after a contention": {
			given: staticBothLocked, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open = false })
				hideNode(o)
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"Node a shows no static pod"},
		},
		"and one that was opened and not noted is waited for": {
			given: staticUnlocked, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = true, []string{"update"} })
				recordArmed(o, "a")
				endAll(o) // A record that has ended is none of a pod that shows loops.
			},
			step: ucv1.StepAddons, wait: ucv1.ProvingSilenceReason,
			says: []string{"Pod kube-system/kcm-a may run cloud loops without the migration lock"},
		},
	})
}

func TestTheFenceOpensWhenOthersGaveTheLockEverywhere(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is opened": {given: allArmed, step: ucv1.StepHandover, line: "CCMArmed", action: outcome.ActionOpenFence},
		"a Node that loses the lock again is contended": {
			given: allArmed, when: func(o *Observation) { staticPlane(o, locked(inTree()), inTree(), locked(inTree())) },
			step: ucv1.StepHandover, line: "KCMArmed", fails: ucv1.CloudLoopsContendedReason,
		},
	})
}

// hideNode has Node a show nothing.
func hideNode(o *Observation) {
	edit(&o.ControlPlane, func(c *observation.ControlPlane) {
		c.KCM.Pods, c.KCM.Unseen, c.KCM.RolledOut = c.KCM.Pods[1:], messages.Said("Node a shows no static pod."), false
	})
}

func TestOthersTakeTheLockFromKCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is asked for when the CCM leads, and there is time": {
			given: staticBothLocked, when: func(o *Observation) { o.Cluster.Status.Handover.LockArmedAt = stampAgo(48 * time.Hour) },
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
			says: []string{"have to be switched off and the migration lock taken out, one after the other, in kube-controller-manager on Node b"},
		},
		"half way, the former processes of those that are changed hold nothing up": {
			given: halfDisarmed, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
			says: []string{"on Node c", "on Node a", "Proving that what ran before has ended: kube-controller-manager on Node b"},
		},
		"the rest has to follow within ten minutes": {
			given: halfDisarmed, when: func(o *Observation) { o.Cluster.Status.Handover.ChangingSince = stampAgo(11 * time.Minute) },
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.WaitingForAdministratorReason,
		},
		"a Node that runs its loops without the lock closes the fence": {
			given: halfDisarmed, when: func(o *Observation) { staticPlane(o, locked(inTree()), inTree(), locked(inTree())) },
			step: ucv1.StepHandover, line: "KCMArmed", fails: ucv1.CloudLoopsContendedReason, action: outcome.ActionCloseFence,
		},
		"loops that are off with the lock left in are not done": {
			given: halfDisarmed, when: func(o *Observation) {
				staticPlane(o, silentArguments(), locked(silentArguments()), silentArguments())
			},
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt).To(BeNil()) },
		},
		"a lock without its file is upstream's, which has the same name": {
			given: halfDisarmed, when: func(o *Observation) {
				kept := silentArguments()
				kept.Flags["enable-leader-migration"] = "true"
				staticPlane(o, silentArguments(), kept, silentArguments())
			},
			step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.WaitingForAdministratorReason,
		},
		"that all are off is noted": {
			given: halfDisarmed, when: func(o *Observation) { staticPlane(o, silentArguments(), silentArguments(), silentArguments()) },
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt.Time).To(Equal(noon())) },
		},
		"then every process with the lock has to end": {
			given: halfDisarmed, when: func(o *Observation) {
				staticPlane(o, silentArguments(), silentArguments(), silentArguments())
				o.Cluster.Status.Handover.LoopsOffAt = stampAgo(time.Second)
			},
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason, says: []string{"Pod kube-system/kcm-a"},
		},
		"and the CCM takes it": {
			given: halfDisarmed, when: func(o *Observation) {
				staticPlane(o, silentArguments(), silentArguments(), silentArguments())
				o.Cluster.Status.Handover.LoopsOffAt = stampAgo(time.Second)
				endAll(o)
				edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("ccm_1") })
			},
			step: ucv1.StepHandover, line: "LockTaken", action: outcome.ActionRecord,
		},
	})
}

func TestDeletedWhileOthersHandTheLockOver(t *testing.T) {
	deleted := func(o *Observation) { o.Cluster.DeletionTimestamp = new(metav1.NewTime(noon())) }
	runDecisions(t, map[string]decision{
		"a Cluster whose KCM no one has changed takes what was made for the lock along": {
			given: staticUnlocked, when: func(o *Observation) {
				deleted(o)
				edit(&o.Lock, func(l *observation.Lock) {
					l.Left = []observation.Ref{{Kind: "Role", Namespace: "kube-system", Name: "ccm-migration:lock"}}
				})
			},
			step: ucv1.StepHandover, action: outcome.ActionRemoveLock,
		},
		"and goes":                             {given: staticUnlocked, when: deleted, step: ucv1.StepHandover, action: outcome.ActionRelease},
		"one Node with the lock has it stay":   {given: halfArmed, when: deleted, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.WaitingForAdministratorReason},
		"as does a KCM that has it everywhere": {given: allArmed, when: deleted, step: ucv1.StepHandover, line: "CCMArmed", action: outcome.ActionOpenFence},
	})
}

func TestARollbackTakesTheLockFromWhoeverGotIt(t *testing.T) {
	taken := func(order int32, node string) ucv1.Instruction {
		instruction := disarmedInstruction(order, node)
		instruction.Set = nil
		return instruction
	}
	untouched := ucv1.Instruction{
		Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Done: true,
	}
	runInstructions(t, map[string]instructionTest{
		"half way": {
			given: lockedQuiet, when: func(o *Observation) {
				staticPlane(o, locked(inTree()), locked(inTree()), inTree())
				o.Cluster.Status.Handover.LockArmedAt, o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil, nil
			},
			want: []ucv1.Instruction{taken(1, "b"), untouched, taken(3, "a")},
		},
	})
}
