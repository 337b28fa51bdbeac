package migration

import (
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// What a person, or what runs in the user cluster, does to the cloud loops after the hand-over.

func fenceClosed(o *Observation) {
	edit(&o.Fence, func(fence *observation.Fence) { fence.Open, fence.Allowed = false, nil })
}

func leaseStands(o *Observation) {
	edit(&o.CCMLease, func(lease *observation.Lease) {
		lease.RenewTime, lease.ChangedAt = ago(20*time.Second), ago(20*time.Second)
	})
}

func ccmGone(o *Observation) {
	leaseStands(o)
	edit(&o.Addons, func(a *observation.Addons) {
		a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}
	})
}

func kcmLoud(o *Observation) { setKCM(o, inTree()) }

func nodeless(o *Observation) {
	o.Nodes, o.CCMLease = observation.Known[[]observation.Node](nil), observation.Absent[observation.Lease]()
	edit(&o.Addons, func(a *observation.Addons) {
		a.CCM.Unhealthy, a.CCM.Unschedulable = messages.Said("Deployment kube-system/ccm: 0 of 1"), true
	})
}

func completedNow(o *Observation) { o.Cluster.Status.CompletedAt = stampAgo(time.Minute) }

const waitsForCCM = "; the deleted Cluster goes when the CCM is seen to run the cloud loops, or at once with annotation " +
	"usercluster.k8c.io/abandon=true."

func TestADeletedClusterGoesWhenAManagerIsSeenToRunTheLoops(t *testing.T) {
	t.Parallel()
	for stage, given := range map[string]func() Observation{"in the roll": rolling, "finished": finished} {
		step, releasedAt := ucv1.StepRoll, ucv1.StepAddons // A Cluster that is not completed may not be released.
		if stage == "finished" {
			step, releasedAt = ucv1.StepFinished, ucv1.StepFinished
		}
		tests := map[string]decision{}
		for _, some := range []map[string]decision{
			repairedBeforeItGoes(step), notSeenToLead(step), notLeftToOne(releasedAt), notLookedAtBeforeItGoes(),
		} {
			maps.Copy(tests, some)
		}
		for name, test := range tests {
			test.given = deleted(given)
			tests[name] = test
		}
		t.Run(stage, func(t *testing.T) { runDecisions(t, tests) })
	}
}

func repairedBeforeItGoes(step ucv1.Step) map[string]decision {
	return map[string]decision{
		"it goes when the CCM leads":     {step: step, action: outcome.ActionRelease},
		"a closed fence is opened again": {when: fenceClosed, step: ucv1.StepHandover, action: outcome.ActionOpenFence},
		"also when the CCM has ended of it": {
			when:   both(fenceClosed, leaseStands),
			step:   ucv1.StepHandover,
			action: outcome.ActionOpenFence,
		},
		"also when there is no Node that it is on": {
			when:   both(fenceClosed, nodeless),
			step:   ucv1.StepHandover,
			action: outcome.ActionOpenFence,
		},
		"not while KCM is not proven silent": {
			when: both(fenceClosed, func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			}),
			step: ucv1.StepHandover, wait: ucv1.ProvingSilenceReason, says: []string{waitsForCCM,
				"The fence was closed by someone and is not opened again yet: "},
		},
		"not while a pause holds everything": {
			when: both(fenceClosed, func(o *Observation) { o.Cluster.Spec.Paused = true }),
			step: ucv1.StepHandover,
		},
		"a fence that others keep open needs no opening": {
			when:   func(o *Observation) { edit(&o.Fence, func(fence *observation.Fence) { fence.Open = false }) },
			step:   ucv1.StepAddons,
			action: outcome.ActionRelease,
		},
		"a CCM that is gone is applied again": {when: ccmGone, step: ucv1.StepHandover, action: outcome.ActionApplyAddons},
		"also while its Lease still tells of it": {
			when: both(
				ccmGone,
				func(o *Observation) { o.CCMLease = finished().CCMLease },
			),
			step:   ucv1.StepHandover,
			action: outcome.ActionApplyAddons,
		},
		"not while the fence cannot be looked at": {
			when: both(
				ccmGone,
				func(o *Observation) { o.Fence = observation.Unknown[observation.Fence]("timeout") },
			),
			step: ucv1.StepHandover,
			wait: ucv1.CouldNotLookReason,
		},
		"not while its Lease cannot be looked at": {
			when: both(
				ccmGone,
				func(o *Observation) { o.CCMLease = observation.Unknown[observation.Lease]("timeout") },
			),
			step: ucv1.StepHandover,
			wait: ucv1.CouldNotLookReason,
		},
	}
}

