package demo

import (
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const lease = 15 * time.Second

// at is a moment of the run that good describes: the flip is at 0, KCM ends at 10, the CCM leads from 11 on, the end is at 60.
func at(second float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
}

func migrated() Moments {
	return Moments{Flipped: at(0), FirstNode: at(-30), HandedOver: at(12), Ended: at(60)}
}

// good are the records of a cluster that was handed over.
func good() Records {
	records := Records{
		Managers: []loops.Manager{
			{Cluster: "alpha", Component: kcmName, Instance: "kcm-0", PID: 1, StartedAt: at(-60), EndedAt: at(10)},
			{Cluster: "alpha", Component: kcmName, Instance: "kcm-1", PID: 2, StartedAt: at(9)},
			{Cluster: "alpha", Component: ccmName, Instance: "ccm-0", PID: 3, StartedAt: at(5)},
		},
		Terms: []loops.Term{
			{Cluster: "alpha", Lease: kcmName, UID: "k", Holder: "kcm-0_id", AcquiredAt: at(-59), DurationSeconds: 6},
			{Cluster: "alpha", Lease: kcmName, UID: "k", Holder: "kcm-1_id", Transitions: 1, AcquiredAt: at(10.4)},
			{Cluster: "alpha", Lease: ccmName, UID: "c", Holder: "ccm-0_id", AcquiredAt: at(11), DurationSeconds: 15},
		},
		Calls: []simcloud.Call{
			call(-20, kcmName, simcloud.CreateLoadBalancer, "web"), call(13, ccmName, simcloud.UpdateLoadBalancer, "web"),
			call(20, ccmName, simcloud.CreateLoadBalancer, canaryBalancer),
			call(30, ccmName, simcloud.EnsureLoadBalancerDeleted, canaryBalancer),
		},
	}
	for half := -10; half <= 120; half++ {
		moment := float64(half) / 2
		switch {
		case moment < 10:
			records.see(1, kcmName, "kcm-0", moment, append(loops.CloudLoops(), "nodeipam")...)
		case moment > 11:
			records.see(2, kcmName, "kcm-1", moment, "nodeipam")
			records.see(3, ccmName, "ccm-0", moment, loops.CloudLoops()...)
		}
	}
	return records
}

func call(second float64, component, method, object string) simcloud.Call {
	return simcloud.Call{Time: at(second), Cluster: "alpha", Component: component, Loop: "service", Method: method, Object: object}
}

func (r *Records) see(pid int, component, instance string, second float64, running ...string) {
	r.Reads = append(r.Reads, loops.Read{Time: at(second), Cluster: "alpha", Component: component, Instance: instance, PID: pid})
	for _, loop := range running {
		r.Samples = append(r.Samples, loops.Sample{
			Time: at(second), Cluster: "alpha", Component: component, Instance: instance, Loop: loop, Running: true,
		})
	}
}

// without drops samples.
func (r *Records) without(drop func(loops.Sample) bool) {
	var kept []loops.Sample
	for _, sample := range r.Samples {
		if !drop(sample) {
			kept = append(kept, sample)
		}
	}
	r.Samples = kept
}

func between(from, to float64) func(loops.Sample) bool {
	return func(s loops.Sample) bool { return s.Time.After(at(from)) && s.Time.Before(at(to)) }
}

type describeTest struct {
	change  func(*Records)
	moments func(*Moments)
	want    func(Gomega, *ClusterReport)
}

func TestDescribe(t *testing.T) {
	tests := recordTests()
	maps.Copy(tests, windowTests())
	maps.Copy(tests, leaseTests())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			records, moments, report := good(), migrated(), &ClusterReport{}
			if tc.change != nil {
				tc.change(&records)
			}
			if tc.moments != nil {
				tc.moments(&moments)
			}
			records.Describe(report, moments, lease)
			tc.want(g, report)
		})
	}
}

