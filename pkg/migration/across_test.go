package migration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// wantingAcross is a cluster that is about to start; its kube-apiserver is seen.
func wantingAcross() Observation {
	o := wantingLock()
	o.Cluster.Spec.Handover.LeaderMigration = ucv1.AcrossMinorsLeaderMigration
	apiServers(&o, "v1.25.16", "v1.25.16")
	return o
}

// apiServers has an owner's kube-apiserver whose pods run these images.
func apiServers(o *Observation, images ...string) {
	server := observation.Component{
		Ref: observation.Ref{Kind: "Deployment", Namespace: "user-alpha", Name: "kube-apiserver"}, RolledOut: true,
		Program: observation.APIServerProgram, Container: "kube-apiserver", Arguments: observation.Arguments{Flags: map[string]string{}},
	}
	for i, image := range images {
		server.Pods = append(server.Pods, observation.Process{PodName: fmt.Sprintf("kube-apiserver-%d", i), Image: image})
	}
	edit(&o.ControlPlane, func(c *observation.ControlPlane) {
		c.Neighbors = []observation.Neighbor{{Component: server, Field: "spec.controlPlane.kubeAPIServer", Foreign: true}}
	})
	o.ServerVersion = observation.Known(images[0])
}

// acrossAt is the stage of a hand-over across minors whose workload is withheld.
func acrossAt(stage func() Observation) func() Observation {
	return func() Observation {
		o := stage()
		o.Cluster.Spec.Handover.LeaderMigration = ucv1.AcrossMinorsLeaderMigration
		o.Cluster.Status.Handover.LeaderMigration = ucv1.AcrossMinorsLeaderMigration
		edit(&o.Addons, func(a *observation.Addons) { a.CSI.Drifted, a.CCM = nil, observation.AddonSet{WorkloadWithheld: true} })
		apiServers(&o, "v1.25.16", "v1.25.16")
		return o
	}
}

// upgradeAwaited waits for the owner.
func upgradeAwaited() Observation {
	o := acrossAt(kcmLocked)()
	o.Cluster.Status.Handover.UpgradeAllowedTo = "1.26"
	return o
}

// upgraded has kube-apiserver and spec.version at the next minor.
func upgraded() Observation {
	o := upgradeAwaited()
	o.Cluster.Spec.Version = "1.26.15"
	apiServers(&o, "v1.26.15", "v1.26.15")
	return o
}

// acrossAllowed has a CCM whose workload may be applied.
func acrossAllowed() Observation {
	o := upgraded()
	workloadAllowed(&o)
	return o
}

// handingOverAcross is the stage with a CCM of the next minor.
func handingOverAcross(stage func() Observation) func() Observation {
	return func() Observation {
		o := acrossAt(stage)()
		o.Cluster.Status.Handover.UpgradeAllowedTo, o.Cluster.Spec.Version = "1.26", "1.26.15"
		apiServers(&o, "v1.26.15")
		workloadAllowed(&o)
		return o
	}
}

func TestAcrossMinorsIsRefusedWithEveryCondition(t *testing.T) {
	refused := func(change func(*Observation), says ...string) decision {
		return decision{given: wantingAcross, when: change, step: ucv1.StepPreflight, fails: ucv1.MigrationLockRefusedReason, says: says}
	}
	runDecisions(t, map[string]decision{
		"where all conditions hold it is taken, and breaks no rule": {
			given: wantingAcross, step: ucv1.StepPreflight, action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.LeaderMigration).To(Equal(ucv1.AcrossMinorsLeaderMigration))
				g.Expect(f.Handover.ProtocolReason).To(Equal("spec.handover.protocol asks for it."))
			},
		},
		"a kube-apiserver that no one sees": refused(func(o *Observation) {
			edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.Neighbors = nil })
		}, "none was found beside KCM", "spec.controlPlane.kubeAPIServer"),
		"a next minor without a CCM": refused(func(o *Observation) {
			edit(&o.Provider, func(p *observation.Provider) { p.NextVersionProblem = "There is no CCM for it." })
		}, "AcrossMinors needs the CCM of 1.26: There is no CCM for it."),
	})
}

