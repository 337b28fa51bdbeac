package loops

import (
	"cmp"
	"slices"
	"time"
)

// Runner is a process that runs loops.
type Runner struct {
	Component string `json:"component"`
	Instance  string `json:"instance"`
}

// Overlap is a time in which two runners both did the work of one loop.
type Overlap struct {
	Cluster string    `json:"cluster"`
	Loop    string    `json:"loop"`
	First   Runner    `json:"first"`
	Second  Runner    `json:"second"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
}

// loopOf is a loop of a cluster, whoever runs it.
type loopOf struct{ cluster, loop string }

// span is a time in which a runner was seen to run a loop, without a sign that
// it had stopped in between.
type span struct {
	runner   Runner
	from, to time.Time
}

// Overlaps returns each pair of spans of different runners of one loop of one
// cluster that have a moment in common. A span is from the first sample that
// says running to the last one before a sample that says it is not. A manager
// that cannot be read for a while may run on, so silence does not end a span.
func Overlaps(samples []Sample) []Overlap {
	var found []Overlap
	for key, spans := range spansOf(samples) {
		for i, first := range spans {
			for _, second := range spans[i+1:] {
				if second.from.After(first.to) || second.runner == first.runner {
					continue
				}
				found = append(found, Overlap{
					Cluster: key.cluster, Loop: key.loop, First: first.runner, Second: second.runner,
					From: second.from, To: earlier(first.to, second.to),
				})
			}
		}
	}
	sortOverlaps(found)
	return found
}

// Gaps returns for each loop the longest time in which no runner was seen to
// run it, between the first and the last time that any did. Only the part from
// from to to counts; a zero time is no limit. Samples are of one cluster: see
// OfCluster.
func Gaps(samples []Sample, from, to time.Time) map[string]time.Duration {
	longest := map[string]time.Duration{}
	for key, spans := range spansOf(samples) {
		covered := spans[0].to
		longest[key.loop] = max(longest[key.loop], 0)
		for _, next := range spans[1:] {
			longest[key.loop] = max(longest[key.loop], within(covered, next.from, from, to))
			if next.to.After(covered) {
				covered = next.to
			}
		}
	}
	return longest
}

// Spell is a time in which no manager was seen to run a loop.
type Spell struct {
	Loop    string    `json:"loop"`
	From    time.Time `json:"from"`
	Seconds float64   `json:"seconds"`
}

// Unattended is the longest spell of any of the loops from from to to, both ends
// included: a loop that was never seen was unattended all the time, and so was
// one whose manager could not be read. Samples are of one cluster.
func Unattended(samples []Sample, loops []string, from, to time.Time) Spell {
	longest, last := Spell{}, map[string]time.Time{}
	see := func(loop string, at time.Time) {
		if seconds := at.Sub(last[loop]).Seconds(); seconds > longest.Seconds {
			longest = Spell{Loop: loop, From: last[loop], Seconds: seconds}
		}
		last[loop] = at
	}
	for _, loop := range loops {
		last[loop] = from
	}
	for _, sample := range inTime(samples) {
		_, asked := last[sample.Loop]
		if asked && sample.Running && sample.Time.After(from) && sample.Time.Before(to) {
			see(sample.Loop, sample.Time)
		}
	}
	for _, loop := range loops {
		see(loop, to)
	}
	return longest
}

// Moves are the times from the last sight of a loop in one manager to the first one in the next, if that was from from to
// to. Samples are of one cluster.
func Moves(samples []Sample, loops []string, from, to time.Time) []Spell {
	type sight struct {
		runner Runner
		at     time.Time
	}
	var moves []Spell
	last := map[string]sight{}
	for _, sample := range inTime(samples) {
		if !sample.Running || !slices.Contains(loops, sample.Loop) || sample.Time.After(to) {
			continue
		}
		now := sight{Runner{sample.Component, sample.Instance}, sample.Time}
		before, seen := last[sample.Loop]
		if seen && before.runner != now.runner && now.at.After(from) {
			moves = append(moves, Spell{Loop: sample.Loop, From: before.at, Seconds: now.at.Sub(before.at).Seconds()})
		}
		last[sample.Loop] = now
	}
	return moves
}

// within is how much of start to end lies from from to to; negative for none.
func within(start, end, from, to time.Time) time.Duration {
	if start.Before(from) {
		start = from
	}
	if !to.IsZero() {
		end = earlier(end, to)
	}
	return end.Sub(start)
}

// spansOf sorts each loop's spans by when they began.
func spansOf(samples []Sample) map[loopOf][]span {
	type place struct {
		loopOf
		Runner
	}
	spans := map[loopOf][]span{}
	open := map[place]int{}
	for _, sample := range inTime(samples) {
		key := loopOf{sample.Cluster, sample.Loop}
		runner := Runner{sample.Component, sample.Instance}
		at, isOpen := open[place{key, runner}]
		switch {
		case !sample.Running:
			delete(open, place{key, runner})
		case isOpen:
			spans[key][at].to = sample.Time
		default:
			open[place{key, runner}] = len(spans[key])
			spans[key] = append(spans[key], span{runner: runner, from: sample.Time, to: sample.Time})
		}
	}
	return spans
}

func inTime(samples []Sample) []Sample {
	return slices.SortedStableFunc(slices.Values(samples), func(a, b Sample) int { return a.Time.Compare(b.Time) })
}

func sortOverlaps(overlaps []Overlap) {
	slices.SortFunc(overlaps, func(a, b Overlap) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Loop, b.Loop),
			cmp.Compare(a.First.Instance, b.First.Instance), cmp.Compare(a.Second.Instance, b.Second.Instance))
	})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
