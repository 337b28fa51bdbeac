package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// former is a process that was seen to end 4 s ago, and whose end its kubelet's clock tells in whole seconds.
func formerProcess(hostname string) observation.Process {
	return observation.Process{
		PodName: hostname, PodUID: "uid-" + hostname, ContainerID: "c-" + hostname, Hostname: hostname, Started: true, Ended: true,
		StartedAt: ago(time.Hour), FinishedAt: ago(5 * time.Second), EndedAt: ago(4 * time.Second),
	}
}

// held is the Lease of one that led until its end.
func heldUntil(lease observation.Lease, holder string) observation.Lease {
	lease.Holder, lease.AcquireTime, lease.RenewTime = holder, ago(time.Minute), ago(5*time.Second)
	lease.ChangedAt, lease.WatchedAt, lease.HeldSince, lease.RenewedBy = ago(5*time.Second), ago(time.Hour), ago(time.Minute),
		ago(5*time.Second)
	return lease
}

// orphaned is a roll in which the CCM's leader was drained.
func orphaned() Observation {
	o := rolling()
	o.CCMLease = observation.Known(heldUntil(o.CCMLease.Value(), "ccm_1"))
	o.CCMProcesses = observation.Known([]observation.Process{formerProcess("ccm")})
	return o
}

func TestALeaseIsFreedOfAProcessThatEnded(t *testing.T) {
	lease := func(change func(*observation.Lease)) func(*Observation) {
		return func(o *Observation) { edit(&o.CCMLease, change) }
	}
	holder := func(change func(*observation.Process)) func(*Observation) {
		return func(o *Observation) { edit(&o.CCMProcesses, func(p *[]observation.Process) { change(&(*p)[0]) }) }
	}
	beside := func(change func(*observation.Process)) func(*Observation) {
		other := formerProcess("ccm")
		other.PodUID, other.ContainerID = "other", "c-other"
		change(&other)
		return func(o *Observation) { edit(&o.CCMProcesses, func(p *[]observation.Process) { *p = append(*p, other) }) }
	}
	onHost := func(taken time.Time) func(*Observation) {
		return func(o *Observation) {
			holder(func(p *observation.Process) { p.HostNetwork = true })(o)
			lease(func(l *observation.Lease) { l.HeldSince = taken })(o)
		}
	}
	frees := func(when func(*Observation)) decision {
		return decision{
			given: orphaned, when: when, step: ucv1.StepRoll, action: outcome.ActionFreeLease,
			says: []string{"ccm_1, which was seen to end"},
		}
	}
	leaves := func(when func(*Observation)) decision {
		return decision{given: orphaned, when: when, step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment}
	}
	unled := func(when func(*Observation)) decision {
		return decision{given: orphaned, when: when, step: ucv1.StepMachineController, wait: ucv1.WaitingForLeaderReason}
	}
	runDecisions(t, map[string]decision{
		"whose end was seen":                                    frees(nil),
		"who ended in the second of its last renewal":           frees(lease(func(l *observation.Lease) { l.RenewTime = ago(4 * time.Second) })),
		"who acquired it in the second of its start":            frees(holder(func(p *observation.Process) { p.StartedAt = ago(time.Minute) })),
		"while another one with its hostname had ended before":  frees(beside(func(p *observation.Process) { p.FinishedAt = ago(2 * time.Minute) })),
		"while one of another hostname lives":                   frees(beside(func(p *observation.Process) { p.Hostname, p.Ended = "ccm-2", false })),
		"under a Node's hostname, when it was seen to be taken": frees(onHost(ago(time.Minute))),

		"not of one that lives":                  leaves(holder(func(p *observation.Process) { p.Ended = false })),
		"not of one without a container ID":      leaves(holder(func(p *observation.Process) { p.ContainerID = "" })),
		"not of one whose end no watch showed":   leaves(holder(func(p *observation.Process) { p.EndedAt = time.Time{} })),
		"not of one that never started":          leaves(holder(func(p *observation.Process) { p.Started = false })),
		"not of one that started later":          leaves(holder(func(p *observation.Process) { p.StartedAt = ago(59 * time.Second) })),
		"not of one that is not known":           leaves(lease(func(l *observation.Lease) { l.Holder = "stranger_1" })),
		"not while no one holds it":              unled(lease(func(l *observation.Lease) { l.Holder = "" })),
		"not when it was renewed after that end": leaves(lease(func(l *observation.Lease) { l.RenewTime = ago(3900 * time.Millisecond) })),
		"not while it stands still too short":    leaves(lease(func(l *observation.Lease) { l.ChangedAt = ago(1900 * time.Millisecond) })),
		"not when it has run out": unled(func(o *Observation) {
			holder(func(p *observation.Process) { p.FinishedAt, p.EndedAt = ago(20*time.Second), ago(20*time.Second) })(o)
			lease(func(l *observation.Lease) { l.RenewTime, l.ChangedAt = ago(20*time.Second), ago(20*time.Second) })(o)
		}),
		"not while it was watched too short":                             unled(lease(func(l *observation.Lease) { l.WatchedAt = ago(1900 * time.Millisecond) })),
		"not so soon after the end was seen":                             leaves(holder(func(p *observation.Process) { p.EndedAt = ago(1900 * time.Millisecond) })),
		"not while another one with its hostname lives":                  leaves(beside(func(p *observation.Process) { p.Ended = false })),
		"not while another one may have been the holder":                 leaves(beside(func(*observation.Process) {})),
		"not under a Node's hostname, when it was held before we looked": leaves(onHost(time.Time{})),
	})
}

