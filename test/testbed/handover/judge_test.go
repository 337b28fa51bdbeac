package handover

import (
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// at is a moment of the hand-over that good describes: KCM runs the loops until 10, the CCM from 12 on.
func at(second float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
}

func good() Records {
	records := Records{
		Events: []Event{
			{at(0), Flipped, "x"}, {at(1), ServiceDeleted, "load-1"}, {at(2), NodeKilled, "victim"}, {at(3), NodeGone, "victim"},
			{at(10.9), FenceOpened, fenceRole}, {at(11.4), LeaseHolder, ccmName + " " + ccmName + "-1_id"},
		},
		Calls: []simcloud.Call{
			{Time: at(-3), Component: kcmName, Loop: "service", Method: simcloud.CreateLoadBalancer, Object: balancerOf("keep-0")},
			{Time: at(-2), Component: kcmName, Loop: "service", Method: simcloud.CreateLoadBalancer, Object: balancerOf("keep-1")},
			{Time: at(-1), Component: kcmName, Loop: "service", Method: simcloud.CreateLoadBalancer, Object: balancerOf("load-1")},
			{Time: at(12), Component: ccmName, Loop: "service", Method: simcloud.EnsureLoadBalancerDeleted, Object: balancerOf("load-1")},
		},
		Clusters: []Seen{{Time: at(12), Status: handedOver(at(10.4))}},
		State: State{
			Services: []string{"keep-0", "keep-1"}, Nodes: map[string]string{"base": "10.244.0.0/24"}, Routes: true,
			Cloud: simcloud.Snapshot{
				Instances: []simcloud.Instance{{Name: "base"}},
				Routes:    []simcloud.Route{{TargetNode: "base", DestinationCIDR: "10.244.0.0/24"}},
				LoadBalancers: []simcloud.LoadBalancer{
					{Name: balancerOf("keep-0"), Hosts: []string{"base"}}, {Name: balancerOf("keep-1"), Hosts: []string{"base"}},
				},
			},
		},
	}
	for second := range 20 {
		component := kcmName
		if second == 11 {
			continue
		} else if second > 11 {
			component = ccmName
		}
		for _, loop := range loops.CloudLoops() {
			records.Samples = append(
				records.Samples,
				loops.Sample{Time: at(float64(second)), Component: component, Instance: component + "-1", Loop: loop, Running: true},
			)
		}
	}
	return records
}

func handedOver(ended time.Time) ucv1.ClusterStatus {
	status := ucv1.ClusterStatus{
		Conditions: []metav1.Condition{{Type: ucv1.HandoverCompletedCondition, Status: metav1.ConditionTrue}},
	}
	status.Handover = &ucv1.HandoverStatus{
		Protocol: ucv1.FencedProtocol, FinishedAt: &metav1.Time{Time: at(12)},
		Processes: []ucv1.ManagerProcess{{EndedAt: &metav1.MicroTime{Time: ended}}},
	}
	return status
}

func scenario() Scenario {
	return Scenario{Name: "x", Want: HandedOver, Setup: Setup{KCMReplicas: 1, Lease: usualLease}, Bars: Bars{Gap: 3 * time.Second}}
}

type judgeTest struct {
	change   func(*Records)
	scenario func(*Scenario)
	relative bool
	want     string
}

func TestJudge(t *testing.T) {
	for name, tc := range judgeTests() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			records, scenario := good(), scenario()
			if tc.change != nil {
				tc.change(&records)
			}
			if tc.scenario != nil {
				tc.scenario(&scenario)
			}
			_, unmet := Judge(scenario, records, !tc.relative)
			if tc.want == "" {
				g.Expect(unmet).To(BeEmpty())
				return
			}
			g.Expect(unmet).To(ContainElement(ContainSubstring(tc.want)))
		})
	}
}

