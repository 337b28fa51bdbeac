package ocm_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// The rules, by their numbers.
const (
	// withinLimits: no more Clusters are under way than maxConcurrency says.
	withinLimits = 1
	// stopsAtFailures: once more have failed than maxFailures says, none starts.
	stopsAtFailures = 2
	// oneGroupAfterTheOther: none starts while one of an earlier group waits or is under way.
	oneGroupAfterTheOther = 3
)

// trial is a small fleet and its limits, as a person writes them.
type trial struct {
	clusters []cluster
	// maxConcurrency is that of all Clusters together; empty where they are in groups, which have none.
	maxConcurrency, maxFailures string
	// deadline after which one that goes on counts as failed; zero for none.
	deadline time.Duration
}

// cluster is what becomes of a Cluster. One that takes no time never gets done.
type cluster struct {
	name         string
	group        int
	joins, takes time.Duration
	fails        bool
}

type state int

const (
	waiting state = iota
	underWay
	succeeded
	failed
	timedOut
)

// seen is a Cluster at a time, and since when it has been so.
type seen struct {
	cluster
	state            state
	startedAt, since time.Time
}

func (s seen) hasFailed() bool { return s.state == failed || s.state == timedOut }

// algorithm says which Clusters may start, or go on, now.
type algorithm interface {
	next(t *testing.T, now time.Time, fleet []seen) []string
}

// outcome of a trial: the rules that were broken, and how many Clusters started.
type outcome struct {
	broken  []int
	started int
}

func begin() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) }

// run a trial for ten hours, minute by minute.
func (tr trial) run(t *testing.T, a algorithm) outcome {
	t.Helper()
	startedAt, broken := map[string]time.Time{}, map[int]bool{}
	for minute := range 600 {
		now := begin().Add(time.Duration(minute) * time.Minute)
		fleet := tr.at(now, startedAt)
		if len(fleet) == 0 {
			continue
		}
		allowed := a.next(t, now, slices.Clone(fleet))
		var starts []seen
		for _, s := range fleet {
			if s.state == waiting && slices.Contains(allowed, s.name) {
				startedAt[s.name] = now
				starts = append(starts, s)
			}
		}
		tr.check(fleet, tr.at(now, startedAt), starts, broken)
	}
	return outcome{slices.Sorted(maps.Keys(broken)), len(startedAt)}
}

// at is the fleet at a time, without what joins later.
func (tr trial) at(now time.Time, startedAt map[string]time.Time) []seen {
	var fleet []seen
	for _, c := range tr.clusters {
		if now.Before(begin().Add(c.joins)) {
			continue
		}
		s := seen{cluster: c}
		if began, started := startedAt[c.name]; started {
			s.startedAt, s.state, s.since = began, underWay, began
			ends, late := began.Add(c.takes), began.Add(tr.deadline)
			switch {
			case c.takes > 0 && !now.Before(ends) && c.fails:
				s.state, s.since = failed, ends
			case c.takes > 0 && !now.Before(ends):
				s.state, s.since = succeeded, ends
			case tr.deadline > 0 && !now.Before(late):
				s.state, s.since = timedOut, late
			}
		}
		fleet = append(fleet, s)
	}
	return fleet
}

// check what started against the fleet before and after it.
func (tr trial) check(before, after, starts []seen, broken map[int]bool) {
	if len(starts) == 0 {
		return
	}
	busy, lost := 0, 0
	for _, s := range after {
		if s.state == underWay {
			busy++
		}
		if s.hasFailed() {
			lost++
		}
	}
	if tr.maxConcurrency != "" && busy > meant(tr.maxConcurrency, len(after)) {
		broken[withinLimits] = true
	}
	if lost > meant(tr.maxFailures, len(after)) {
		broken[stopsAtFailures] = true
	}
	last := slices.MaxFunc(starts, func(a, b seen) int { return cmp.Compare(a.group, b.group) }).group
	if slices.ContainsFunc(before, func(s seen) bool { return s.group < last && (s.state == waiting || s.state == underWay) }) {
		broken[oneGroupAfterTheOther] = true
	}
}

// meant is what a person means by a limit. What is more than all, or no number, is a mistake, and a mistake allows nothing.
func meant(limit string, total int) int {
	number, isPercentage := strings.CutSuffix(limit, "%")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || n < 0 || isPercentage && n > 100:
		return 0
	case isPercentage && n > 0:
		return max(1, total*n/100)
	}
	return n
}

func TestLimitsAreReadAsPeopleMeanThem(t *testing.T) {
	for limit, want := range map[string]int{"0": 0, "2": 2, "0%": 0, "10%": 1, "40%": 2, "100%": 5, "250%": 0, "-1": 0, "two": 0} {
		NewWithT(t).Expect(meant(limit, 5)).To(Equal(want), limit)
	}
}
