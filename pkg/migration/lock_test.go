package migration

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestLeaderMigrationIsRefusedWithEveryCondition(t *testing.T) {
	refused := func(change func(*Observation), says ...string) decision {
		return decision{given: wantingLock, when: change, step: ucv1.StepPreflight, fails: ucv1.MigrationLockRefusedReason, says: says}
	}
	flag := func(name, value string) func(*Observation) {
		return func(o *Observation) {
			edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags[name] = value })
		}
	}
	version := func(version string) func(*Observation) {
		return func(o *Observation) { o.Cluster.Spec.Version = version }
	}
	runDecisions(t, map[string]decision{
		"where all conditions hold it is taken": {
			given: wantingLock, step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				resolvedTo(ucv1.LeaderMigrationProtocol, "spec.handover.protocol asks for it. It breaks rule OneManager: In 1.")(g, f)
				g.Expect(f.Handover.LeaderMigration).To(Equal(ucv1.SameMinorLeaderMigration))
			},
		},
		"Auto never takes it": {
			given: wantingLock, when: func(o *Observation) { o.Cluster.Spec.Handover.Protocol = ucv1.AutoProtocol },
			step: ucv1.StepPreflight, action: outcome.ActionRecord, facts: resolvedTo(ucv1.FencedProtocol, "cannot write"),
		},
		"a minor whose KCM does not know the provider":      refused(version("1.26.15"), "openstack"),
		"a release of KCM that is known to be bad":          {given: wantingLock, when: version("1.36.3"), step: ucv1.StepPreflight, fails: ucv1.PreflightFailedReason, says: []string{"has no cloud loops any more", "1 more finding: MigrationLockRefused"}},
		"a minor before both managers could read one file":  refused(version("1.21.14"), "Kubernetes 1.21.14 has no lock that both managers read"),
		"a provider whose CCM ignores the lock":             refused(azure, "accepts the flags and ignores them"),
		"a KCM without leader election":                     refused(flag("leader-elect", "false"), "--leader-elect=false"),
		"a KCM that someone armed already":                  refused(flag("enable-leader-migration", "true"), "has --enable-leader-migration already"),
		"a KCM whose Leases are elsewhere":                  refused(flag("leader-elect-resource-namespace", "kcm"), "in namespace kcm and the CCM in kube-system"),
		"a KCM that runs no loop":                           refused(flag("cloud-provider", "external"), "nothing to hand over"),
		"a lock that someone holds":                         refused(func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("other_1") }) }, "is held by other_1 already"),
		"a CCM that the fence does not keep from its Lease": {given: wantingLock, when: leasesAreFree, step: ucv1.StepPreflight, fails: ucv1.FenceIneffectiveReason},
		"a Node of static pods that someone armed already": refused(func(o *Observation) {
			other := inTree()
			other.Flags["enable-leader-migration"] = "true"
			staticPlane(o, inTree(), inTree(), other)
		}, "on Node c has --enable-leader-migration already"),
		"a control plane that someone else changes is none of them": {
			given: wantingLock, when: instruct, step: ucv1.StepPreflight, action: outcome.ActionRecord,
			facts: resolvedTo(ucv1.LeaderMigrationProtocol, "spec.handover.protocol asks for it"),
		},
		"a lock that cannot be looked at is waited for": {
			given: wantingLock, when: func(o *Observation) { o.Lock = observation.Unknown[observation.Lock]("timeout") },
			step: ucv1.StepPreflight, wait: ucv1.CouldNotLookReason, says: []string{"the migration lock: timeout"},
		},
		"a cluster that was created with the feature has no loops to hand over": {
			given: external, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice
				o.Lock = observation.Known(observation.Lock{})
			},
			step: ucv1.StepAddons, fails: ucv1.MigrationLockRefusedReason, says: []string{"nothing to hand over"},
		},
	})
}

func TestEveryObjectionToTheLockIsSaid(t *testing.T) {
	runDecisions(t, map[string]decision{
		"all of them at once": {
			given: wantingLock, when: func(o *Observation) {
				azure(o)
				leasesAreFree(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["leader-elect"] = "false" })
			},
			step: ucv1.StepPreflight, fails: ucv1.PreflightFailedReason,
			says: []string{"although our fence is closed", "2 more findings: MigrationLockRefused"},
		},
	})
}

func azure(o *Observation) {
	edit(&o.Provider, func(p *observation.Provider) { p.InTreeName = "azure" })
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["cloud-provider"] = "azure" })
}