func TestWhenNoLeaseIsFreed(t *testing.T) {
	leaves := func(when func(*Observation)) decision {
		return decision{given: orphaned, when: when, step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment}
	}
	runDecisions(t, map[string]decision{
		"not while the fence is closed": {
			given: orphaned, when: func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil }) },
			step: ucv1.StepAddons, action: outcome.ActionOpenFence,
		},
		"not while other managers cannot be looked at": {
			given: orphaned, when: func(o *Observation) { o.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM]("timeout") },
			step: ucv1.StepHandover, wait: ucv1.CouldNotLookReason,
		},
		"not while pods cannot be looked at": leaves(func(o *Observation) { o.CCMProcesses = observation.Unknown[[]observation.Process]("timeout") }),
		"not while it is paused":             {given: orphaned, when: func(o *Observation) { o.Cluster.Spec.Paused = true }, step: ucv1.StepRoll},
		"not when all is finished": {given: func() Observation {
			o := finished()
			o.CCMLease, o.CCMProcesses = orphaned().CCMLease, orphaned().CCMProcesses
			return o
		}, step: ucv1.StepFinished},
		"not in a cluster that was created with the feature": {given: func() Observation {
			o := external()
			o.CCMLease, o.CCMProcesses, o.Fence = orphaned().CCMLease, orphaned().CCMProcesses, orphaned().Fence
			return o
		}, step: ucv1.StepAddons, action: outcome.ActionRecord},
	})
}

func TestNoLeaseIsFreedBeforeTheStart(t *testing.T) {
	g := NewWithT(t)
	o := fresh()
	o.CCMLease, o.CCMProcesses, o.Fence = orphaned().CCMLease, orphaned().CCMProcesses, orphaned().Fence
	d := Decide(o, noon())
	g.Expect(d.Next() == nil || d.Next().Kind != outcome.ActionFreeLease).To(BeTrue())
	o.Cluster.Status.StartedAt = stampAgo(time.Minute)
	g.Expect(Decide(o, noon()).Next().Kind).To(Equal(outcome.ActionFreeLease))
}

// TestFreeingALeaseRecordsNothingElse: the Lease is freed in its place, and it is done in the next pass.
func TestFreeingALeaseRecordsNothingElse(t *testing.T) {
	g := NewWithT(t)
	o := orphaned()
	o.Cluster.Status.RollGeneration = ""
	g.Expect(Decide(o, noon()).Next().Kind).To(Equal(outcome.ActionFreeLease))
	if facts := Decide(o, noon()).Facts; facts != nil {
		g.Expect(facts.RollGeneration).To(BeEmpty())
	}
	o.CCMProcesses = observation.Known([]observation.Process{})
	g.Expect(Decide(o, noon()).Facts.RollGeneration).NotTo(BeEmpty())
}

func TestALeaseIsFreedAtItsMoment(t *testing.T) {
	g := NewWithT(t)
	o := orphaned()
	edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(500 * time.Millisecond) })
	g.Expect(Decide(o, noon()).LookAfter).To(Equal(1500 * time.Millisecond))
	d := Decide(o, noon().Add(1500*time.Millisecond))
	g.Expect(d.Next().Kind).To(Equal(outcome.ActionFreeLease))
	g.Expect(*d.Next().Lease).To(Equal(o.CCMLease.Value()))
}