func TestAcrossMinorsTheUpgradeIsAllowedWhenKCMHasTheLock(t *testing.T) {
	pauses := func(o *Observation) {
		o.Cluster.Spec.Handover.PauseBeforePointOfNoReturn = true
		o.Cluster.Status.Handover.StartedAt = stampAgo(48 * time.Hour)
	}
	allowed := func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.UpgradeAllowedTo).To(Equal("1.26")) }
	runDecisions(t, map[string]decision{
		"no probe of the CCM of the old minor comes before": {
			given: acrossAt(loud), when: func(o *Observation) {
				o.Lock = observation.Known(observation.Lock{Granted: true})
				o.Cluster.Status.Handover.Protocol = ucv1.LeaderMigrationProtocol
				o.Cluster.Status.Handover.StartedAt = nil
			}, step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord,
		},
		"KCM gets the lock first": {
			given: acrossAt(unlocked), step: ucv1.StepHandover, line: "KCMArmed", action: outcome.ActionChangeArguments,
		},
		"volumes are ready before the upgrade": {
			given: acrossAt(kcmLocked), when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.MigrationGates = map[string]bool{"CSIMigration": true} })
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.Neighbors[0].Arguments.Flags["feature-gates"] = "CSIMigration=true"
				})
			}, step: ucv1.StepHandover, line: "VolumesReady", action: outcome.ActionChangeArguments, says: []string{"CSIMigration=true"},
		},
		"the upgrade is allowed when KCM has the lock": {
			given: acrossAt(kcmLocked), step: ucv1.StepHandover, line: "UpgradeAllowed", action: outcome.ActionRecord, facts: allowed,
		},
		"it is not while a part of KCM has no lock": {
			given: acrossAt(kcmLocked), when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			}, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
		},
		"it passes the point of no return where the next KCM does not know the provider": {
			given: acrossAt(kcmLocked), when: pauses, step: ucv1.StepHandover, line: "UpgradeAllowed",
			wait: ucv1.WaitingBeforePointOfNoReturnReason, says: []string{"The upgrade to 1.26 passes the point of no return"},
		},
		"and not where it does": {
			given: acrossAt(kcmLocked), when: func(o *Observation) {
				pauses(o)
				edit(&o.Provider, func(p *observation.Provider) { p.LastInTreeMinor = 26 })
			}, step: ucv1.StepHandover, line: "UpgradeAllowed", action: outcome.ActionRecord, facts: allowed,
		},
	})
}

// server changes what is seen of kube-apiserver.
func server(change func(*observation.Component)) func(*Observation) {
	return func(o *Observation) {
		edit(&o.ControlPlane, func(c *observation.ControlPlane) { change(&c.Neighbors[0].Component) })
	}
}

func TestAcrossMinorsTheCCMWaitsForEveryAPIServer(t *testing.T) {
	waits := func(change func(*Observation), says ...string) decision {
		return decision{
			given: upgraded, when: change, step: ucv1.StepHandover, line: "APIServersUpgraded", wait: ucv1.UpgradeRequiredReason, says: says,
		}
	}
	runDecisions(t, map[string]decision{
		"the owner is asked, and has the time that it takes": {
			given: upgradeAwaited, when: func(o *Observation) { o.Cluster.Status.Handover.StartedAt = stampAgo(48 * time.Hour) },
			step: ucv1.StepHandover, line: "APIServersUpgraded", wait: ucv1.UpgradeRequiredReason,
			says: []string{"Upgrade every kube-apiserver to 1.26, and then spec.version; leave KCM at 1.25", "answers that it is v1.25.16"},
		},
		"a gate that the next minor may not know is named": {
			given: upgradeAwaited, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.RetiredGates = []string{"CSIMigration"} })
				server(func(c *observation.Component) { c.Arguments.Flags["feature-gates"] = "CSIMigration=true" })(o)
			}, step: ucv1.StepHandover, line: "APIServersUpgraded", wait: ucv1.UpgradeRequiredReason, says: []string{"to 1.26 without CSIMigration,"},
		},
		"a pod with another image":   waits(func(o *Observation) { apiServers(o, "v1.26.15", "v1.25.16") }, "Pod user-alpha/kube-apiserver-0 and Pod user-alpha/kube-apiserver-1 run different images"),
		"an answer of the old minor": waits(func(o *Observation) { o.ServerVersion = observation.Known("v1.25.16") }, "answers that it is v1.25.16"),
		"a rollout that goes on":     waits(server(func(c *observation.Component) { c.RolledOut = false }), "is still rolling out"),
		"a Node that shows no static pod": waits(server(func(c *observation.Component) {
			c.Unseen, c.RolledOut = []observation.Text{observation.Say(observation.NodeRef("c"), " shows no static pod.")}, false
		}), "Node c shows no static pod"),
		"an image of another digest": waits(func(o *Observation) {
			apiServers(o, "a/kube-apiserver@sha256:1", "a/kube-apiserver@sha256:2")
		}, "run different images"),
		"no pod at all":                      waits(server(func(c *observation.Component) { c.Pods = nil }), "No pod of kube-apiserver was found"),
		"a spec.version of the minor before": waits(func(o *Observation) { o.Cluster.Spec.Version = "1.25.16" }, "spec.version is 1.25.16"),
		"an API server that does not answer": {
			given: upgraded, when: func(o *Observation) { o.ServerVersion = observation.Unknown[string]("timeout") },
			step: ucv1.StepHandover, line: "APIServersUpgraded", wait: ucv1.CouldNotLookReason,
		},
	})
}

