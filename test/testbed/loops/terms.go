package loops

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Term is a time of leadership, as a version of a manager's Lease tells it.
type Term struct {
	Cluster string `json:"cluster"`
	// Lease has the name of the component that takes it, UID tells one that was
	// made again.
	Lease       string    `json:"lease"`
	UID         string    `json:"uid"`
	Holder      string    `json:"holder"`
	Transitions int32     `json:"transitions"`
	AcquiredAt  time.Time `json:"acquiredAt"`
	// DurationSeconds is how long the Lease has to stand still before another one
	// takes it.
	DurationSeconds int32 `json:"durationSeconds"`
}

// InCluster says whether it is a manager of the cluster.
func (t Term) InCluster(cluster string) bool { return t.Cluster == cluster }

// stint is a term with the process that had it. A manager runs loops only
// between its acquisition and its own end: one that loses its Lease exits
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go#L303).
type stint struct {
	runner   Runner
	pid      int
	from, to time.Time
	// loops that were seen in it, and those that its arguments exclude.
	loops    map[string]bool
	excluded []string
}

// mayRun counts a stint that was too short to be seen as one of every loop that
// its process could run.
func (s stint) mayRun(loop string) bool {
	return s.loops[loop] || len(s.loops) == 0 && !slices.Contains(s.excluded, loop)
}

// Evidence is what Leases and processes tell about one cluster.
type Evidence struct {
	Terms    []Term
	Managers []Manager
	Samples  []Sample
}

// Judge finds overlaps of any length: samples are half a second apart, but a
// manager that took its Lease after the end of whoever ran the loop before
// cannot have run it at the same time. The doubts say where that cannot be told
// from the records; only samples from since to now are asked whose they are.
func (e Evidence) Judge(since, now time.Time) (overlaps []Overlap, doubts []string) {
	stints, doubts := e.stints(now)
	for i, first := range stints {
		for _, second := range stints[i+1:] {
			if first.pid == second.pid || !second.from.Before(first.to) {
				continue
			}
			for _, loop := range first.sharedWith(second) {
				overlaps = append(overlaps, Overlap{
					Cluster: e.Terms[0].Cluster, Loop: loop, First: first.runner, Second: second.runner,
					From: second.from, To: earlier(first.to, second.to),
				})
			}
		}
	}
	return overlaps, append(doubts, e.outsiders(stints, since, now)...)
}

// sharedWith are the cloud loops that both ran, or the component itself: two leaders by one Lease run all of its loops twice,
// also those that no metric of it has.
func (s stint) sharedWith(other stint) []string {
	if s.runner.Component == other.runner.Component {
		return []string{s.runner.Component}
	}
	return slices.DeleteFunc(CloudLoops(), func(loop string) bool { return !s.mayRun(loop) || !other.mayRun(loop) })
}

// Leaderless are the times from the end of a process that held a Lease to the next one that took it, or to to, if that was
// from from to to. All loops of a manager run only in its leader, also those that no metric of it has.
func (e Evidence) Leaderless(lease string, from, to time.Time) []Spell {
	stints, _ := e.stints(to)
	var spells []Spell
	led := from
	leaves := func(next time.Time) {
		if next.After(led) && next.After(from) {
			spells = append(spells, Spell{Loop: lease, From: led, Seconds: next.Sub(led).Seconds()})
		}
	}
	for _, s := range stints {
		if s.runner.Component != lease || s.from.After(to) {
			continue
		}
		leaves(s.from)
		if s.to.After(led) {
			led = s.to
		}
	}
	leaves(to)
	return spells
}

// stints are sorted by when they began. A term that began afterwards is not asked: its process counts as ended by then.
func (e Evidence) stints(now time.Time) (stints []stint, doubts []string) {
	last := map[string]Term{}
	byTime := func(a, b Term) int { return a.AcquiredAt.Compare(b.AcquiredAt) }
	for _, term := range slices.SortedStableFunc(slices.Values(e.Terms), byTime) {
		if term.AcquiredAt.After(now) {
			break
		}
		before, found := last[term.Lease]
		if found && before.UID == term.UID && term.Transitions != before.Transitions+1 {
			doubts = append(doubts, fmt.Sprintf("the history of Lease %s has a hole before its holder %s", term.Lease, term.Holder))
		}
		last[term.Lease] = term
		if s, found := e.stintOf(term, now); found {
			stints = append(stints, s)
		} else {
			doubts = append(doubts, fmt.Sprintf("holder %s of Lease %s is no process that is known", term.Holder, term.Lease))
		}
	}
	for _, lease := range []string{kubeControllerManager, cloudControllerManager} {
		if _, found := last[lease]; !found {
			doubts = append(doubts, "Lease "+lease+" has no history")
		}
	}
	return stints, doubts
}

// stintOf finds the process that had a term: a holder's name begins with that of its pod.
func (e Evidence) stintOf(term Term, now time.Time) (stint, bool) {
	pod, _, _ := strings.Cut(term.Holder, "_")
	for _, m := range e.Managers {
		lived := !m.StartedAt.After(term.AcquiredAt) && m.until(now).After(term.AcquiredAt)
		if m.Component != term.Lease || m.Instance != pod || !lived {
			continue
		}
		s := stint{
			runner: Runner{term.Lease, pod}, pid: m.PID, from: term.AcquiredAt, to: m.until(now), loops: map[string]bool{},
			excluded: m.Excluded,
		}
		for _, sample := range e.Samples {
			if s.has(sample) {
				s.loops[sample.Loop] = true
			}
		}
		return s, true
	}
	return stint{}, false
}

// has says whether a sample is of the stint. Its time is that of the question,
// and the answer may be as late as the timeout.
func (s stint) has(sample Sample) bool {
	return sample.Running && sample.Component == s.runner.Component && sample.Instance == s.runner.Instance &&
		!sample.Time.Add(defaultTimeout).Before(s.from) && !sample.Time.After(s.to)
}

// outsiders are those who ran a loop without their Lease; each is named once.
func (e Evidence) outsiders(stints []stint, since, now time.Time) []string {
	var doubts []string
	for _, sample := range e.Samples {
		if !sample.Running || sample.Time.Before(since) || sample.Time.After(now) {
			continue
		}
		if slices.ContainsFunc(stints, func(s stint) bool { return s.has(sample) }) {
			continue
		}
		doubt := fmt.Sprintf("Pod %s ran loop %s without holding Lease %s", sample.Instance, sample.Loop, sample.Component)
		if !slices.Contains(doubts, doubt) {
			doubts = append(doubts, doubt)
		}
	}
	return doubts
}