// TestAClearedLeaseTellsWhenItWasHeld: who clears it is no manager that runs the loops.
func TestAClearedLeaseTellsWhenItWasHeld(t *testing.T) {
	g := NewWithT(t)
	o := orphaned()
	edit(&o.CCMLease, func(l *observation.Lease) { l.Holder, l.ChangedAt = "", ago(time.Second) })
	attendance := Decide(o, noon()).Attendance
	g.Expect(attendance.IsOverdue()).To(BeFalse())
	g.Expect(attendance.Message).To(ContainSubstring(ago(5 * time.Second).Format(time.RFC3339)))
}

// kcmRolls is a roll of Machines during which KCM's leader was replaced.
func kcmRolls() Observation {
	o := rolling()
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
	o.KCMLeaseRight = observation.Known(observation.LeaseRight{May: true, There: true})
	o.KCMLease = observation.Known(heldUntil(o.KCMLease.Value(), "gone_1"))
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Former = []observation.Process{formerProcess("gone")} })
	return o
}

func TestKCMsLeaseIsFreed(t *testing.T) {
	kcm := func(change func(*observation.Component)) func(*Observation) {
		return func(o *Observation) { edit(&o.ControlPlane, func(c *observation.ControlPlane) { change(&c.KCM) }) }
	}
	type freed struct {
		when func(*Observation)
		want bool
	}
	frees := func(when func(*Observation)) freed { return freed{when, true} }
	leaves := func(when func(*Observation)) freed { return freed{when, false} }
	lock := func(kind string) func(*Observation) {
		return kcm(func(c *observation.Component) { c.Arguments.Flags["leader-elect-resource-lock"] = kind })
	}
	for name, test := range map[string]freed{
		"of a pod that is gone": frees(func(*Observation) {}),
		"of one that is there": frees(kcm(func(c *observation.Component) {
			ended := formerProcess("gone")
			ended.Arguments = finalArguments()
			c.Pods, c.Former = append(c.Pods, ended), nil
		})),
		"of type leases":                              frees(lock("leases")),
		"not of endpointsleases":                      leaves(lock("endpointsleases")),
		"not in a minor whose default is another one": leaves(func(o *Observation) { o.Cluster.Spec.Version = "1.19.16" }),
		"not when a pod elects otherwise": leaves(kcm(func(c *observation.Component) {
			c.Pods[0].Arguments.Flags = map[string]string{"leader-elect-resource-lock": "configmapsleases"}
		})),
		"not under the hostname of a Node":          leaves(kcm(func(c *observation.Component) { c.Former[0].HostNetwork = true })),
		"not without the right to":                  leaves(func(o *Observation) { edit(&o.KCMLeaseRight, func(r *observation.LeaseRight) { r.May = false }) }),
		"not while the right cannot be looked at":   leaves(func(o *Observation) { o.KCMLeaseRight = observation.Unknown[observation.LeaseRight]("timeout") }),
		"not where someone else changes KCM":        leaves(func(o *Observation) { o.Cluster.Spec.ControlPlane.Change = ucv1.InstructChange }),
		"not before a longer retry period was over": leaves(kcm(func(c *observation.Component) { c.Arguments.Flags["leader-elect-retry-period"] = "5s" })),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := kcmRolls()
			test.when(&o)
			action := Decide(o, noon()).Next()
			g.Expect(action != nil && action.Kind == outcome.ActionFreeLease).To(Equal(test.want))
			if test.want {
				g.Expect(*action.Lease).To(Equal(o.KCMLease.Value()))
				g.Expect(action.Why).To(ContainSubstring("gone_1, which was seen to end"))
			}
		})
	}
}

