package migration

import (
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// rollingBackLock is a rollback that began while both managers have the migration lock.
func rollingBackLock() Observation {
	o := bothLocked()
	o.Cluster.Spec.Handover.Rollback = true
	o.Cluster.Status.Handover.Original = []ucv1.OriginalArguments{
		{Deployment: "kube-controller-manager", Controllers: new("*,tokencleaner")},
	}
	o.Cluster.Status.Rollback = &ucv1.RollbackStatus{StartedAt: stampAgo(10 * time.Minute)}
	o.CCMPods, o.Attachments = observation.Known([]string{"ccm"}), observation.Known([]observation.Attachment{})
	return o
}

// lockedQuiet is ready to take the lock out of KCM: the CCM is gone and silent.
func lockedQuiet() Observation {
	o := rollingBackLock()
	rollback := o.Cluster.Status.Rollback
	rollback.WorkloadWithdrawnAt, rollback.WorkloadGoneAt = stampAgo(2*time.Minute), microAgo(30*time.Second)
	rollback.MachineControllerRevertedAt = stampAgo(time.Minute)
	edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
	edit(&o.Addons, func(a *observation.Addons) { a.CCM.WorkloadWithheld = true })
	edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(40 * time.Second) })
	o.CCMPods = observation.Known([]string{})
	return o
}

// lockLeft is ready to delete what is left of the lock.
func lockLeft() Observation {
	o := lockedQuiet()
	o.Cluster.Status.Rollback.LoopsOnAt, o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute), nil
	setKCM(&o, inTree())
	edit(&o.Lock, func(l *observation.Lock) {
		l.Lease = lockLease("new_1")
		l.Lease.ChangedAt = ago(time.Minute)
		l.Left = []observation.Ref{{Kind: "Role", Namespace: "kube-system", Name: "ccm-migration:lock"}}
	})
	return o
}

func TestRollbackOfTheMigrationLock(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the CCM goes before the lock leaves KCM": {
			given: rollingBackLock, step: ucv1.StepRollbackFence,
			action: outcome.ActionRecord,
			says:   []string{"not wanted"},
		},
		"its fence is closed": {
			given:  rollingBackLock,
			when:   func(o *Observation) { o.Cluster.Status.Rollback.WorkloadWithdrawnAt = stampAgo(time.Minute) },
			step:   ucv1.StepRollbackFence,
			action: outcome.ActionCloseFence,
		},
		"the lock stays in KCM until the CCM is proven silent": {
			given: lockedQuiet, when: func(o *Observation) {
				o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil
				edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(time.Second) })
			},
			step: ucv1.StepRollbackSilence, wait: ucv1.ProvingSilenceReason,
		},
		"then it leaves KCM, whose loops are on": {
			given: lockedQuiet, step: ucv1.StepRollbackLoops, action: outcome.ActionChangeArguments,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.LoopsOnAt.Time).To(Equal(noon())) },
		},
		"someone who gives it the lock again is not fought": {
			given: lockedQuiet, when: func(o *Observation) { o.Cluster.Status.Rollback.LoopsOnAt = stampAgo(time.Minute) },
			step: ucv1.StepRollbackLoops, fails: ucv1.CloudLoopsContendedReason, says: []string{"Take out the migration lock"},
		},
		"what is left of it goes when no one holds it": {
			given:  lockLeft,
			step:   ucv1.StepRollbackLock,
			action: outcome.ActionRemoveLock,
			says:   []string{"Role"},
		},
		"a lock that is held stays": {
			given: lockLeft, when: func(o *Observation) {
				edit(&o.Lock, func(l *observation.Lock) { l.Lease.ChangedAt = ago(time.Second) })
			},
			step: ucv1.StepRollbackLock, wait: ucv1.ArmingReason, says: []string{"still held by new_1"},
		},
		"for too long a person is called, and KCM has the loops": {
			given: lockLeft, when: func(o *Observation) {
				o.Cluster.Status.Rollback.WorkloadWithdrawnAt = stampAgo(11 * time.Minute)
				edit(&o.Lock, func(l *observation.Lock) { l.Lease.ChangedAt = ago(time.Second) })
			}, step: ucv1.StepRollbackLock, fails: ucv1.ArmingReason,
			says: []string{"KCM has its cloud loops back", "still held by new_1"},
		},
		"a lock that cannot be looked at stays": {
			given: lockLeft, when: func(o *Observation) { o.Lock = observation.Unknown[observation.Lock]("timeout") },
			step: ucv1.StepRollbackLock, wait: ucv1.CouldNotLookReason,
		},
		"without anything left it is rolled back": {
			given: lockLeft, when: func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Left = nil }) },
			step: ucv1.StepRollbackAddons, action: outcome.ActionRecord, says: []string{"is rolled back"},
		},
		"a hand-over that was finished has removed it itself": {
			given: lockLeft, when: func(o *Observation) {
				o.Lock, o.Cluster.Status.Handover.FinishedAt = observation.Absent[observation.Lock](), stampAgo(time.Hour)
			}, step: ucv1.StepRollbackAddons, action: outcome.ActionRecord, says: []string{"is rolled back"},
		},
	})
}

