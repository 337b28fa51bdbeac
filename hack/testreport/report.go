package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// small is what a line of the table is too little for.
const small = 5 * time.Second

// spent is a line of the table.
type spent struct {
	name         string
	used, budget time.Duration
}

// isOver is what a person should look at; isFarOver, half as much again, is what fails the tier that decides.
func (s spent) isOver() bool    { return s.used > s.budget }
func (s spent) isFarOver() bool { return s.used > s.budget*3/2 }

func printFailures(out io.Writer, tests map[string]outcome) {
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		if tests[name] == failed {
			_, _ = fmt.Fprintln(out, "FAILED", name)
		}
	}
}

func printBudgets(out io.Writer, r *testRun, lines []spent, totalBudget time.Duration) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nPACKAGE\tUSED\tBUDGET\t")
	others, rest, sum := 0, time.Duration(0), time.Duration(0)
	for _, s := range lines {
		sum += s.used
		if s.used < small && !s.isOver() {
			others, rest = others+1, rest+s.used
			continue
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.name, clock(s.used), clock(s.budget), s.remark())
	}
	_, _ = fmt.Fprintf(table, "%d others\t%s\t\t\n", others, clock(rest))
	_, _ = fmt.Fprintf(table, "sum\t%s\t\twithout compiling; packages run side by side\n", clock(sum))
	_, _ = fmt.Fprintln(table, "\nGROUP\tTOOK\tBUDGET\t")
	total := spent{name: "total", budget: totalBudget}
	for _, name := range r.plan {
		total.used += r.groups[name].wall
		_, _ = fmt.Fprintf(table, "%s\t%s\t\t\n", name, clock(r.groups[name].wall))
	}
	_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", total.name, clock(total.used), clock(total.budget), total.remark())
	_ = table.Flush()
}

// excess is which budgets were exceeded by half.
func excess(lines []spent) map[string]outcome {
	failures := map[string]outcome{}
	for _, s := range lines {
		if s.isFarOver() {
			failures[fmt.Sprintf("%s: it took %s of %s minutes: make it faster, or give it more in %s",
				s.name, clock(s.used), clock(s.budget), budgetsFile)] = failed
		}
	}
	return failures
}

// spent is what each package took, and each group that has a budget of its own; the longest first.
func (r *testRun) spent(b budgets, of tier) []spent {
	used := map[string]time.Duration{}
	for name, g := range r.groups {
		for folder, p := range g.packages {
			used[folder] += time.Duration(p.seconds * float64(time.Second))
		}
		if _, ok := b[groupPrefix+name][of]; ok {
			used[groupPrefix+name] = g.wall
		}
	}
	var lines []spent
	for name, duration := range used {
		lines = append(lines, spent{name: name, used: duration, budget: b.of(name, of)})
	}
	slices.SortFunc(lines, func(x, y spent) int {
		return cmp.Or(cmp.Compare(y.used, x.used), cmp.Compare(x.name, y.name))
	})
	return lines
}

func (s spent) remark() string {
	switch {
	case s.isFarOver():
		return "over by half as much again"
	case s.isOver():
		return "over"
	}
	return ""
}

func closingLine(tests map[string]outcome) string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped",
		number(tests, passed), number(tests, failed), number(tests, skipped))
}

// clock shows minutes and seconds.
func clock(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