func recordTests() map[string]describeTest {
	return map[string]describeTest{
		"good records have no doubt": {want: func(g Gomega, c *ClusterReport) {
			g.Expect(c.Records.Doubts).To(BeEmpty())
			g.Expect(c.Handover.Overlaps).To(BeZero())
			g.Expect(*c.Handover.GapSeconds).To(Equal(2.0))
			g.Expect(c.Unattended.Cloud).To(Equal(Spells{
				Spell: loops.Spell{Loop: "service", From: at(9.5), Seconds: 2}, AtMostSeconds: 8.4, Moves: 3, Soon: 3,
			}))
			g.Expect(c.Unattended.KCM).To(Equal(Spells{
				Spell: loops.Spell{Loop: kcmName, From: at(10), Seconds: 0.4}, AtMostSeconds: 7.3, Moves: 1, Soon: 1,
			}))
			g.Expect(c.Unattended.NodeIPAM).To(Equal(Spells{
				Spell: loops.Spell{Loop: "nodeipam", From: at(9.5), Seconds: 2}, AtMostSeconds: 17.3, Moves: 1, Soon: 1,
			}))
			g.Expect(c.Unattended.To).To(Equal(at(60)))
			g.Expect(c.LoadBalancers).To(Equal(loops.LoadBalancerSummary{Before: 1, Kept: 1}))
			g.Expect(c.Canary).To(Equal(loops.LoadBalancerSummary{Created: 1, Deleted: 1}))
			g.Expect(c.Records.Reads).To(Equal(loops.ReadSummary{Total: 226}))
		}},
		"no record at all is no proof": {
			change: func(r *Records) { *r = Records{} },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Records.Doubts).To(ContainElements(
					"no loop was seen in KCM",
					"no process of kube-controller-manager is known", "no process of cloud-controller-manager is known",
					"the CCM never called the cloud", "loop service was never seen in KCM before the hand-over",
					"loop service was never seen in the CCM after the hand-over", "no manager was read",
					"Lease kube-controller-manager has no history",
				))
				g.Expect(c.Unattended.Cloud.Seconds).To(Equal(60.0))
				g.Expect(*c.Handover.GapSeconds).To(Equal(17.0))
			},
		},
		"each loop has to be seen on both sides": {
			change: func(r *Records) {
				r.without(func(s loops.Sample) bool { return s.Loop == "route" && s.Component == kcmName })
			},
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Records.Doubts).To(ConsistOf("loop route was never seen in KCM before the hand-over"))
			},
		},
	}
}

// windowTests are about when a loop is missed.
func windowTests() map[string]describeTest {
	return map[string]describeTest{
		"a gap after the hand-over is not the hand-over's": {
			change: func(r *Records) { r.without(between(30, 46)) },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(*c.Handover.GapSeconds).To(Equal(2.0))
				g.Expect(c.Unattended.Cloud.Seconds).To(Equal(16.0))
				g.Expect(c.Unattended.Cloud.From).To(Equal(at(30)))
			},
		},
		"a loop that stays in KCM is missed there": {
			change: func(r *Records) {
				r.without(func(s loops.Sample) bool { return s.Loop == "nodeipam" && between(10, 40)(s) })
			},
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Unattended.NodeIPAM.Spell).To(Equal(loops.Spell{Loop: "nodeipam", From: at(9.5), Seconds: 30.5}))
				g.Expect(c.Unattended.NodeIPAM.Soon).To(BeZero())
				g.Expect(c.Unattended.KCM.Seconds).To(Equal(0.4))
				g.Expect(c.Unattended.Cloud.Seconds).To(Equal(2.0))
			},
		},
		"a cluster without Nodes is asked from its first one": {
			change:  func(r *Records) { r.without(between(9, 45)) },
			moments: func(m *Moments) { m.FirstNode = at(44) },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Handover.GapSeconds).To(BeNil())
				g.Expect(c.Unattended.From).To(Equal(at(44)))
				g.Expect(c.Unattended.Cloud.Seconds).To(Equal(1.0))
				g.Expect(c.Records.Doubts).To(BeEmpty())
			},
		},
		"a cluster whose first Node was not seen is asked from the flip": {
			moments: func(m *Moments) { m.FirstNode = time.Time{} },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Unattended.From).To(Equal(at(0)))
				g.Expect(c.Records.Doubts).To(ConsistOf("no Node was seen"))
			},
		},
		"a cluster that was created with the feature has no routes, and no hand-over": {
			change:  func(r *Records) { r.without(func(s loops.Sample) bool { return s.Loop == "route" }) },
			moments: func(m *Moments) { m.HandedOver = time.Time{} },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Records.Doubts).To(BeEmpty())
				g.Expect(c.Handover.GapSeconds).To(BeNil())
				g.Expect(c.Unattended.Cloud.Seconds).To(Equal(2.0))
			},
		},
	}
}