func notSeenToLead(step ucv1.Step) map[string]decision {
	return map[string]decision{
		"a CCM that does not lead is waited for": {
			when: leaseStands, step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason,
			says: []string{waitsForCCM,
				"Lease kube-system/ccm is not being renewed by ccm_1. Look at the pods of the CCM and their logs"},
		},
		"a CCM without a Lease is waited for": {
			when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepHandover,
			wait: ucv1.WaitingForLeaderReason,
			says: []string{waitsForCCM},
		},
		"one that crashes at every start does not lead": {
			when: func(o *Observation) {
				edit(&o.CCMLease, func(lease *observation.Lease) { lease.AcquireTime = lease.RenewTime })
			},
			step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason, says: []string{waitsForCCM,
				"was acquired by ccm_1, which did not renew it yet. Look at the pods of the CCM"},
		},
		"one that was seen to end does not lead, whatever its Lease says": {
			when: func(o *Observation) {
				o.CCMProcesses = observation.Known(
					[]observation.Process{
						{PodName: "ccm", Hostname: "ccm", StartedAt: ago(time.Hour), Started: true, Ended: true, FinishedAt: ago(time.Second)},
					},
				)
			}, step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason, says: []string{waitsForCCM,
				"is held by ccm_1, which has ended."},
		},
		"one that never leads calls a person": {
			when: func(o *Observation) {
				edit(&o.CCMLease, func(lease *observation.Lease) { lease.ChangedAt, lease.WatchedAt = ago(time.Hour), ago(time.Hour) })
			}, step: ucv1.StepHandover, fails: ucv1.LeaderDeadlineExceededReason, says: []string{waitsForCCM, "Look at the logs of its " +
				"pods in the user cluster"},
			never: "spec.handover.rollback",
		},
		"what drifted beside a CCM that leads stays": {
			when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CSI.Drifted = []observation.Ref{{Kind: "CSIDriver", Name: "cinder"}} })
			},
			step: ucv1.StepAddons, action: outcome.ActionRelease,
		},
		"without Nodes no one has to lead": {when: nodeless, step: step, action: outcome.ActionRelease},
		"without Nodes, a Lease that cannot be looked at": {
			when: both(
				nodeless,
				func(o *Observation) { o.CCMLease = observation.Unknown[observation.Lease]("timeout") },
			),
			step: ucv1.StepHandover,
			wait: ucv1.CouldNotLookReason,
		},
	}
}

func notLeftToOne(releasedAt ucv1.Step) map[string]decision {
	return map[string]decision{
		"KCM that runs loops again takes them from the CCM, as in one that stays": {
			when: kcmLoud, step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
			says: []string{waitsForCCM, "may run cloud loops again"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.FinishedAt).To(BeNil())
				g.Expect(f.Handover.ContendedAt).NotTo(BeNil())
			},
		},
		"KCM that runs loops again beside a CCM that is gone": {
			when: both(kcmLoud, ccmGone, func(o *Observation) { o.Cluster.Spec.Handover.OnContention = ucv1.ReportContention }),
			step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason,
		},
		"KCM that runs loops again is said, where it is only to be reported": {
			when: both(kcmLoud, func(o *Observation) { o.Cluster.Spec.Handover.OnContention = ucv1.ReportContention }),
			step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason, says: []string{waitsForCCM},
		},
		"another CCM beside ours": {
			when: func(o *Observation) {
				o.ForeignCCMs = observation.Known(
					[]observation.ForeignCCM{{Ref: observation.Ref{Kind: "Deployment", Namespace: "theirs", Name: "occm"}, KnownBy: "name"}},
				)
			}, step: ucv1.StepHandover, fails: ucv1.CloudLoopsContendedReason, says: []string{waitsForCCM},
		},
		"what was released is not repaired, and is said": {
			when: released(both(completedNow, func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() })),
			step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason,
			says: []string{waitsForCCM,
				"The CCM's Lease does not exist. Another tool has to apply the CCM, because spec.addons.management is Released"},
		},
		"a fence of what was released is left to a person": {
			when: released(both(fenceClosed, completedNow)),
			step: ucv1.StepHandover, wait: ucv1.WaitingForLeaderReason,
			says: []string{waitsForCCM,
				"The CCM may not lead, because its fence is closed. Open it with 'ccm-migration-controller fence open alpha -n user-alpha'"},
		},
		"what was released and drifted goes when its CCM leads": {
			when:   released(both(ccmGone, func(o *Observation) { o.CCMLease = finished().CCMLease })),
			step:   releasedAt,
			action: outcome.ActionRelease,
		},
		"what was released goes when its CCM leads": {
			when:   released(func(*Observation) {}),
			step:   releasedAt,
			action: outcome.ActionRelease,
		},
		"annotation abandon lets it go": {
			when:   both(fenceClosed, func(o *Observation) { o.Cluster.Annotations[ucv1.AbandonAnnotation] = "true" }),
			step:   ucv1.StepAddons,
			action: outcome.ActionRelease,
		},
	}
}