func TestANodeThatIsNotReadyKeepsOnlyLoopsThatAreOff(t *testing.T) {
	g := NewWithT(t)
	o := lockedQuiet()
	edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, observation.Node{Name: "edge"}) })
	g.Expect(Decide(o, noon()).Next().Kind).To(Equal(outcome.ActionChangeArguments), "KCM runs them under the lock already")
}

func TestTheCCMLosesTheLockWithItsWorkload(t *testing.T) {
	g := NewWithT(t)
	facts := rollingBackLock().Cluster.Status.Facts
	g.Expect(start.WantsLock(facts)).To(BeTrue())
	g.Expect(start.WantsLock(lockedQuiet().Cluster.Status.Facts)).To(BeFalse())
}

func TestARollbackInstructsWhoChangesKCM(t *testing.T) {
	instructed := func() Observation {
		o := quiet()
		instruct(&o)
		return o
	}
	runDecisions(t, map[string]decision{
		"the loops are asked for": {
			given: instructed,
			step:  ucv1.StepRollbackLoops,
			wait:  ucv1.WaitingForAdministratorReason,
			says:  []string{"kube-controller-manager"},
		},
		"not while a Node is not Ready": {
			given: instructed, when: func(o *Observation) {
				edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, observation.Node{Name: "edge"}) })
			},
			step: ucv1.StepRollbackLoops, wait: ucv1.NodesNotReadyReason,
		},
		"that they are on is recorded": {
			given: instructed, when: func(o *Observation) { setKCM(o, inTree()) }, step: ucv1.StepRollbackLoops,
			action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.LoopsOnAt.Time).To(Equal(noon())) },
		},
		"then it is rolled back": {
			given: instructed, when: func(o *Observation) {
				setKCM(o, inTree())
				o.Cluster.Status.Rollback.LoopsOnAt = stampAgo(time.Minute)
			}, step: ucv1.StepRollbackAddons, action: outcome.ActionRecord,
		},
	})
	const was = "--controllers=*,tokencleaner"
	runInstructions(t, map[string]instructionTest{
		"a Deployment has one": {given: instructed, want: []ucv1.Instruction{{
			Order: 1, Component: "kube-controller-manager", Object: "Deployment user-alpha/kube-controller-manager", Set: []string{was},
		}}},
		"of three Nodes the leader's is last": {
			given: quiet,
			when:  func(o *Observation) { staticPlane(o, silentArguments(), inTree(), silentArguments()) },
			want: []ucv1.Instruction{
				{Order: 1, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-b", Node: "b", Done: true},
				{Order: 2, Component: "kube-controller-manager", Object: "Pod kube-system/kcm-c", Node: "c", Set: []string{was}},
				{
					Order:     3,
					Component: "kube-controller-manager",
					Object:    "Pod kube-system/kcm-a",
					Node:      "a",
					Set:       []string{was},
					Leader:    true,
				},
			},
		},
	})
}

func TestTheProbeGoesInARollback(t *testing.T) {
	runDecisions(t, map[string]decision{
		"what is left of it is deleted": {
			given: loopsBack, when: func(o *Observation) {
				o.Probe = observation.Known(observation.Probe{Left: []observation.Ref{{Kind: "Deployment", Name: "ccm-probe"}}})
			},
			step: ucv1.StepRollbackAddons, action: outcome.ActionPruneAddons, says: []string{"ccm-probe"},
		},
		"and looked for": {
			given: loopsBack, when: func(o *Observation) { o.Probe = observation.Unknown[observation.Probe]("timeout") },
			step: ucv1.StepRollbackAddons, wait: ucv1.CouldNotLookReason,
		},
	})
	cluster := reverting().Cluster
	cluster.Status.Handover.ProbeStartedAt = stampAgo(time.Minute)
	NewWithT(t).Expect(loops.WantsProbe(cluster)).To(BeFalse(), "a rollback does not want it")
}