func TestAcrossMinorsTheCCMComesWhenEveryAPIServerIsUpgraded(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the same image may come from two mirrors": {
			given: upgraded, when: func(o *Observation) {
				apiServers(o, "a/kube-apiserver@sha256:1", "b/kube-apiserver@sha256:1")
				o.ServerVersion = observation.Known("v1.26.15")
			}, step: ucv1.StepHandover, line: "APIServersUpgraded", action: outcome.ActionRecord,
		},
		"an identity that may write its Lease keeps the CCM away": {
			given: upgraded, when: leasesAreFree, step: ucv1.StepHandover, line: "APIServersUpgraded", fails: ucv1.FenceIneffectiveReason,
		},
		"a KCM that was upgraded with its lock is told what it needs": {
			given: upgradeAwaited, when: func(o *Observation) {
				o.Cluster.Status.Handover.StartedAt = stampAgo(48 * time.Hour)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			}, step: ucv1.StepHandover, line: "KCMArmed", wait: ucv1.ArmingReason,
			says: []string{"is still rolling out", "leave KCM at 1.25, or take the lock out"},
		},
		"a pod that ended does not count": {
			given: upgraded, when: server(func(c *observation.Component) {
				c.Pods = append(slices.Clone(c.Pods), observation.Process{PodName: "old", Image: "v1.25.16", Ended: true})
			}), step: ucv1.StepHandover, line: "APIServersUpgraded", action: outcome.ActionRecord,
		},
		"then the workload is allowed": {
			given: upgraded, step: ucv1.StepHandover, line: "APIServersUpgraded", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.WorkloadAllowedAt.Time).To(Equal(noon())) },
		},
		"not while a Node is NotReady": {
			given: upgraded, when: notReady, step: ucv1.StepHandover, line: "APIServersUpgraded", wait: ucv1.NodesNotReadyReason,
		},
	})
}

func TestAcrossMinorsTheLoopsAreHandedOver(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the CCM is applied behind its fence": {
			given: acrossAllowed, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) {
					a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}
				})
			}, step: ucv1.StepHandover, line: "WorkloadApplied", action: outcome.ActionApplyAddons,
		},
		"one that someone deletes in the gap is applied again": {
			given: handingOverAcross(kcmUnlocked), when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) {
					a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}
				})
			}, step: ucv1.StepHandover, line: "WorkloadApplied", action: outcome.ActionApplyAddons,
		},
		"its fence opens beside a KCM with the lock": {
			given: acrossAllowed, step: ucv1.StepHandover, line: "CCMArmed", action: outcome.ActionOpenFence,
		},
		"a CCM that does not come has a deadline from when it was allowed": {
			given: acrossAllowed, when: func(o *Observation) {
				o.Cluster.Status.Handover.WorkloadAllowedAt = stampAgo(time.Hour)
				edit(&o.Addons, func(a *observation.Addons) {
					a.CCM.Unhealthy = []observation.Text{observation.Say("Deployment ccm is not available.")}
				})
			}, step: ucv1.StepHandover, line: "WorkloadApplied", fails: ucv1.RollingOutReason,
			says: []string{"the hand-over has waited since"},
		},
		"the loops go when the CCM leads": {
			given: handingOverAcross(bothLocked), step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
		"a KCM that its owner upgraded has none to switch off": {
			given: handingOverAcross(bothLocked), when: func(o *Observation) {
				setKCM(o, observation.Arguments{Flags: map[string]string{"cloud-provider": "external", "cluster-name": "prod"}})
			}, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
		},
		"KCM's loops that come back close the fence, although the CCM is not well": {
			given: func() Observation {
				o := handingOverAcross(unlocking)()
				o.Cluster.Status.Handover.ContendedAt = stampAgo(time.Second)
				setKCM(&o, inTree())
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].Started, c.KCM.Pods[0].Ready = true, true })
				edit(&o.Addons, func(a *observation.Addons) {
					a.CCM.Unhealthy = []observation.Text{observation.Say("Deployment ccm is not available.")}
				})
				return o
			}, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionCloseFence, fails: ucv1.CloudLoopsContendedReason,
		},
		"KCM's loops that come back keep the CCM's workload, behind its fence": {
			given: func() Observation {
				o := handingOverAcross(unlocking)()
				o.Cluster.Status.Handover.FinishedAt = stampAgo(time.Minute)
				setKCM(&o, inTree())
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].Started, c.KCM.Pods[0].Ready = true, true })
				return o
			}, step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.WorkloadAllowedAt).NotTo(BeNil()) },
		},
	})
}

