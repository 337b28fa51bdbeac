package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// begunAgain: the hand-over is walked again, with the processes that run loops now.
func begunAgain(g Gomega, f ucv1.Facts) {
	g.Expect(f.Handover.FinishedAt).To(BeNil())
	g.Expect(f.Handover.FenceOpenedAt).To(BeNil())
	g.Expect(f.Handover.ContendedAt.Time).To(Equal(noon()))
	g.Expect(f.Handover.StartedAt.Time).To(Equal(noon()))
	g.Expect(f.Handover.Processes).To(BeEmpty(), "its new pods do not run yet")
}

func notBegunAgain(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.FinishedAt).NotTo(BeNil()) }

// loopsOn has its owner put KCM's old arguments back.
func loopsOn(o *Observation, owner string) {
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments, c.KCM.FieldOwner = inTree(), owner })
}

func TestGuard(t *testing.T) {
	runDecisions(t, map[string]decision{
		"loops that come back in the template stop everything, with their owner": {
			given: rolling, when: func(o *Observation) { loopsOn(o, "argocd") }, step: ucv1.StepHandover, action: outcome.ActionRecord,
			fails: ucv1.CloudLoopsContendedReason, says: []string{"changed by argocd", "nothing is rolled"}, facts: begunAgain,
		},
		"loops that come back without an owner stop everything": {
			given: rolling, when: func(o *Observation) { loopsOn(o, "") }, step: ucv1.StepHandover, action: outcome.ActionRecord,
			fails: ucv1.CloudLoopsContendedReason, says: []string{"changed by someone"},
		},
		"loops that come back in a pod stop everything": {
			given: rolling,
			when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("late", inTree())) })
			},
			step:   ucv1.StepHandover,
			action: outcome.ActionRecord,
			says:   []string{"Pod user-alpha/late may run cloud loops again"},
			fails:  ucv1.CloudLoopsContendedReason,
		},
		"a pod that cannot be read stops everything, and the CCM goes on: no one was seen to run its loops": {
			given: rolling, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Pods = append(c.KCM.Pods, kcmPod("odd", observation.Arguments{Problem: "a shell"}))
				})
			},
			step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason,
		},
		"a pod with the old arguments that has ended breaks nothing": {
			given: rolling, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					ended := kcmPod("old", inTree())
					ended.Ended = true
					c.KCM.Pods = append(c.KCM.Pods, ended)
				})
			},
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"the guard also watches over a completed migration": {
			given: finished, when: func(o *Observation) { loopsOn(o, "") }, step: ucv1.StepHandover, action: outcome.ActionRecord,
			fails: ucv1.CloudLoopsContendedReason,
		},
		"who runs the loops now is recorded at once": {
			given: rolling, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("late", inTree())) })
			},
			step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.Processes).To(ConsistOf(HaveField("PodName", "late")))
			},
		},
		"a KCM Deployment that is gone needs a person": {
			given: rolling,
			when:  func(o *Observation) { o.ControlPlane = observation.Absent[observation.ControlPlane]() },
			step:  ucv1.StepHandover,
			fails: ucv1.CloudLoopsContendedReason,
			says:  []string{"user-alpha/kube-controller-manager does not exist"},
		},
	})
}

func TestAFenceThatSomeoneClosed(t *testing.T) {
	closed := func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil }) }
	runDecisions(t, map[string]decision{
		"it is opened again where KCM is silent": {
			given:  rolling,
			when:   closed,
			step:   ucv1.StepAddons,
			action: outcome.ActionOpenFence,
		},
		"it stays closed while someone renews KCM's Lease": {
			given: rolling, when: func(o *Observation) {
				closed(o)
				edit(&o.KCMLease, func(l *observation.Lease) { l.Holder, l.ChangedAt = "stranger_1", noon().Add(-time.Second) })
			},
			step: ucv1.StepAddons, wait: ucv1.ProvingSilenceReason, says: []string{"The fence was closed by someone", "stranger_1"},
		},
		"one that cannot be looked at may be closed": {
			given: rolling, when: func(o *Observation) { o.Fence = observation.Unknown[observation.Fence]("timeout") },
			step: ucv1.StepAddons, wait: ucv1.CouldNotLookReason, says: []string{"the fence", "timeout"},
		},
	})
}