// leaseTests are about who leads.
func leaseTests() map[string]describeTest {
	return map[string]describeTest{
		"a Lease of KCM that no one takes is missed, whatever its metrics say": {
			change: func(r *Records) { r.Terms[1].AcquiredAt = at(27) },
			want: func(g Gomega, c *ClusterReport) {
				g.Expect(c.Unattended.KCM.Spell).To(Equal(loops.Spell{Loop: kcmName, From: at(10), Seconds: 17}))
				g.Expect(c.Unattended.KCM.Soon).To(BeZero())
			},
		},
		"samples, the cloud's log, and Leases each show an overlap": {
			change: func(r *Records) {
				r.see(3, ccmName, "ccm-0", 8, "service")
				r.Calls[1].Time = at(5)
				r.Calls = append(r.Calls, call(6, kcmName, "", ""))
				r.Terms[2].AcquiredAt = at(7.5)
			},
			want: func(g Gomega, c *ClusterReport) { g.Expect(c.Handover.Overlaps).To(Equal(1 + 1 + 3)) },
		},
	}
}

// expected is a report of which nothing is unmet.
func expected() *Report {
	report := &Report{Controller: ManagerCost{APIRequests: map[string]audit.Requests{bed.ManagementName: {"pods": {"list": 1}}}}}
	for _, want := range endings() {
		report.Controller.APIRequests[want.name] = audit.Requests{"nodes": {"list": 1}}
		gap := 1.5
		c := ClusterReport{
			Name: want.name, Result: want.result, Handover: HandoverReport{LeaseDurationSeconds: 15, GapSeconds: &gap},
			Machines:      want.machines,
			Nodes:         NodesReport{Total: want.nodes, Initialized: want.nodes},
			LoadBalancers: loops.LoadBalancerSummary{Before: want.loadBalancers, Kept: want.loadBalancers},
			Unattended: UnattendedReport{
				Cloud: Spells{AtMostSeconds: 20, Moves: 4, Soon: 2}, KCM: Spells{AtMostSeconds: 30, Moves: 2, Soon: 1},
				NodeIPAM: Spells{AtMostSeconds: 40, Moves: 1, Soon: 1},
			},
		}
		if want.loadBalancers > 0 {
			c.Canary = loops.LoadBalancerSummary{Created: 1, Deleted: 1}
		}
		for _, name := range deployments(want.name) {
			c.Components = append(c.Components, ComponentReport{Name: name})
		}
		report.Clusters = append(report.Clusters, c)
	}
	return report
}

type unmetTest struct {
	change func([]ClusterReport)
	want   string
}

const alpha, delta = 0, 3

func TestUnmet(t *testing.T) {
	tests := map[string]unmetTest{
		"a loop in two managers": {
			func(c []ClusterReport) { c[delta].Handover.Overlaps = 2 }, "delta: a loop ran in two managers 2 times",
		},
		"records that prove nothing": {
			func(c []ClusterReport) { c[delta].Records.Doubts = []string{"no manager was read"} },
			"delta: the records prove nothing: no manager was read",
		},
		"a gap of more than half a lease": {
			func(c []ClusterReport) { *c[alpha].Handover.GapSeconds = 7.6 }, "alpha: the gap was 7.6 s, at most 7.5 s",
		},
		"a load balancer that was made again": {
			func(c []ClusterReport) {
				c[alpha].LoadBalancers = loops.LoadBalancerSummary{Before: 2, Kept: 1, Created: 1, Deleted: 1}
			},
			"alpha: load balancers {Before:2 Kept:1 Created:1 Deleted:1}, not {Before:2 Kept:2 Created:0 Deleted:0}",
		},
		"no load balancer at all": {
			func(c []ClusterReport) { c[alpha].LoadBalancers = loops.LoadBalancerSummary{} },
			"alpha: load balancers {Before:0 Kept:0 Created:0 Deleted:0}, not {Before:2 Kept:2 Created:0 Deleted:0}",
		},
		"a canary that stays": {
			func(c []ClusterReport) { c[alpha].Canary.Deleted = 0 },
			"alpha: load balancers of the canary {Before:0 Kept:0 Created:1 Deleted:0}, not {Before:0 Kept:0 Created:1 Deleted:1}",
		},
		"a Machine that was replaced twice": {
			func(c []ClusterReport) { c[alpha].Machines.ReplacedTwice = 1 },
			"alpha: Machines {Before:6 Replaced:6 ReplacedTwice:1 Canaries:1}, not {Before:6 Replaced:6 ReplacedTwice:0 Canaries:1}",
		},
		"a Node that is not initialized": {
			func(c []ClusterReport) { c[delta].Nodes.Initialized = 0 },
			"delta: Nodes {Total:1 Initialized:0}, not {Total:1 Initialized:1}",
		},
		"a cluster that is not done": {
			func(c []ClusterReport) { c[delta].Result = Failed }, "delta: cluster delta is Failed, not Completed",
		},
	}
	maps.Copy(tests, unattendedTests())
	NewWithT(t).Expect(Unmet(expected(), 1)).To(BeEmpty())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			report := expected()
			tc.change(report.Clusters)
			NewWithT(t).Expect(Unmet(report, 1)).To(ConsistOf(tc.want))
		})
	}
	t.Run("a cluster that is missing", func(t *testing.T) {
		NewWithT(t).Expect(Unmet(&Report{}, 1)).To(ConsistOf("0 clusters were reported, not 4"))
	})
}