func TestTheCCMIsWithheldUntilTheUpgrade(t *testing.T) {
	g := NewWithT(t)
	needs := func(o Observation) Needs { return NeedsOf(o.Cluster, o.Provider.Value(), noon()) }
	for _, stage := range []func() Observation{acrossAt(unlocked), upgradeAwaited, upgraded} {
		g.Expect(needs(stage()).WithholdWorkload).To(BeTrue())
	}
	g.Expect(needs(acrossAllowed()).WithholdWorkload).To(BeFalse())
	g.Expect(needs(acrossAt(unlocked)()).ServerVersion).To(BeFalse())
	g.Expect(needs(upgradeAwaited()).ServerVersion).To(BeTrue())
	g.Expect(needs(acrossAllowed()).ServerVersion).To(BeFalse())
}

func TestTheLockAcrossMinorsIsReadByBoth(t *testing.T) {
	g := NewWithT(t)
	before, problems := handover.RenderLock(acrossAt(unlocked)().Cluster, "openstack")
	g.Expect(problems).To(BeEmpty())
	g.Expect(before.Breaks).To(BeEmpty(), "KCM of one minor has it, and the CCM of the next one")
	after, problems := handover.RenderLock(upgraded().Cluster, "openstack")
	g.Expect(problems).To(BeEmpty())
	g.Expect(after).To(Equal(before), "the CCM compares the same names")
}

// KCM 1.27 does not start with the names of 1.28, which knows the old ones, too.
func TestAcrossMinorsTheLoopsAreNamedAsKCMKnowsThem(t *testing.T) {
	g := NewWithT(t)
	o := handingOverAcross(bothLocked)()
	o.Cluster.Status.Handover.UpgradeAllowedTo, o.Cluster.Spec.Version = "1.28", "1.28.15"
	g.Expect(Decide(o, noon()).Next().Arguments.Set).To(
		ContainElement(outcome.Flag{Name: "--controllers", Value: "*,tokencleaner,-cloud-node-lifecycle,-route,-service"}))
}

func TestTheUpgradePassesThePointOfNoReturn(t *testing.T) {
	g := NewWithT(t)
	judged := func(o Observation) *ucv1.PointOfNoReturnStatus { return Decide(o, noon()).PointOfNoReturn }
	o := upgradeAwaited()
	g.Expect(judged(o).State).To(Equal(ucv1.PointOfNoReturnAhead))
	g.Expect(judged(o).Next).To(ContainSubstring("a kube-apiserver of 1.26"))
	o.ServerVersion = observation.Known("v1.26.15")
	g.Expect(judged(o).State).To(Equal(ucv1.PointOfNoReturnPassed), "it does not go back, and spec.version may not stay")
	g.Expect(judged(o).Reason).To(ContainSubstring("an API server answers that it is v1.26.15"))
	o.ServerVersion = observation.Unknown[string]("timeout")
	g.Expect(judged(o).State).To(Equal(ucv1.PointOfNoReturnUnknown))
	edit(&o.Provider, func(p *observation.Provider) { p.LastInTreeMinor = 26 })
	g.Expect(judged(o).State).To(Equal(ucv1.PointOfNoReturnAhead))
}
