package slo

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
)

func at(seconds int) time.Time { return noon().Add(time.Duration(seconds) * time.Second) }

// look is what a look sees at a second: tainted and initialized Nodes, and those that have no taint and no providerID.
type look struct {
	at                  int
	tainted, done, half []string
}

func (l look) nodes() []NodeState {
	var nodes []NodeState
	for state, names := range map[string][]string{"tainted": l.tainted, "done": l.done, "half": l.half} {
		for _, name := range names {
			nodes = append(nodes, NodeState{Name: name, UID: "uid-" + name, Tainted: state == "tainted", Synced: state == "done"})
		}
	}
	return nodes
}

// brief is a sample on one line.
func brief(s Sample) string {
	most := "?"
	if s.Most >= 0 {
		most = fmt.Sprint(s.Most.Seconds())
	}
	return fmt.Sprintf("%s %s %v..%s", s.Indicator, s.Object, s.Least.Seconds(), most)
}

func briefs(w *Watcher) []string {
	var all []string
	for _, sample := range w.Seen().Samples {
		all = append(all, brief(sample))
	}
	return all
}

func TestNewNodesAreMeasured(t *testing.T) {
	for name, test := range map[string]struct {
		looks []look
		want  []string
	}{
		"those that were there before the first look are not": {
			looks: []look{{at: 0, done: []string{"a"}}, {at: 5, done: []string{"a"}}},
		},
		"the time lies between the looks": {
			looks: []look{
				{at: 0}, {at: 10, tainted: []string{"a"}}, {at: 30, tainted: []string{"a"}}, {at: 40, done: []string{"a"}},
				{at: 50, done: []string{"a"}},
			},
			want: []string{"TaintRemoval Node a 20..40", "InitialNodeSync Node a 20..40"},
		},
		"one that came and was initialized between two looks took at most so long": {
			looks: []look{{at: 0}, {at: 10, done: []string{"a"}}},
			want:  []string{"TaintRemoval Node a 0..10", "InitialNodeSync Node a 0..10"},
		},
		"the taint may go before the providerID comes": {
			looks: []look{{at: 0}, {at: 1, tainted: []string{"a"}}, {at: 2, half: []string{"a"}}, {at: 9, done: []string{"a"}}},
			want:  []string{"TaintRemoval Node a 0..2", "InitialNodeSync Node a 1..9"},
		},
		"one that is tainted for too long counts before it is initialized, and once": {
			looks: []look{
				{at: 0}, {at: 1, tainted: []string{"a"}}, {at: 61, tainted: []string{"a"}}, {at: 62, tainted: []string{"a"}},
				{at: 90, done: []string{"a"}},
			},
			want: []string{"TaintRemoval Node a 61..?", "InitialNodeSync Node a 61..?"},
		},
		"after a restart no one knows at most how long": {
			looks: []look{{at: 0, tainted: []string{"a"}}, {at: 5, done: []string{"a"}}},
			want:  []string{"TaintRemoval Node a 0..?", "InitialNodeSync Node a 0..?"},
		},
		"after a restart one that is tainted for too long still counts": {
			looks: []look{{at: 0, tainted: []string{"a"}}, {at: 70, tainted: []string{"a"}}},
			want:  []string{"TaintRemoval Node a 70..?", "InitialNodeSync Node a 70..?"},
		},
		"one that goes before it is initialized is none": {
			looks: []look{{at: 0}, {at: 1, tainted: []string{"a"}}, {at: 2}, {at: 99}},
		},
		"one that is tainted again is not new": {
			looks: []look{{at: 0, done: []string{"a"}}, {at: 1, tainted: []string{"a"}}, {at: 99, tainted: []string{"a"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Watcher{}
			for _, look := range test.looks {
				w.Nodes(at(look.at), look.nodes())
			}
			NewWithT(t).Expect(cmp.Diff(test.want, briefs(w))).To(BeEmpty())
		})
	}
}

func TestHowSamplesCount(t *testing.T) {
	for name, test := range map[string]struct {
		sample Sample
		want   Counts
	}{
		"at most a minute is within":               {Sample{Most: Objective}, Counts{Within: 1}},
		"at least more than a minute is missed":    {Sample{Least: Objective + 1, Most: -1}, Counts{Missed: 1}},
		"at least a minute may be within":          {Sample{Least: Objective, Most: -1}, Counts{Unsure: 1}},
		"at most more than a minute may be either": {Sample{Most: Objective + 1}, Counts{Unsure: 1}},
		"an error is an error":                     {Sample{Indicator: SyncErrors, After: at(0)}, Counts{Missed: 1}},
		"an error that may be from before is none": {Sample{Indicator: SyncErrors, After: at(-1)}, Counts{Unsure: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.sample.Class(at(0))).To(Equal(test.want))
		})
	}
}

// balancers is a look at load balancers a and b with their numbers of updates and failures.
func balancers(updatesA, failuresA, updatesB int) []ServiceState {
	return []ServiceState{
		{Namespace: "x", Name: "a", UID: "a", Updates: updatesA, Failures: failuresA},
		{Namespace: "x", Name: "b", UID: "b", Updates: updatesB},
	}
}

// updates says what is measured of load balancers a and b, and of the sync of both.
func updates(a, b, sync string) []string {
	return []string{
		"LoadBalancerHostUpdate Service x/a " + a, "LoadBalancerHostUpdate Service x/b " + b, "NodeSync all load balancers " + sync,
	}
}

func TestLoadBalancersHaveToKnowANewNode(t *testing.T) {
	for name, test := range map[string]struct {
		looks func(w *Watcher)
		want  []string
	}{
		"each is measured, and the last one is the sync": {
			looks: func(w *Watcher) {
				w.Services(at(15), balancers(1, 0, 0))
				w.Services(at(20), balancers(1, 0, 1))
			},
			want: updates("0..15", "0..20", "0..20"),
		},
		"an event that is late alone says nothing, because recorders drop events": {
			looks: func(w *Watcher) {
				w.Services(at(15), balancers(1, 0, 0))
				w.Services(at(100), balancers(1, 0, 0))
				w.Services(at(110), balancers(1, 0, 1))
			},
			want: updates("0..15", "0..110", "0..110"),
		},
		"one that failed first and is late missed": {
			looks: func(w *Watcher) {
				w.Services(at(15), balancers(0, 1, 1))
				w.Services(at(100), balancers(0, 1, 1))
				w.Services(at(110), balancers(1, 1, 1))
			},
			want: []string{
				"NodeSyncErrors Service x/a 0..0", "LoadBalancerHostUpdate Service x/b 0..15",
				"LoadBalancerHostUpdate Service x/a 90..110", "NodeSync all load balancers 90..110",
			},
		},
		"one without any event is not waited for forever": {
			looks: func(w *Watcher) {
				w.Services(at(15), balancers(1, 0, 0))
				w.Services(at(310), balancers(1, 0, 0))
			},
			want: updates("0..15", "0..?", "0..?"),
		},
		"one that is deleted is not waited for": {
			looks: func(w *Watcher) { w.Services(at(15), balancers(1, 0, 0)[:1]) },
			want:  []string{"LoadBalancerHostUpdate Service x/a 0..15", "NodeSync all load balancers 0..15"},
		},
		"what lies in a look that failed is not counted": {
			looks: func(w *Watcher) {
				w.CannotLook()
				w.Services(at(15), balancers(1, 0, 1))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := &Watcher{}
			w.Nodes(at(0), nil)
			w.Services(at(0), balancers(0, 0, 0))
			w.Nodes(at(10), look{done: []string{"n"}}.nodes())
			g.Expect(w.Waits(at(10))).To(BeTrue())
			w.samples = nil // Those of the Node.
			test.looks(w)
			g.Expect(cmp.Diff(test.want, briefs(w))).To(BeEmpty())
			g.Expect(w.Seen().Waits).To(BeFalse())
		})
	}
}

func TestWhatNoOneLookedAtIsNoSync(t *testing.T) {
	g := NewWithT(t)
	w := &Watcher{}
	w.Nodes(at(0), nil)
	w.Services(at(0), balancers(0, 0, 0))
	w.CannotLook()
	w.Nodes(at(10), look{done: []string{"n"}}.nodes())
	w.samples = nil // Those of the Node.
	w.Services(at(15), balancers(1, 0, 1))
	w.Services(at(20), balancers(1, 0, 1))
	g.Expect(briefs(w)).To(BeEmpty(), "the Node came while nothing was known of the load balancers")
}

func TestEventsAreLookedAtSeldomWhileNothingIsWaitedFor(t *testing.T) {
	g := NewWithT(t)
	w := &Watcher{}
	g.Expect(w.Waits(at(0))).To(BeTrue())
	w.Services(at(0), balancers(3, 2, 1))
	g.Expect(w.Waits(at(59))).To(BeFalse())
	g.Expect(w.Waits(at(60))).To(BeTrue())
	g.Expect(w.Seen().EventsSince).To(Equal(at(0)))
	g.Expect(w.Seen().Samples).To(BeEmpty(), "what came before the first look belongs to another time")
	w.CannotLook()
	g.Expect(w.Seen().EventsSince.IsZero()).To(BeTrue())
}

func TestMemoryIsBounded(t *testing.T) {
	g := NewWithT(t)
	w := &Watcher{}
	w.Nodes(at(0), nil)
	var names []string
	for i := range mostSamples {
		names = append(names, fmt.Sprint(i))
	}
	w.Nodes(at(1), look{done: names}.nodes())
	g.Expect(w.Seen().Samples).To(HaveLen(mostSamples))
	g.Expect(w.open).To(BeEmpty())
	w.Nodes(at(2), make([]NodeState, mostNodes+1))
	g.Expect(w.known).To(BeEmpty())
}