func notLookedAtBeforeItGoes() map[string]decision {
	tests := map[string]decision{}
	for fact, change := range map[string]func(*Observation){
		"the CCM's Lease":     func(o *Observation) { o.CCMLease = observation.Unknown[observation.Lease]("timeout") },
		"the CCM's processes": func(o *Observation) { o.CCMProcesses = observation.Unknown[[]observation.Process]("timeout") },
		"the fence":           func(o *Observation) { o.Fence = observation.Unknown[observation.Fence]("timeout") },
	} {
		tests["could not look at "+fact] = decision{
			when: change, step: ucv1.StepHandover, wait: ucv1.CouldNotLookReason, says: []string{waitsForCCM, "Could not look at " +
				fact + ": timeout"},
		}
	}
	for name, change := range map[string]func(*Observation){
		"the control plane": func(o *Observation) { o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout") },
		"other managers":    func(o *Observation) { o.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM]("timeout") },
	} {
		tests["could not look at "+name] = decision{
			when: change,
			step: ucv1.StepHandover,
			wait: ucv1.CouldNotLookReason,
			says: []string{waitsForCCM},
		}
	}
	return tests
}

func TestADeletedClusterWhoseAddonsCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	unseen := func(o *Observation) {
		o.Addons = observation.Unknown[observation.Addons]("Secret user-alpha/cloud does not exist")
	}
	runDecisions(t, map[string]decision{
		"a completed one goes when its CCM leads": {
			given:  deleted(finished),
			when:   unseen,
			step:   ucv1.StepFinished,
			action: outcome.ActionRelease,
		},
		"and not when it does not": {
			given: deleted(finished),
			when:  both(unseen, leaseStands),
			step:  ucv1.StepHandover,
			wait:  ucv1.WaitingForLeaderReason,
			says:  []string{waitsForCCM},
		},
		"one in the roll waits": {
			given: deleted(rolling), when: unseen, step: ucv1.StepHandover, wait: ucv1.CouldNotLookReason, says: []string{waitsForCCM,
				"Could not look at the addons"},
		},
		"one in the roll that another tool was given goes": {
			given:  deleted(rolling),
			when:   released(unseen),
			step:   ucv1.StepAddons,
			action: outcome.ActionRelease,
		},
	})
}

// One that was completed and begins the hand-over again is in its middle, like any other.
func TestADeletedClusterThatBeganTheHandoverAgainWaitsForIt(t *testing.T) {
	t.Parallel()
	contended := func(o *Observation) {
		o.Cluster.Status.Handover.FinishedAt, o.Cluster.Status.Handover.FenceOpenedAt = nil, nil
		o.Cluster.Status.Handover.ContendedAt = stampAgo(time.Minute)
	}
	runDecisions(t, map[string]decision{
		"the fence is closed": {
			given:  deleted(finished),
			when:   both(kcmLoud, contended),
			step:   ucv1.StepHandover,
			line:   "LoopsOff",
			action: outcome.ActionCloseFence,
			fails:  ucv1.CloudLoopsContendedReason,
			says:   []string{"the deleted Cluster goes when the hand-over is complete"},
		},
		"and opened when KCM is silent": {
			given:  deleted(finished),
			when:   both(contended, fenceClosed, touched(10*time.Second)),
			step:   ucv1.StepHandover,
			line:   "FenceOpen",
			action: outcome.ActionOpenFence,
		},
	})
}

// A kubeconfig that is refused calls a person; the message names the way out.
func TestADeletedClusterWhoseKubeconfigIsRefusedCallsAPerson(t *testing.T) {
	t.Parallel()
	runDecisions(t, map[string]decision{
		"finished": {
			given: deleted(finished), when: func(o *Observation) {
				o.Connection = observation.Connection{Reason: ucv1.UnauthorizedReason, Message: "The kubeconfig is refused", Refused: true}
				o.CCMLease, o.Fence, o.Addons = observation.Unknown[observation.Lease]("refused"), observation.Unknown[observation.Fence](
					"refused",
				), observation.Unknown[observation.Addons]("refused")
				o.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM]("refused")
			}, step: ucv1.StepHandover, fails: ucv1.UnauthorizedReason, says: []string{waitsForCCM, "The kubeconfig is refused"},
		},
	})
}
