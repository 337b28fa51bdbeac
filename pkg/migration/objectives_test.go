package migration

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// slow are Nodes that were tainted for more than a minute; they were seen to be so some time ago.
func slow(since time.Duration, names ...string) []slo.Sample {
	var samples []slo.Sample
	for _, name := range names {
		samples = append(samples,
			slo.Sample{Indicator: slo.TaintRemoval, Object: "Node " + name, Kind: "Node", Name: name, Least: 61 * time.Second, Most: -1,
				End: ago(since), MadeAt: ago(since + 70*time.Second), Tainted: true})
	}
	return samples
}

func measure(samples ...slo.Sample) func(*Observation) {
	return func(o *Observation) { o.Measured = observation.Known(slo.Seen{Samples: samples}) }
}

// counted are persisted counts of an earlier pass.
func counted(missed int32, until time.Duration) *ucv1.SLOStatus {
	return &ucv1.SLOStatus{Since: stampAgo(30 * time.Minute), CountedUntil: microAgo(until),
		Indicators: []ucv1.SLOIndicator{{Name: string(slo.TaintRemoval), Missed: missed, Slow: []string{"Node x, at least 1m1s"},
			SlowObjects: []ucv1.ObjectName{{Kind: "Node", Name: "x"}}}}}
}

func TestTheRollHaltsWhenTheObjectivesAreViolated(t *testing.T) {
	goesOn := func(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.ViolatedAt).To(BeNil()) }
	runDecisions(t, map[string]decision{
		"two Nodes that were too slow halt it, by name": {
			given: rolling, when: violated, step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason, facts: noted,
			says: []string{"TaintRemoval: 2 of 2 took more than 1m0s", "Node a, at least 1m1s", "Node b", "spec.slo.countSince"},
		},
		"one may be an accident": {
			given:  rolling,
			when:   measure(slow(time.Minute, "a")...),
			step:   ucv1.StepRoll,
			action: outcome.ActionRollMachineDeployment,
			facts:  goesOn,
		},
		"it goes on by itself where that is configured": {
			given: rolling, when: func(o *Observation) {
				violated(o)
				o.Cluster.Spec.SLO.OnViolation = ucv1.ContinueOnViolation
			},
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.Verdict).To(BeEquivalentTo(slo.Violated)) },
		},
		"it stays halted when the violation is over, until a person looked": {
			given: rolling, when: func(o *Observation) {
				o.Cluster.Status.SLO = &ucv1.SLOStatus{Since: stampAgo(time.Hour), ViolatedAt: stampAgo(20 * time.Minute)}
			},
			step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"it goes on when a person looked": {
			given: rolling, when: func(o *Observation) {
				o.Cluster.Status.SLO = counted(2, time.Minute)
				o.Cluster.Status.SLO.ViolatedAt = stampAgo(time.Minute)
				o.Cluster.Spec.SLO.CountSince = stampAgo(time.Second)
				measure(slow(time.Minute, "a", "b")...)(o)
			},
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			facts: func(g Gomega, f ucv1.Facts) {
				goesOn(g, f)
				g.Expect(f.SLO.Since.Time).To(Equal(ago(time.Second)))
				g.Expect(f.SLO.Indicators[0].Missed).To(BeZero())
			},
		},
		"a look of a person before the violation does not let it go on": {
			given: rolling, when: func(o *Observation) {
				o.Cluster.Status.SLO = counted(2, time.Minute)
				o.Cluster.Status.SLO.ViolatedAt = stampAgo(time.Minute)
				o.Cluster.Spec.SLO.CountSince = stampAgo(30 * time.Minute)
			},
			step: ucv1.StepRoll, fails: ucv1.SLOViolatedReason, facts: noted,
		},
		"what could not be looked at is no good sign": {
			given: rolling,
			when:  func(o *Observation) { o.Measured = observation.Unknown[slo.Seen]("timeout") },
			step:  ucv1.StepRoll,
			wait:  ucv1.CouldNotLookReason,
			says:  []string{"how long Nodes take"},
		},
		"with everything rolled there is nothing to halt": {
			given: verifying, when: violated, step: ucv1.StepVerify, action: outcome.ActionRecord,
		},
	})
}

