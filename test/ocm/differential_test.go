package ocm_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// comparison of what both make of a trial.
type comparison struct {
	trial
	theirs, ours outcome
}

func five() []cluster {
	return []cluster{
		{name: "a", takes: 30 * time.Minute}, {name: "b", takes: 30 * time.Minute}, {name: "c", takes: 30 * time.Minute},
		{name: "d", takes: 30 * time.Minute}, {name: "e", takes: 30 * time.Minute},
	}
}

// limits of five Clusters that all succeed.
func limits() map[string]comparison {
	of := func(maxConcurrency string, theirs, ours outcome) comparison {
		return comparison{trial{clusters: five(), maxConcurrency: maxConcurrency, maxFailures: "0"}, theirs, ours}
	}
	all, none := outcome{started: 5}, outcome{}
	allAtOnce := outcome{[]int{withinLimits}, 5}
	return map[string]comparison{
		"two at once":                of("2", all, all),
		"two fifths":                 of("40%", all, all),
		"more than there are":        of("10", all, all),
		"0 is none, and not all":     of("0", allAtOnce, none),
		"0% is none, and not all":    of("0%", allAtOnce, none),
		"250% is a mistake, not all": of("250%", allAtOnce, none),
	}
}

func failures() map[string]comparison {
	const hour = time.Hour
	bad := func(name string) cluster { return cluster{name: name, takes: 10 * time.Minute, fails: true} }
	good := func(name string, joins time.Duration) cluster {
		return cluster{name: name, joins: joins, takes: 50 * time.Minute}
	}
	return map[string]comparison{
		"no more start when one has failed": {
			trial{clusters: []cluster{bad("a"), good("b", 0), good("c", 0)}, maxConcurrency: "1", maxFailures: "0"},
			outcome{started: 1}, outcome{started: 1},
		},
		"nor does one that joins then, whose name comes first": {
			trial{clusters: []cluster{bad("b"), good("c", 0), good("a", 2*hour)}, maxConcurrency: "2", maxFailures: "0"},
			outcome{[]int{stopsAtFailures}, 3}, outcome{started: 2},
		},
		"nor one that joins a group": {
			trial{clusters: []cluster{bad("b"), good("c", 0), good("d", 2*hour)}, maxFailures: "0"},
			outcome{[]int{stopsAtFailures}, 3}, outcome{started: 2},
		},
		"ten may fail, although there are five": {
			trial{clusters: append(five()[1:], bad("a")), maxConcurrency: "1", maxFailures: "10"},
			outcome{started: 1}, outcome{started: 5},
		},
	}
}

func groups() map[string]comparison {
	const minute = time.Minute
	return map[string]comparison{
		"one group after the other": {
			trial{clusters: []cluster{
				{name: "a", takes: 50 * minute}, {name: "b", takes: 20 * minute}, {name: "c", group: 1, takes: minute},
			}, maxFailures: "0"},
			outcome{started: 3}, outcome{started: 3},
		},
		"one is late, and another of its group still under way": {
			trial{clusters: []cluster{
				{name: "a", joins: 30 * minute, takes: 50 * minute}, {name: "b"}, {name: "c", group: 1, takes: minute},
			}, maxFailures: "1", deadline: 60 * minute},
			outcome{[]int{oneGroupAfterTheOther}, 3}, outcome{started: 3},
		},
	}
}

func TestTheRulesBite(t *testing.T) {
	for _, comparisons := range []map[string]comparison{limits(), failures(), groups()} {
		for name, c := range comparisons {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				g.Expect(c.run(t, theirs{c.trial})).To(Equal(c.theirs), "Open Cluster Management")
				g.Expect(c.run(t, newOurs(c.trial))).To(Equal(c.ours), "pkg/fleet")
			})
		}
	}
}
