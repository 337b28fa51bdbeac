package handover

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// way is a span of time in which the loops go from KCM to the CCM once at most; a zero end is none.
type way struct{ from, to time.Time }

func (w way) has(moment time.Time) bool {
	return !moment.Before(w.from) && (w.to.IsZero() || moment.Before(w.to))
}

// rollbacks are the moments at which rollbacks ended.
func (r Records) rollbacks() []time.Time {
	var moments []time.Time
	for _, seen := range r.Clusters {
		rollback := seen.Status.Rollback
		if rollback != nil && rollback.FinishedAt != nil &&
			(len(moments) == 0 || !moments[len(moments)-1].Equal(rollback.FinishedAt.Time)) {
			moments = append(moments, rollback.FinishedAt.Time)
		}
	}
	return moments
}

// ways end with the CCM's last call for a loop before the end of a rollback: where KCM called in between, it called beside a
// CCM that had begun and went on.
func (r Records) ways() []way {
	var ways []way
	var next way
	for _, rolledBack := range r.rollbacks() {
		var last time.Time
		for _, call := range r.Calls {
			if call.Component == ccmName && slices.Contains(loops.CloudLoops(), call.Loop) && next.has(call.Time) &&
				call.Time.Before(rolledBack) {
				last = later(last, call.Time)
			}
		}
		if !last.IsZero() {
			next.to = last.Add(time.Nanosecond)
			ways = append(ways, next)
			next = way{from: next.to}
		}
	}
	return append(ways, next)
}

// begin is when the migration that a moment is part of was begun again; zero for the first one.
func (r Records) begin(moment time.Time) time.Time {
	var begin time.Time
	for _, rolledBack := range r.rollbacks() {
		if rolledBack.Before(moment) {
			begin = later(begin, rolledBack)
		}
	}
	return begin
}