func TestTheLockIsGivenBeforeTheLoopsGo(t *testing.T) {
	runDecisions(t, map[string]decision{
		"what both managers need for the Lease is granted first": {
			given: unlocked, when: func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Granted = false }) },
			step: ucv1.StepHandover, line: "LockAllowed", action: outcome.ActionAllowLock,
		},
		"and then it is looked at again": {
			given: unlocked, when: func(o *Observation) {
				edit(&o.Lock, func(l *observation.Lock) { l.Denied = []string{handover.KCMUser + " may not create Leases."} })
			},
			step: ucv1.StepHandover, line: "LockAllowed", wait: ucv1.ArmingReason,
			says: []string{handover.KCMUser + " may not create Leases."},
		},
		"KCM gets the lock": {
			given: unlocked, step: ucv1.StepHandover, line: "KCMArmed", action: outcome.ActionChangeArguments,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LockArmedAt.Time).To(Equal(noon())) },
		},
		"a lock that was given and not noted is noted": {
			given: kcmLocked, when: func(o *Observation) { o.Cluster.Status.Handover.LockArmedAt = nil },
			step: ucv1.StepHandover, line: "KCMArmed", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LockArmedAt.Time).To(Equal(noon())) },
		},
		"KCM does not get it while a Node is NotReady": {
			given: unlocked, when: notReady, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.NodesNotReadyReason,
		},
		"the fence is opened beside a KCM with the lock": {
			given: kcmLocked, step: ucv1.StepHandover, line: "CCMArmed", action: outcome.ActionOpenFence,
		},
		"a CCM that does not lead keeps the loops on": {
			given: bothLocked, when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepHandover, line: "CCMArmed", wait: ucv1.WaitingForLeaderReason,
		},
	})
}

func TestTheFenceStaysClosedBesideALoopWithoutTheLock(t *testing.T) {
	pod := func(process observation.Process) func(*Observation) {
		return func(o *Observation) {
			edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(slices.Clone(c.KCM.Pods), process) })
		}
	}
	runDecisions(t, map[string]decision{
		"a KCM that lost the lock again is contended": {
			given: kcmLocked, when: func(o *Observation) { setKCM(o, inTree()) }, step: ucv1.StepHandover, line: "KCMArmed",
			fails: ucv1.CloudLoopsContendedReason,
		},
		"an old pod without the lock keeps the fence closed": {
			given: kcmLocked, when: pod(kcmPod("stray", inTree())), step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
			says: []string{"Pod user-alpha/stray may run cloud loops without the migration lock"},
		},
		"a pod with another lock keeps it closed": {
			given: kcmLocked, when: func(o *Observation) {
				other := locked(inTree())
				other.Flags["leader-migration-config"] = "/etc/other.yaml"
				pod(kcmPod("stray", other))(o)
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"user-alpha/stray"},
		},
		"a pod that ignores the lock, because it does not elect, keeps it closed": {
			given: kcmLocked, when: func(o *Observation) {
				other := locked(inTree())
				other.Flags["leader-elect"] = "false"
				pod(kcmPod("stray", other))(o)
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"user-alpha/stray"},
		},
		"a recorded process that was not seen to end keeps it closed": {
			given: kcmLocked, when: func(o *Observation) { o.Cluster.Status.Handover.Processes[0].EndedAt, o.Processes = nil, nil },
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"Pod user-alpha/old"},
		},
		"a rollout that goes on keeps it closed": {
			given: kcmLocked, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"still rolling out"},
		},
		"a stranger that holds KCM's Lease keeps it closed": {
			given: kcmLocked, when: func(o *Observation) { edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "stranger_1" }) },
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason, says: []string{"stranger_1"},
		},
		"no one holding the lock keeps it closed": {
			given: kcmLocked, when: func(o *Observation) {
				edit(&o.Lock, func(l *observation.Lock) { l.Lease = observation.Lease{} })
			},
			step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
			says: []string{"No one holds the migration lock yet", handover.KCMUser},
		},
		"a lock that is not renewed keeps it closed": {
			given: kcmLocked,
			when:  func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease.ChangedAt = ago(time.Hour) }) },
			step:  ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
		},
	})
}

