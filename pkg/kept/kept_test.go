package kept

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestARead(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := Mark{Changes: 1, Watched: true}
	for name, tc := range map[string]struct {
		first  observation.Observed[int]
		before Mark
		after  Mark
		later  time.Duration
		live   bool
		began  time.Duration
		again  bool
	}{
		"is kept while nothing changed":             {before: first, after: first, later: MostAge - 1},
		"of what is absent is kept, too":            {first: observation.Absent[int](), before: first, after: first},
		"is made again when something changed":      {before: first, after: Mark{Changes: 2, Watched: true}, again: true},
		"is made again when it is too old":          {before: first, after: first, later: MostAge, again: true},
		"is made again when the clock was set back": {before: first, after: first, later: -1, again: true},
		"is made again for a proof":                 {before: first, after: first, live: true, again: true},
		"is made again for a proof of a later pass": {before: first, after: first, began: 1, again: true},
		"of this pass will do for a proof":          {before: first, after: first, began: -1},
		"is made again when no watch would tell":    {before: Mark{Changes: 1}, after: Mark{Changes: 1}, again: true},
		"is made again when a watch began":          {before: Mark{Changes: 1}, after: first, again: true},
		"is made again when a watch ended":          {before: first, after: Mark{Changes: 1}, again: true},
		"is made again when it failed":              {first: observation.Unknown[int]("no"), before: first, after: first, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			g, value, ctx, reads := NewWithT(t), Value[int]{}, t.Context(), 0
			if tc.live {
				ctx = Live(ctx)
			}
			if tc.began != 0 {
				ctx = LiveSince(ctx, start.Add(tc.began))
			}
			if tc.first == (observation.Observed[int]{}) {
				tc.first = observation.Known(1)
			}
			read := func() observation.Observed[int] { reads++; return tc.first }
			value.Read(ctx, start, tc.before, read)
			g.Expect(value.Read(ctx, start.Add(tc.later), tc.after, read)).To(Equal(tc.first))
			wanted := 1
			if tc.again {
				wanted = 2
			}
			g.Expect(reads).To(Equal(wanted))
		})
	}
}
