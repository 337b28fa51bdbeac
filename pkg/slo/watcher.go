package slo

import (
	"slices"
	"time"
)

const (
	// mostSamples and mostNodes bound the memory. With more Nodes none is measured.
	mostSamples = 500
	mostNodes   = 20000
	// patience is how long the event of an update is waited for; it may never come.
	patience = 5 * time.Minute
)

// Watcher makes samples of looks. The zero value has not looked yet. It is not safe for concurrent use.
type Watcher struct {
	looked  time.Time
	known   map[string]bool
	open    map[string]*opening
	samples []Sample

	// change is when the first Node came that not all load balancers know yet; zero: they know all. unsure and failed are
	// about the updates since.
	change         moment
	unsure, failed bool
	waiting        map[string]waiting
	// events are those of the last look, at eventsAt; eventsSince is since when no look failed.
	events      map[string]ServiceState
	eventsSince time.Time
	eventsAt    time.Time
	balancers   int
}

// waiting is a load balancer that has to know a Node since a moment.
type waiting struct {
	moment

	failed bool
}

// opening is a new Node that is not initialized yet.
type opening struct {
	name    string
	madeAt  time.Time
	since   moment
	tainted bool
	// done are the indicators that have their sample, lastBad the look at which it was last seen unfinished.
	done    map[Indicator]bool
	lastBad map[Indicator]time.Time
}

// moment is one that lies between two looks; after is zero when no one looked before.
type moment struct {
	after, by time.Time
}

// Seen is what the looks brought.
func (w *Watcher) Seen() Seen {
	return Seen{Samples: slices.Clone(w.samples), LoadBalancers: w.balancers, Waits: len(w.waiting) > 0, EventsSince: w.eventsSince}
}

// Nodes takes a look at all Nodes. Those that are there at the first look and have no taint are not measured.
func (w *Watcher) Nodes(now time.Time, nodes []NodeState) {
	now = now.Truncate(time.Microsecond)
	first := w.known == nil
	if w.open == nil {
		w.open = map[string]*opening{}
	}
	if len(nodes) > mostNodes {
		w.known, w.open = nil, nil
		return
	}
	known := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		known[node.UID] = true
		if node.Tainted && first || !first && !w.known[node.UID] {
			w.open[node.UID] = &opening{name: node.Name, madeAt: node.MadeAt, since: moment{after: w.looked, by: now},
				done: map[Indicator]bool{}, lastBad: map[Indicator]time.Time{}}
		}
		if opened := w.open[node.UID]; opened != nil {
			w.look(now, node, opened)
		}
	}
	for uid := range w.open {
		if !known[uid] {
			delete(w.open, uid)
		}
	}
	w.known, w.looked = known, now
}

// look makes the samples of a Node that are due at this look. One that is overdue is a sample now: a Node that never comes must
// not go uncounted.
func (w *Watcher) look(now time.Time, node NodeState, opened *opening) {
	opened.tainted = opened.tainted || node.Tainted
	for _, step := range []struct {
		indicator Indicator
		over      bool
	}{{TaintRemoval, !node.Tainted}, {InitialSync, !node.Tainted && node.Synced}} {
		if opened.done[step.indicator] {
			continue
		}
		sample := Sample{Indicator: step.indicator, MadeAt: opened.madeAt, Tainted: opened.tainted, End: now, Most: -1}
		sample = sample.about("Node", "", opened.name)
		if last := opened.lastBad[step.indicator]; !last.IsZero() {
			sample.Least = last.Sub(opened.since.by)
		}
		if !step.over {
			opened.lastBad[step.indicator] = now
			sample.Least = now.Sub(opened.since.by)
			if sample.Least <= Objective {
				continue
			}
		} else if !opened.since.after.IsZero() {
			sample.Most = now.Sub(opened.since.after)
		}
		opened.done[step.indicator] = true
		w.add(sample)
	}
	if !node.Tainted && node.Synced {
		w.changed(moment{after: w.looked, by: now})
		delete(w.open, node.UID)
	}
}

// changed: every load balancer has to know a Node from now on. Where none was seen, no one could say later that it did.
func (w *Watcher) changed(at moment) {
	if len(w.events) == 0 {
		return
	}
	if w.change.by.IsZero() {
		w.change = at
	}
	if w.waiting == nil {
		w.waiting = map[string]waiting{}
	}
	for uid := range w.events {
		if _, waits := w.waiting[uid]; !waits {
			w.waiting[uid] = waiting{moment: at}
		}
	}
}

func (w *Watcher) add(sample Sample) {
	w.samples = append(w.samples, sample)
	if more := len(w.samples) - mostSamples; more > 0 {
		w.samples = slices.Clone(w.samples[more:])
	}
}