func TestTheLockGoesFromKCMToTheCCM(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the loops go when the CCM leads": {
			given: bothLocked, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
		"a fence that was opened and not noted stays open beside a KCM with the lock": {
			given: bothLocked, when: func(o *Observation) {
				o.Cluster.Status.Handover.FenceOpenedAt = nil
				edit(&o.Fence, func(f *observation.Fence) { f.Allowed = []string{"update"} })
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
		"without Nodes no CCM is waited for": {
			given: bothLocked, when: func(o *Observation) {
				withoutNodes(o)
				o.CCMLease = observation.Absent[observation.Lease]()
			}, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
	})
}

func TestTheCCMTakesTheLock(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a KCM with the lock breaks the proof of silence": {
			given: kcmUnlocked, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods = append(c.KCM.Pods, kcmPod("armed-3", locked(inTree())))
				})
			},
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason, says: []string{"Pod user-alpha/armed-3"},
		},
		"a holder that was seen to end loses it": {
			given: kcmUnlocked, when: lockOf(renewedBy("armed_1", 10*time.Second)),
			step: ucv1.StepHandover, line: "LockTaken", action: outcome.ActionReleaseLock,
			says: []string{"armed_1, which was seen to end"},
		},
		"a holder that renewed after that keeps it": {
			given: kcmUnlocked, when: lockOf(renewedBy("armed_1", time.Second)),
			step: ucv1.StepHandover, line: "LockTaken", wait: ucv1.ArmingReason,
		},
		"a holder that vanished keeps it": {
			given: kcmUnlocked, when: func(o *Observation) {
				lockOf(renewedBy("armed_1", 10*time.Second))(o)
				for i := range o.Processes {
					o.Processes[i].VanishedAt = microAgo(9 * time.Second)
				}
			},
			step: ucv1.StepHandover, line: "LockTaken", wait: ucv1.ArmingReason, says: []string{"one lease duration"},
		},
		"a CCM whose fence was opened long ago has its time to take it": {
			given: kcmUnlocked, when: func(o *Observation) {
				lockOf(observation.Lease{})(o)
				o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(5 * time.Minute)
				o.CCMLease = observation.Absent[observation.Lease]()
			},
			step: ucv1.StepHandover, line: "CCMArmed", wait: ucv1.WaitingForLeaderReason,
		},
		"the CCM is waited for when it is free": {
			given: kcmUnlocked, when: lockOf(observation.Lease{}), step: ucv1.StepHandover, line: "LockTaken", wait: ucv1.ArmingReason,
		},
		"the CCM has the lock when it holds both Leases": {
			given: kcmUnlocked, when: func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("ccm_1") }) },
			step: ucv1.StepHandover, line: "LockTaken", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.LockTakenAt.Time).To(Equal(noon()))
				g.Expect(f.Handover.GapSeconds).To(HaveValue(BeEquivalentTo(9)), "since the first end after the loops were switched off")
			},
		},
		"a lock of another process of the CCM is not taken": {
			given: kcmUnlocked, when: func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("ccm_2") }) },
			step: ucv1.StepHandover, line: "LockTaken", wait: ucv1.ArmingReason,
		},
		"without Nodes no one takes it": {
			given: kcmUnlocked, when: func(o *Observation) {
				withoutNodes(o)
				o.CCMLease = observation.Absent[observation.Lease]()
			}, step: ucv1.StepHandover, line: "LockTaken", action: outcome.ActionRecord,
		},
	})
}

func TestTheLockIsRemoved(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a lock that is renewed is not deleted": {
			given: unlocking, when: func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("ccm_0") }) },
			step: ucv1.StepHandover, line: "LockRemoved", wait: ucv1.ArmingReason, says: []string{"still held by ccm_0"},
		},
		"what is left of it is deleted": {
			given: unlocking, step: ucv1.StepHandover, line: "LockRemoved", action: outcome.ActionRemoveLock,
			says: []string{"Role kube-system/ccm-migration:lock"},
		},
		"a lock that cannot be looked at is not done with": {
			given: unlocking, when: func(o *Observation) { o.Lock = observation.Unknown[observation.Lock]("timeout") },
			step: ucv1.StepHandover, line: "LockRemoved", wait: ucv1.CouldNotLookReason,
		},
		"then the hand-over is done, and the gap stays as it was": {
			given: unlocking, when: func(o *Observation) {
				o.Cluster.Status.Handover.GapSeconds = new(int64(6))
				edit(&o.Lock, func(l *observation.Lock) { l.Left = nil })
			},
			step: ucv1.StepHandover, action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.FinishedAt).NotTo(BeNil())
				g.Expect(f.Handover.GapSeconds).To(HaveValue(BeEquivalentTo(6)))
			},
		},
		"a CCM that was rolled out without the lock has its time to lead": {
			given: unlocking, when: func(o *Observation) {
				o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(5 * time.Minute)
				edit(&o.Lock, func(l *observation.Lock) { l.Left = nil })
				o.CCMLease = observation.Absent[observation.Lease]()
			},
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
	})
}

func TestKCMChangesOfTheLock(t *testing.T) {
	g := NewWithT(t)
	arming := Decide(unlocked(), noon()).Next().Arguments
	g.Expect(arming.Set).To(
		ConsistOf(
			outcome.Flag{
				Name: "--enable-leader-migration", Value: "true",
			}, outcome.Flag{Name: "--leader-migration-config", Value: handover.LockPath},
		),
	)
	g.Expect(arming.Mount.ConfigMap).To(Equal("alpha-ccm-migration-lock"))
	g.Expect(arming.Mount.Folder + "/" + arming.Mount.Key).To(Equal(handover.LockPath))
	g.Expect(arming.Mount.Data).To(
		And(ContainSubstring("leaderName: \""+handover.LockName+"\""), ContainSubstring("name: \"service\"")),
	)

	leaving := Decide(bothLocked(), noon()).Next().Arguments
	g.Expect(leaving.Unmount).To(BeTrue())
	g.Expect(leaving.Remove).To(ConsistOf("enable-leader-migration", "leader-migration-config"))
	g.Expect(leaving.Set).To(ConsistOf(HaveField("Name", "--controllers")))

	o := bothLocked()
	setKCM(&o, locked(silentArguments()))
	o.Cluster.Status.Handover.LoopsOffAt = stampAgo(time.Second)
	quiet := Decide(o, noon()).Next()
	g.Expect(quiet.Arguments.Unmount).To(BeTrue(), "a KCM whose loops someone switched off loses the lock, too")
}
