package handover

import "time"

// way is a span of time in which the loops go from one manager to the other at most once; a zero end is none.
type way struct{ from, to time.Time }

func (w way) has(moment time.Time) bool {
	return !moment.Before(w.from) && (w.to.IsZero() || moment.Before(w.to))
}

// ways are those of all hand-overs and undos. They go there until KCM is given its loops back, and again from then on; and
// they come back from the end of a hand-over to the end of its undo. An undo in the middle of a hand-over has no way back of
// its own: either manager may be the last that called the cloud.
func (r Records) ways() (there, back []way) {
	var last way
	var finished time.Time
	for _, seen := range r.Clusters {
		if handover := seen.Status.Handover; handover != nil && handover.FinishedAt != nil {
			finished = handover.FinishedAt.Time
		}
		rollback := seen.Status.Rollback
		if rollback == nil {
			continue
		}
		if on := rollback.LoopsOnAt; on != nil && !on.Time.Equal(last.from) {
			there = append(there, way{last.from, on.Time})
			last.from = on.Time
		}
		if rollback.FinishedAt != nil && !finished.IsZero() {
			back, finished = append(back, way{finished, rollback.FinishedAt.Time}), time.Time{}
		}
	}
	return append(there, last), back
}

// since is the begin of the way there that a moment is part of.
func (r Records) since(moment time.Time) time.Time {
	there, _ := r.ways()
	for _, way := range there {
		if way.has(moment) {
			return way.from
		}
	}
	return time.Time{}
}
