package slo

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		counts Counts
		least  int
		want   Verdict
	}{
		"nothing was measured":                                      {Counts{}, 20, Inconclusive},
		"nothing was measured, and nothing is asked for":            {Counts{}, 0, Inconclusive},
		"too few to be met":                                         {Counts{Within: 19}, 20, Inconclusive},
		"enough, all within":                                        {Counts{Within: 20}, 20, Met},
		"few are enough where a person said so":                     {Counts{Within: 3}, 3, Met},
		"one unsure of twenty may have missed":                      {Counts{Within: 19, Unsure: 1}, 20, Inconclusive},
		"one unsure of a hundred does not matter":                   {Counts{Within: 99, Unsure: 1}, 20, Met},
		"one of a hundred missed":                                   {Counts{Within: 99, Missed: 1}, 20, Met},
		"one of ninety-nine missed, which may be an accident":       {Counts{Within: 98, Missed: 1}, 20, Inconclusive},
		"the only one missed":                                       {Counts{Missed: 1}, 20, Inconclusive},
		"the first two missed":                                      {Counts{Missed: 2}, 20, Violated},
		"two of a hundred missed":                                   {Counts{Within: 98, Missed: 2}, 20, Violated},
		"two of two hundred missed":                                 {Counts{Within: 198, Missed: 2}, 20, Met},
		"two missed, and those that are unsure may all be within":   {Counts{Missed: 2, Unsure: 198}, 20, Inconclusive},
		"two of two hundred missed, and one more may have":          {Counts{Within: 197, Missed: 2, Unsure: 1}, 20, Inconclusive},
		"more than one in a hundred missed whatever the unsure did": {Counts{Missed: 3, Unsure: 100}, 20, Violated},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.counts.Judge(test.least)).To(Equal(test.want))
		})
	}
}

func TestJudgeErrors(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon().Add(-d) }
	for name, test := range map[string]struct {
		last, since time.Time
		want        Verdict
	}{
		"no one could look":                            {want: Inconclusive},
		"no one could look since an error an hour ago": {last: ago(time.Hour), want: Inconclusive},
		"none in ten minutes":                          {since: ago(10 * time.Minute), want: Inconclusive},
		"none in a quarter of an hour":                 {since: ago(15 * time.Minute), want: Met},
		"one in the quarter of an hour":                {last: ago(14 * time.Minute), since: ago(time.Hour), want: Violated},
		"one before it":                                {last: ago(15 * time.Minute), since: ago(time.Hour), want: Met},
		"one, and no one can look any more":            {last: ago(time.Minute), want: Violated},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(JudgeErrors(test.last, test.since, noon())).To(Equal(test.want))
		})
	}
}

func TestWorst(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Worst()).To(Equal(Inconclusive))
	g.Expect(Worst(Met, Met)).To(Equal(Met))
	g.Expect(Worst(Met, Inconclusive)).To(Equal(Inconclusive))
	g.Expect(Worst(Inconclusive, Violated, Met)).To(Equal(Violated))
}