func TestReadsAreFew(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster string
		sent    audit.Requests
		want    string
	}{
		"of the management cluster": {
			bed.ManagementName, audit.Requests{"pods": {"list": 1501}},
			"all clusters: 1501 reads of the management cluster, at most 1500",
		},
		"of all user clusters together": {
			"beta", audit.Requests{"selfsubjectaccessreviews": {"create": 2501}},
			"all clusters: 2504 reads of user clusters, at most 2500",
		},
		"and are counted": {"beta", nil, "all clusters: the audit log of beta has no request of the manager"},
	} {
		t.Run(name, func(t *testing.T) {
			report := expected()
			report.Controller.APIRequests[tc.cluster] = tc.sent
			NewWithT(t).Expect(Unmet(report, 1)).To(ConsistOf(tc.want))
		})
	}
}

func unattendedTests() map[string]unmetTest {
	return map[string]unmetTest{
		"cloud loops that run nowhere": {
			func(c []ClusterReport) { c[delta].Unattended.Cloud.Spell = loops.Spell{Loop: "route", Seconds: 21} },
			"delta: loop route ran nowhere for 21.0 s, at most 20.0 s",
		},
		"loops of KCM that run nowhere": {
			func(c []ClusterReport) { c[delta].Unattended.KCM.Spell = loops.Spell{Loop: kcmName, Seconds: 31} },
			"delta: loop kube-controller-manager ran nowhere for 31.0 s, at most 30.0 s",
		},
		"the loop of KCM that begins late and runs nowhere": {
			func(c []ClusterReport) {
				c[delta].Unattended.NodeIPAM.Spell = loops.Spell{Loop: "nodeipam", Seconds: 41}
			},
			"delta: loop nodeipam ran nowhere for 41.0 s, at most 40.0 s",
		},
		"moves of cloud loops of which most are slow, beside many others": {
			func(c []ClusterReport) { c[alpha].Unattended.Cloud.Soon-- },
			"all clusters: 7 of 16 moves of the cloud loops were soon, not half of them",
		},
		"moves of which most are slow": {
			func(c []ClusterReport) {
				c[alpha].Unattended.Cloud.Soon = 4
				for i := range c {
					c[i].Unattended.KCM.Soon, c[i].Unattended.NodeIPAM.Soon = 0, 0
				}
			},
			"all clusters: 10 of 28 moves of all loops were soon, not half of them",
		},
		"no move of the cloud loops at all": {
			func(c []ClusterReport) {
				for i := range c {
					c[i].Unattended.Cloud = Spells{AtMostSeconds: 30}
				}
			},
			"all clusters: none of the cloud loops moved",
		},
		"no move of KCM at all": {
			func(c []ClusterReport) {
				for i := range c {
					c[i].Unattended.KCM, c[i].Unattended.NodeIPAM = Spells{AtMostSeconds: 30}, Spells{AtMostSeconds: 40}
				}
			},
			"all clusters: none of the loops of KCM moved",
		},
		"a gap that was not measured": {
			func(c []ClusterReport) { c[alpha].Handover.GapSeconds = nil }, "alpha: the gap of the hand-over was not measured",
		},
	}
}
