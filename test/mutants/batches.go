package main

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// quick is how long a test may take that is run together with others. Longer ones are run alone, the shortest
// first: most mutants are dead before the long ones have their turn.
const quick = time.Second

// batch is tests that are run together.
type batch []string

func (b batch) pattern() string { return "^(" + strings.Join(b, "|") + ")$" }

// batches puts the tests in the order in which they are run.
func batches(took map[string]time.Duration) []batch {
	var first batch
	var alone []batch
	for name, duration := range took {
		if duration < quick {
			first = append(first, name)
		} else {
			alone = append(alone, batch{name})
		}
	}
	slices.Sort(first)
	slices.SortFunc(alone, func(a, b batch) int {
		return cmp.Or(cmp.Compare(took[a[0]], took[b[0]]), cmp.Compare(a[0], b[0]))
	})
	if len(first) == 0 {
		return alone
	}
	return append([]batch{first}, alone...)
}

// durations reads how long each test took that passed. One that was skipped need not be run again.
func durations(output string) map[string]time.Duration {
	took := map[string]time.Duration{}
	for line := range strings.SplitSeq(output, "\n") {
		rest, passed := strings.CutPrefix(line, "--- PASS: ")
		if !passed {
			continue
		}
		name, in, _ := strings.Cut(rest, " ")
		if duration, err := time.ParseDuration(strings.Trim(in, "()")); err == nil {
			took[name] = duration
		}
	}
	return took
}

// failedTest is what failed, or nothing when no test did.
func failedTest(output string) string {
	for line := range strings.SplitSeq(output, "\n") {
		if _, rest, found := strings.Cut(line, "--- FAIL: "); found {
			name, _, _ := strings.Cut(rest, " ")
			return name
		}
	}
	switch {
	case strings.Contains(output, "panic: test timed out"):
		return "time limit"
	case strings.Contains(output, "panic:"):
		return "panic"
	}
	return ""
}