func TestSamplesAreCountedOnce(t *testing.T) {
	missed := func(want int32) func(Gomega, ucv1.Facts) {
		return func(g Gomega, f ucv1.Facts) { g.Expect(f.SLO.Indicators[0].Missed).To(Equal(want)) }
	}
	sample := func(change func(*slo.Sample)) []slo.Sample {
		samples := slow(time.Minute, "a")
		change(&samples[0])
		return samples
	}
	for name, test := range map[string]struct {
		samples []slo.Sample
		when    func(*Observation)
		want    func(Gomega, ucv1.Facts)
	}{
		"those of earlier passes stay":      {want: missed(1)},
		"a new one is added":                {samples: slow(time.Minute, "a"), want: missed(2)},
		"one that was counted is not":       {samples: slow(5*time.Minute, "a"), want: missed(1)},
		"those of one look are all new":     {samples: slow(time.Minute, "a", "b", "c"), want: missed(4)},
		"one from before the flags is not":  {samples: slow(31*time.Minute, "a"), when: func(o *Observation) { o.Cluster.Status.SLO.CountedUntil = nil }, want: missed(1)},
		"a Node that may be in-tree is not": {samples: sample(func(s *slo.Sample) { s.Tainted, s.MadeAt = false, ago(31*time.Minute) }), want: missed(1)},
		"a Node of the flags' time is":      {samples: sample(func(s *slo.Sample) { s.Tainted = false }), want: missed(2)},
		"one after the soak time is not": {samples: slow(time.Second, "a"), when: func(o *Observation) {
			o.Cluster.Spec.Rollout.SoakSeconds = new(int32(90))
			complete(o, 95*time.Second)
		}, want: missed(1)},
		"one in the soak time is":             {samples: slow(time.Minute, "a"), when: func(o *Observation) { complete(o, 2*time.Minute) }, want: missed(2)},
		"what cannot be looked at is no zero": {when: func(o *Observation) { o.Measured = observation.Unknown[slo.Seen]("timeout") }, want: missed(1)},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := verifying()
			o.Cluster.Status.SLO = counted(1, 5*time.Minute)
			measure(test.samples...)(&o)
			if test.when != nil {
				test.when(&o)
			}
			facts := o.Cluster.Status.Facts
			if d := Decide(o, noon()); d.Facts != nil {
				facts = *d.Facts
			}
			test.want(g, facts)
			o.Cluster.Status.Facts = facts
			if d := Decide(o, noon()); d.Facts != nil {
				facts = *d.Facts
			}
			test.want(g, facts)
		})
	}
}

func complete(o *Observation, since time.Duration) {
	o.Cluster.Status.CompletedAt = stampAgo(since)
}

func TestVerdictsOfTheStatus(t *testing.T) {
	within := func(count int, indicator slo.Indicator) []slo.Sample {
		var samples []slo.Sample
		for range count {
			samples = append(samples, slo.Sample{Indicator: indicator, Most: time.Second, End: ago(time.Minute), Tainted: true})
		}
		return samples
	}
	nodes := slices.Clip(append(within(20, slo.TaintRemoval), within(20, slo.InitialSync)...))
	balancers := append(within(20, slo.HostUpdate), within(20, slo.NodeSync)...)
	failed := slo.Sample{Indicator: slo.SyncErrors, Object: "Service web/front", After: ago(2 * time.Minute), End: ago(time.Minute)}
	early := failed
	early.After = ago(31 * time.Minute)
	for name, test := range map[string]struct {
		seen       slo.Seen
		want       slo.Verdict
		indicators int
	}{
		"Nodes alone count where there is no load balancer": {slo.Seen{Samples: nodes}, slo.Met, 2},
		"few Nodes prove nothing":                           {slo.Seen{Samples: nodes[:39]}, slo.Inconclusive, 2},
		"load balancers have to be measured, too":           {slo.Seen{Samples: nodes, LoadBalancers: 1, EventsSince: ago(20 * time.Minute)}, slo.Inconclusive, 5},
		"all are met": {slo.Seen{Samples: append(nodes, balancers...), LoadBalancers: 1, EventsSince: ago(20 * time.Minute)}, slo.Met, 5},
		"without events nothing is known of load balancers": {slo.Seen{Samples: append(nodes, balancers...), LoadBalancers: 1}, slo.Inconclusive, 5},
		"one error violates":                            {slo.Seen{Samples: append(nodes, failed), LoadBalancers: 1, EventsSince: ago(20 * time.Minute)}, slo.Violated, 5},
		"one that may be from before the roll does not": {slo.Seen{Samples: append(nodes, early), LoadBalancers: 1, EventsSince: ago(20 * time.Minute)}, slo.Inconclusive, 5},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := verifying()
			o.Measured = observation.Known(test.seen)
			d := Decide(o, noon())
			g.Expect(d.Facts.SLO.Verdict).To(BeEquivalentTo(test.want), "%+v", d.Facts.SLO.Indicators)
			g.Expect(d.Facts.SLO.Indicators).To(HaveLen(test.indicators))
		})
	}
}

func TestWhenIsMeasured(t *testing.T) {
	for name, test := range map[string]struct {
		when func(*Observation)
		want bool
	}{
		"while Machines are rolled":         {func(*Observation) {}, true},
		"in the soak time after completion": {func(o *Observation) { complete(o, time.Minute) }, true},
		"not after it":                      {func(o *Observation) { complete(o, observation.DefaultSoak) }, false},
		"not before the CCM has the loops":  {func(o *Observation) { o.Cluster.Status.Handover.FinishedAt = nil }, false},
		"not in a rollback": {func(o *Observation) {
			o.Cluster.Status.Rollback = &ucv1.RollbackStatus{StartedAt: new(metav1.NewTime(noon()))}
		}, false},
		"not in a cluster that was created external": {func(o *Observation) { o.Cluster.Status.Origin = ucv1.OriginExternal }, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := verifying()
			test.when(&o)
			NewWithT(t).Expect(rollout.Measures(o.Cluster, noon())).To(Equal(test.want))
		})
	}
}
