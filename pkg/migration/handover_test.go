package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func notReady(o *Observation) {
	edit(&o.Nodes, func(n *[]observation.Node) { (*n)[0].Ready = false })
}

func noNodes(o *Observation) {
	o.Nodes, o.Machines = observation.Known([]observation.Node{}), observation.Known(observation.Machines{})
}

// recorded has taken the baseline.
func recorded(o *Observation) {
	inventory := o.Inventory.Value()
	o.Cluster.Status.Baseline = &ucv1.BaselineStatus{SecretName: "b", Digest: inventory.Digest()}
}

func TestProcessesAreRecorded(t *testing.T) {
	runDecisions(t, map[string]decision{
		"processes are recorded before the first patch": {
			given: starting, when: recorded, step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord,
			says: []string{"Recording 1 process"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.StartedAt.Time).To(Equal(noon()))
				g.Expect(f.Handover.Processes).To(ConsistOf(ucv1.ManagerProcess{
					PodUID: "uid-old", PodName: "old", NodeName: "m1", BootID: "boot", ContainerID: "c-old", GracePeriodSeconds: 30,
				}))
			},
		},
		"a NotReady Node holds up the record, because the loops would delete it": {
			given: starting, when: func(o *Observation) { recorded(o); notReady(o) }, step: ucv1.StepHandover, line: "ProcessesRecorded",
			wait: ucv1.NodesNotReadyReason, says: []string{"n1"},
		},
		"processes that ended already are not recorded, unreadable ones are": {
			given: starting, when: func(o *Observation) {
				recorded(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					ended, unreadable, silent := kcmPod("ended", inTree()), kcmPod(
						"odd", observation.Arguments{Problem: "a shell"},
					), kcmPod("silent", silentArguments())
					ended.Ended = true
					c.KCM.Pods = []observation.Process{ended, unreadable, silent}
				})
			},
			step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.Processes).To(HaveLen(1))
				g.Expect(f.Handover.Processes[0].PodName).To(Equal("odd"))
			},
		},
		"a process that the old template made since is added to the record": {
			given: loud, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("late", inTree())) })
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.Processes).To(HaveLen(2)) },
		},
		"a full record forgets one that has ended, and none that may run": {
			given: loud, when: func(o *Observation) {
				for range handover.MaxProcesses - 1 {
					o.Processes = append(o.Processes, ucv1.ManagerProcess{PodUID: "running"})
				}
				o.Processes[3] = ucv1.ManagerProcess{PodUID: "ended", EndedAt: microAgo(time.Minute)}
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods = append(c.KCM.Pods, kcmPod("late", inTree())) })
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.Processes).To(HaveLen(handover.MaxProcesses))
				g.Expect(f.Handover.Processes).NotTo(ContainElement(HaveField("PodUID", "ended")))
				g.Expect(f.Handover.Processes).To(ContainElement(HaveField("PodName", "late")))
			},
		},
	})
}