func judgeTests() map[string]judgeTest {
	tests := map[string]judgeTest{
		"a good hand-over has no objection": {},
		"a loop that ran in two managers": {
			change: func(r *Records) {
				r.Samples = append(
					r.Samples, loops.Sample{Time: at(14), Component: kcmName, Instance: kcmName + "-1", Loop: "service", Running: true},
				)
			},
			want: "loops ran in two managers",
		},
		"a manager that called the cloud after the other one": {
			change: func(r *Records) {
				r.Calls = append(r.Calls, simcloud.Call{Time: at(13), Component: kcmName, Loop: "service"})
			},
			want: "loops ran in two managers",
		},
		"a load balancer that was made again": {
			change: func(r *Records) {
				r.Calls = append(r.Calls, simcloud.Call{
					Time: at(13), Component: ccmName, Loop: "service", Method: simcloud.CreateLoadBalancer, Object: balancerOf("keep-0"),
				})
			},
			want: "was created 2 times",
		},
		"a load balancer that no one wanted to be deleted": {
			change: func(r *Records) {
				r.Calls = append(r.Calls, simcloud.Call{
					Time: at(13), Component: ccmName, Loop: "service", Method: simcloud.DeleteLoadBalancer, Object: balancerOf("keep-0"),
				})
			},
			want: "deleted by mistake",
		},
		"a Node that was deleted while its instance lived": {
			change: func(r *Records) { r.Events = append(r.Events, Event{at(13), NodeGone, "base"}) },
			want:   "Node base was deleted by mistake",
		},
		"a Node that was deleted before its instance died": {
			change: func(r *Records) {
				r.Events = append(r.Events, Event{at(13), NodeGone, "x"}, Event{at(14), NodeKilled, "x"})
			},
			want: "Node x was deleted by mistake",
		},
		"a Service that no one served": {
			change: func(r *Records) { r.State.Services = append(r.State.Services, "lost") },
			want:   "Service lost has no load balancer",
		},
		"a load balancer that is left over": {change: func(r *Records) { r.State.Services = r.State.Services[:1] }, want: "is left over"},
		"a route that is missing":           {change: func(r *Records) { r.State.Cloud.Routes = nil }, want: "the route to it is"},
		"a Node without an instance":        {change: func(r *Records) { r.State.Cloud.Instances = nil }, want: "although its instance is gone"},
		"another result":                    {change: func(r *Records) { r.Clusters = nil }, want: "the result is Unfinished, not HandedOver"},
	}
	maps.Copy(tests, barTests())
	return tests
}

// late has the CCM run the loops five seconds later.
func late(r *Records) {
	for i := range r.Samples {
		if r.Samples[i].Component == ccmName {
			r.Samples[i].Time = r.Samples[i].Time.Add(5 * time.Second)
		}
	}
}

func barTests() map[string]judgeTest {
	return map[string]judgeTest{
		"a gap that is too long":     {change: late, want: "the gap was 7s"},
		"a gap that no one asks for": {change: late, relative: true},
		"a fence that was opened":    {scenario: func(s *Scenario) { s.Bars.NothingOpened = true }, want: "the fence was opened"},
		"a KCM that was changed": {
			change:   func(r *Records) { r.State.KCMChanges = 1 },
			scenario: func(s *Scenario) { s.Bars.Untouched = true }, want: "KCM was changed",
		},
		"a call for routes where there are none": {
			change: func(r *Records) {
				r.Calls = append(r.Calls, simcloud.Call{Time: at(13), Component: ccmName, Loop: "route"})
			},
			scenario: func(s *Scenario) { s.Bars.NoRoutes = true }, want: "asked the cloud about routes",
		},
		"an overlap within the time of the person who made it": {
			change:   overlapWithin(13, 17),
			scenario: func(s *Scenario) { s.Bars.CausedOverlap = 5 * time.Second },
		},
		"one that lasted too long": {
			change:   overlapWithin(13, 17),
			scenario: func(s *Scenario) { s.Bars.CausedOverlap = time.Second }, want: "the person's overlap lasted 2s",
		},
		"one that went on afterwards": {
			change:   overlapWithin(13, 14),
			scenario: func(s *Scenario) { s.Bars.CausedOverlap = 5 * time.Second }, want: "loops ran in two managers",
		},
	}
}

// overlapWithin is KCM at 14, 15 and 16 beside the CCM, and a person who meddles from one moment to another.
func overlapWithin(begins, ends float64) func(*Records) {
	return func(r *Records) {
		r.Events = append(r.Events, Event{at(begins), PersonBegins, ""}, Event{at(ends), PersonEnds, ""})
		for _, second := range []float64{14, 15, 16} {
			r.Samples = append(
				r.Samples, loops.Sample{Time: at(second), Component: kcmName, Instance: kcmName + "-2", Loop: "service", Running: true},
			)
		}
	}
}

func TestRowOfAGoodHandover(t *testing.T) {
	g := NewWithT(t)
	row, _ := Judge(scenario(), good(), true)
	g.Expect(row).To(Equal(Row{
		Scenario: "x", Protocol: "Fenced", Topology: Hosted, KCMReplicas: 1, LeaseDurationSeconds: 15, GapSeconds: new(2.0),
		GapBarSeconds: 3, OtherGapSeconds: row.OtherGapSeconds,
		LoadBalancersKept: 2, Result: HandedOver, Parts: row.Parts,
	}))
	g.Expect(row.Parts.Ends).To(BeNumerically("~", 0.4, 0.01))
	g.Expect(row.Parts.Proof).To(BeNumerically("~", 0.5, 0.01))
	g.Expect(row.Parts.Lease).To(BeNumerically("~", 0.5, 0.01))
	g.Expect(row.Parts.Loops).To(BeNumerically("~", 0.6, 0.01))
}