func TestGuardMayOnlyReport(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a person may want only a report": {
			given: rolling, when: func(o *Observation) {
				loopsOn(o, "argocd")
				o.Cluster.Spec.Handover.OnContention = ucv1.ReportContention
			},
			step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason, facts: notBegunAgain,
		},
		"a fence that cannot be looked at is not closed, and a person is called all the same": {
			given: rolling, when: func(o *Observation) {
				loopsOn(o, "argocd")
				o.Fence = observation.Unknown[observation.Fence]("timeout")
			},
			step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason, facts: notBegunAgain,
		},
	})
}

// contendedSince is a cluster whose KCM ran loops again and whose fence was closed.
func contendedSince(kcm observation.Arguments) func() Observation {
	return func() Observation {
		o := rolling()
		h := o.Cluster.Status.Handover
		h.ContendedAt, h.StartedAt, h.LoopsOffAt = stampAgo(time.Minute), stampAgo(time.Minute), stampAgo(time.Minute)
		h.TouchedAt = microAgo(10 * time.Second)
		h.FinishedAt, h.FenceOpenedAt = nil, nil
		h.Processes = []ucv1.ManagerProcess{
			{PodUID: "uid-loud", PodName: "loud", NodeName: "m1", BootID: "boot", EndedAt: microAgo(30 * time.Second)},
		}
		o.Processes = h.Processes
		edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
		edit(&o.ControlPlane, func(c *observation.ControlPlane) {
			c.KCM.Arguments, c.KCM.Pods = kcm, []observation.Process{kcmPod("new", kcm)}
		})
		return o
	}
}

func TestContention(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the fence is closed when it is noted that KCM runs loops again": {
			given: contendedSince(inTree()), when: func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open = true }) },
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionCloseFence, fails: ucv1.CloudLoopsContendedReason,
		},
		"while KCM runs loops the fence stays closed, and KCM is not changed again": {
			given: contendedSince(inTree()), step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.CloudLoopsContendedReason,
		},
		"a pod that still runs loops is a person's matter": {
			given: contendedSince(silentArguments()), when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("loud", inTree())) })
				o.Processes[0].EndedAt = nil
			},
			step: ucv1.StepHandover, line: "Silent", fails: ucv1.CloudLoopsContendedReason, says: []string{"Pod user-alpha/loud"},
		},
		"the fence is not opened again before the silence is proven again": {
			given: contendedSince(silentArguments()), when: func(o *Observation) { o.Processes[0].EndedAt = nil },
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason, says: []string{"was not seen to end"},
		},
		"the fence is opened again when the silence is proven again": {
			given: contendedSince(silentArguments()), step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"a completed migration is handed over again too": {
			given: contendedSince(silentArguments()), when: func(o *Observation) { o.Cluster.Status.CompletedAt = stampAgo(time.Hour) },
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"the CCM's objects are not repaired while KCM runs loops": {
			given: contendedSince(inTree()), when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Name: "ccm"}} })
			},
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.CloudLoopsContendedReason,
		},
	})
}

func TestContentionWithTheLock(t *testing.T) {
	armedAgain := func(o *Observation) {
		setKCM(o, locked(inTree()))
		edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "new_1" })
	}
	runDecisions(t, map[string]decision{
		"KCM loses the lock while the CCM leads with it": {
			given: bothLocked, when: func(o *Observation) { setKCM(o, inTree()) },
			step: ucv1.StepHandover, line: "KCMArmed", action: outcome.ActionCloseFence, fails: ucv1.CloudLoopsContendedReason,
		},
		"KCM gets its loops back with the lock": {
			given:  kcmUnlocked,
			when:   armedAgain,
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionCloseFence,
			fails:  ucv1.CloudLoopsContendedReason,
		},
		"KCM gets its loops back when the CCM has no lock any more": {
			given:  unlocking,
			when:   armedAgain,
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionCloseFence,
			fails:  ucv1.CloudLoopsContendedReason,
		},
		"a hand-over that is begun again needs silence, because the CCM has no lock": {
			given: unlocking, when: func(o *Observation) {
				armedAgain(o)
				o.Cluster.Status.Handover.ContendedAt = stampAgo(time.Minute)
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
			},
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.CloudLoopsContendedReason,
		},
	})
}