func TestLoopsAreSwitchedOffAndTheFenceIsOpened(t *testing.T) {
	runDecisions(t, map[string]decision{
		"the loops stay on while a Node is NotReady": {
			given: loud, when: notReady, step: ucv1.StepHandover, line: "LoopsOff", wait: ucv1.NodesNotReadyReason,
		},
		"a command line that is not understood is never changed": {
			given: loud, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments = observation.Arguments{Problem: "argument $(X) is a variable"}
				})
			},
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.InputInvalidReason, says: []string{"argument $(X) is a variable"},
		},
		"loops that were switched off and not noted are noted, so that we know them when they come back": {
			given: fenced, when: func(o *Observation) { o.Cluster.Status.Handover.LoopsOffAt = nil },
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.LoopsOffAt.Time).To(Equal(noon())) },
		},
		"a Lease that a former CCM left is freed before the fence opens": {
			given: fenced, when: func(o *Observation) {
				o.CCMLease = observation.Known(observation.Lease{
					Ref: observation.Ref{Kind: "Lease", Name: "ccm"}, Holder: "gone_1", DurationSeconds: 15, ChangedAt: ago(time.Minute),
					WatchedAt: ago(time.Minute),
				})
			},
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionReleaseCCMLease, says: []string{"gone_1", "has run out"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.FenceOpenedAt).To(BeNil()) },
		},
		"one that has not run out yet is left alone": {
			given: fenced, when: func(o *Observation) {
				o.CCMLease = observation.Known(observation.Lease{
					Ref: observation.Ref{Kind: "Lease", Name: "ccm"}, Holder: "gone_1", DurationSeconds: 15, ChangedAt: ago(10 * time.Second),
					WatchedAt: ago(time.Minute),
				})
			},
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"silence that is not proven is waited for": {
			given: fenced, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepHandover, line: "Silent", wait: ucv1.ProvingSilenceReason, says: []string{"is still rolling out"},
		},
		"the fence stays closed while a Node is NotReady": {
			given: fenced, when: notReady, step: ucv1.StepHandover, line: "FenceOpen", wait: ucv1.NodesNotReadyReason,
		},
		"a fence that is open already is noted": {
			given: fenced, when: func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open = true }) },
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.FenceOpenedAt.Time).To(Equal(noon())) },
		},
	})
}

func TestTheCCMHasToLead(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a CCM that leads ends the hand-over, with the gap from the last end": {
			given: opened, step: ucv1.StepHandover, action: outcome.ActionRecord, says: []string{"the CCM leads"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.FinishedAt.Time).To(Equal(noon()))
				g.Expect(*f.Handover.GapSeconds).To(Equal(int64(55 * 60)))
				g.Expect(f.Handover.Stage).To(BeEmpty())
			},
		},
		"a Lease that stands still proves no leader": {
			given: opened, when: func(o *Observation) {
				edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(16 * time.Second) })
			},
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
		"a Lease that we never saw change proves no leader": {
			given: opened, when: func(o *Observation) {
				edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = time.Time{} })
			},
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
		"the first look at a Lease is no renewal": {
			given: opened, when: func(o *Observation) {
				edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt, l.WatchedAt = ago(time.Second), ago(time.Second) })
			},
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
		"a Lease without holder proves no leader": {
			given: opened, when: func(o *Observation) { edit(&o.CCMLease, func(l *observation.Lease) { l.Holder = "" }) },
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
		"a CCM that does not lead in time needs a person": {
			given: opened, when: func(o *Observation) {
				o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(3 * time.Minute)
				o.CCMLease = observation.Absent[observation.Lease]()
			},
			step: ucv1.StepHandover, line: "Leading", fails: ucv1.LeaderDeadlineExceededReason, says: []string{"2026-01-01T11:57:00Z"},
		},
		"without Nodes the hand-over ends without a leader": {
			given: opened, when: func(o *Observation) { noNodes(o); o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepHandover, line: "Leading", action: outcome.ActionRecord, says: []string{"as soon as there is a Node"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.FinishedAt).NotTo(BeNil())
				g.Expect(f.Handover.Stage).To(BeEmpty())
			},
		},
		"Nodes that cannot be looked at are not taken for none": {
			given: opened, when: func(o *Observation) {
				o.Nodes, o.CCMLease = observation.Unknown[[]observation.Node]("timeout"), observation.Absent[observation.Lease]()
			},
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.CouldNotLookReason,
		},
	})
}