func TestTheRightToKCMsLeaseIsForATime(t *testing.T) {
	granted := func(o *Observation) {
		o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
		o.KCMLeaseRight = observation.Known(observation.LeaseRight{May: true, There: true})
	}
	withoutRight := func(o *Observation) { o.Cluster.Status.Handover.KCMLeaseGrantedAt = nil }
	waiting := func(o *Observation) {
		granted(o)
		edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].RolledOut = false })
	}
	has := func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.KCMLeaseGrantedAt).NotTo(BeNil()) }
	revoked := func(g Gomega, f ucv1.Facts) { has(g, f); g.Expect(f.Handover.KCMLeaseRevokedAt.Time).To(Equal(noon())) }
	runDecisions(t, map[string]decision{
		"it comes before KCM rolls out, and what is done then is not recorded": {
			given: loud, when: withoutRight, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionGrantLease,
			facts: func(g Gomega, f ucv1.Facts) { has(g, f); g.Expect(f.Handover.LoopsOffAt).To(BeNil()) },
		},
		"it comes before each rollout": {given: completed, when: withoutRight, step: ucv1.StepFinalize, action: outcome.ActionGrantLease, facts: has},
		"it is not asked for where it is no use": {
			given: loud, when: func(o *Observation) {
				withoutRight(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["leader-elect-resource-lock"] = "endpointsleases"
				})
			}, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
		},
		"it goes when KCM has rolled out": {
			given: configured, when: waiting, step: ucv1.StepMachineController, action: outcome.ActionRevokeLease,
			wait: ucv1.RollingOutReason, facts: revoked,
		},
		"it stays while KCM rolls out": {
			given: configured, when: func(o *Observation) {
				waiting(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			}, step: ucv1.StepMachineController, wait: ucv1.RollingOutReason, facts: has,
		},
		"it stays while the Lease is to be freed": {
			given: configured, when: func(o *Observation) {
				waiting(o)
				o.KCMLease = kcmRolls().KCMLease
				edit(&o.KCMLease, func(l *observation.Lease) { l.ChangedAt = ago(time.Second) })
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Former = kcmRolls().ControlPlane.Value().KCM.Former })
			}, step: ucv1.StepMachineController, wait: ucv1.RollingOutReason, facts: has,
		},
		"it is gone before all is finished": {given: finished, when: granted, step: ucv1.StepFinalize, action: outcome.ActionRevokeLease, facts: revoked},
		"all is finished when the next KCM leads": {
			given: finished, when: func(o *Observation) {
				granted(o)
				o.KCMLease = kcmRolls().KCMLease
				edit(&o.KCMLease, func(l *observation.Lease) { l.ChangedAt = ago(time.Second) })
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Former = kcmRolls().ControlPlane.Value().KCM.Former })
			}, step: ucv1.StepFinalize, wait: ucv1.RollingOutReason, facts: has,
		},
		"a deleted Cluster takes it back first": {
			given: rolling, when: func(o *Observation) { granted(o); o.Cluster.DeletionTimestamp = stampAgo(time.Second) },
			step: ucv1.StepRoll, action: outcome.ActionRevokeLease, facts: revoked,
		},
	})
}

func TestKCMsLeaderEndsLastInEveryRollout(t *testing.T) {
	g := NewWithT(t)
	o := completed()
	edit(&o.ControlPlane, func(c *observation.ControlPlane) {
		c.KCM.Replicas, c.KCM.Pods = 2, []observation.Process{kcmPod("new", silentArguments()), kcmPod("standby", silentArguments())}
	})
	d := Decide(o, noon())
	g.Expect(d.Next().Kind).To(Equal(outcome.ActionKeepLeader))
	g.Expect(d.Next().Objects[0].Name).To(Equal("new"))
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].DeletionCost = "1000" })
	g.Expect(Decide(o, noon()).Next().Kind).To(Equal(outcome.ActionChangeArguments))
}

func TestTheRightToKCMsLeaseGoesBeforeAllIsRolledBack(t *testing.T) {
	g := NewWithT(t)
	o := loopsBack()
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
	o.KCMLeaseRight = observation.Known(observation.LeaseRight{There: true})
	d := Decide(o, noon())
	g.Expect(d.Step).To(Equal(ucv1.StepRollbackAddons))
	g.Expect(d.Next().Kind).To(Equal(outcome.ActionRevokeLease))
	g.Expect(d.Facts.Rollback.FinishedAt).To(BeNil())
	o.Cluster.Status.Handover.KCMLeaseGrantedAt, o.KCMLeaseRight = nil, observation.Unknown[observation.LeaseRight]("timeout")
	g.Expect(Decide(o, noon()).Wait.Reason).To(Equal(ucv1.CouldNotLookReason))
}