func TestTheRollbackIsOfferedWhereItIsPossible(t *testing.T) {
	const offer = "spec.handover.rollback"
	late := func() Observation {
		o := opened()
		o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(3 * time.Minute)
		o.CCMLease = observation.Absent[observation.Lease]()
		return o
	}
	tests := map[string]struct {
		given   func() Observation
		when    func(*Observation)
		offered bool
	}{
		"a CCM that does not lead after the opening": {given: late, offered: true},
		"a CCM with the lock that does not lead": {given: func() Observation {
			o := bothLocked()
			o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(3 * time.Minute)
			o.CCMLease = observation.Absent[observation.Lease]()
			return o
		}, offered: true},
		"a CCM that stops leading before the roll": {given: rolling, when: func(o *Observation) {
			edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt, l.WatchedAt = ago(time.Hour), ago(2*time.Hour) })
		}, offered: true},
		"not beyond the point of no return": {given: late, when: func(o *Observation) {
			edit(&o.Inventory, func(i *observation.Inventory) {
				i.Volumes = append(i.Volumes, observation.Volume{Name: "late", UID: "late", Driver: "cinder.csi.openstack.org"})
			})
		}},
		"not when that cannot be looked at": {
			given: late,
			when:  func(o *Observation) { o.Inventory = observation.Unknown[observation.Inventory]("timeout") },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, o := NewWithT(t), test.given()
			if test.when != nil {
				test.when(&o)
			}
			d := Decide(o, noon())
			g.Expect(d.Calls()).NotTo(BeNil())
			g.Expect(d.Calls().Reason).To(Equal(ucv1.LeaderDeadlineExceededReason))
			if test.offered {
				g.Expect(d.Calls().Message).To(ContainSubstring(offer))
			} else {
				g.Expect(d.Calls().Message).NotTo(ContainSubstring(offer))
			}
		})
	}
}

// TestTheLockOfSomeoneElseStaysInKCM: only the file that we named is taken out.
func TestTheLockOfSomeoneElseStaysInKCM(t *testing.T) {
	for path, removed := range map[string]bool{handover.LockPath: true, "/etc/theirs.yaml": false} {
		t.Run(path, func(t *testing.T) {
			o := lockedQuiet()
			edit(&o.ControlPlane, func(c *observation.ControlPlane) {
				c.KCM.Arguments.Flags = maps.Clone(c.KCM.Arguments.Flags)
				c.KCM.Arguments.Flags["leader-migration-config"], c.KCM.Arguments.Flags["controllers"] = path, "*,-service"
			})
			change := Decide(o, noon()).Next().Arguments
			NewWithT(t).Expect(change).NotTo(BeNil())
			NewWithT(t).Expect(slices.Contains(change.Remove, "leader-migration-config")).To(Equal(removed), "%+v", change)
		})
	}
}

// TestALockWithoutItsFileLeavesKCM: with another protocol it is someone else's.
func TestALockWithoutItsFileLeavesKCM(t *testing.T) {
	for protocol, removed := range map[ucv1.HandoverProtocol]bool{ucv1.LeaderMigrationProtocol: true, ucv1.FencedProtocol: false} {
		t.Run(string(protocol), func(t *testing.T) {
			o := lockedQuiet()
			o.Cluster.Status.Handover.Protocol = protocol
			edit(&o.ControlPlane, func(c *observation.ControlPlane) {
				c.KCM.Arguments.Flags = maps.Clone(c.KCM.Arguments.Flags)
				c.KCM.Arguments.Flags["enable-leader-migration"], c.KCM.Arguments.Flags["controllers"] = "true", "*,-service"
				delete(c.KCM.Arguments.Flags, "leader-migration-config")
			})
			change := Decide(o, noon()).Next().Arguments
			NewWithT(t).Expect(change).NotTo(BeNil())
			NewWithT(t).Expect(slices.Contains(change.Remove, "enable-leader-migration")).To(Equal(removed), "%+v", change)
		})
	}
}