func TestTheHandoverIsBounded(t *testing.T) {
	runDecisions(t, map[string]decision{
		"loops that come back within the hand-over need a person, who wins against no one": {
			given: loud, when: func(o *Observation) { o.Cluster.Status.Handover.LoopsOffAt = stampAgo(time.Second) },
			step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.CloudLoopsContendedReason,
		},
		"a hand-over that waits too long needs a person": {
			given: fenced, when: func(o *Observation) {
				notReady(o)
				o.Cluster.Status.Handover.StartedAt = stampAgo(11 * time.Minute)
			},
			step: ucv1.StepHandover, line: "FenceOpen", fails: ucv1.NodesNotReadyReason,
			says: []string{"since the hand-over began at 2026-01-01T11:49:00Z", "n1"},
		},
		"a hand-over that cannot look for long is no failure": {
			given: fenced, when: func(o *Observation) {
				o.Nodes = observation.Unknown[[]observation.Node]("timeout")
				o.Cluster.Status.Handover.StartedAt = stampAgo(11 * time.Minute)
			},
			step: ucv1.StepHandover, line: "FenceOpen", wait: ucv1.CouldNotLookReason,
		},
		"a slow CSI driver does not prolong the hand-over": {
			given: fenced, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CSI.Unhealthy = messages.Said("x") })
			},
			step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"a cluster created with the feature takes no baseline": {
			given: external, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{})
				o.Cluster.Status.Handover = &ucv1.HandoverStatus{Protocol: ucv1.FencedProtocol}
			},
			step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord, says: []string{"Recording 0 processes"},
		},
	})
}

func TestLoopsOffFlag(t *testing.T) {
	tests := map[string]struct {
		controllers string
		given       bool
		minor       int
		want        string
	}{
		"before 1.28 KCM knows only the short names": {
			minor: 27, want: "*,-cloud-node-lifecycle,-route,-service",
		},
		"from 1.28 on the registered names are used": {
			minor: 28, want: "*,-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller",
		},
		"other entries keep their place": {
			controllers: "*,bootstrapsigner,-ttl", given: true, minor: 25,
			want: "*,bootstrapsigner,-ttl,-cloud-node-lifecycle,-route,-service",
		},
		"loops that were named are not named twice": {
			controllers: "service, *,-route,cloud-node-lifecycle-controller", given: true, minor: 25,
			want: "*,-cloud-node-lifecycle,-route,-service",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			arguments := observation.Arguments{Flags: map[string]string{"cloud-provider": "openstack"}}
			if test.given {
				arguments.Flags["controllers"] = test.controllers
			}
			flag := components.LoopsOffFlag(arguments, test.minor)
			g.Expect(flag).To(Equal(outcome.Flag{Name: "--controllers", Value: test.want}))
			arguments.Flags["controllers"] = flag.Value
			g.Expect(arguments.CloudLoops()).To(BeEmpty())
		})
	}
}

func TestLinesAreDescribed(t *testing.T) {
	g := NewWithT(t)
	g.Expect(loops.Stages("", "")).To(BeEmpty(), "a protocol is chosen when the migration starts")
	for _, protocol := range start.Protocols() {
		for _, mode := range []ucv1.LeaderMigrationMode{"", ucv1.AcrossMinorsLeaderMigration} {
			g.Expect(loops.Stages(protocol, mode)).NotTo(BeEmpty())
			for _, line := range loops.Stages(protocol, mode) {
				g.Expect(line.Name).NotTo(BeEmpty())
				g.Expect(line.Means).To(HaveSuffix("."))
			}
		}
	}
	for _, origin := range []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal} {
		for _, row := range Table(origin) {
			g.Expect(row.Means).To(HaveSuffix("."))
		}
	}
}

func TestFeatureGatesRideAlongWithTheLoops(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	edit(&o.Provider, func(p *observation.Provider) { p.MigrationGates = map[string]bool{"CSIMigration": true} })
	d := Decide(o, noon())
	g.Expect(d.Next().Arguments.Set).To(ConsistOf(
		HaveField("Name", "--controllers"), Equal(outcome.Flag{Name: "--feature-gates", Value: "CSIMigration=true"})))
	g.Expect(d.Next().Why).To(HaveSuffix("; and feature gates on: CSIMigration=true."))

	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["feature-gates"] = "CSIMigration=true" })
	o.Cluster.Status.Handover.Original[0].FeatureGates = new("CSIMigration=true")
	g.Expect(Decide(o, noon()).Next().Arguments.Set).To(HaveExactElements(HaveField("Name", "--controllers")))
}
