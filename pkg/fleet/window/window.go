package window

import (
	"fmt"
	"iter"
	"math"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Horizon is how far ahead a window is looked at: every month has an opening of a monthly one.
const Horizon = 32 * 24 * time.Hour

const (
	minDuration  = 900
	maxDuration  = 604800
	maxRemaining = 604800
)

// Window is a window that was compiled. Its zero value never opens.
type Window struct {
	// Name of the window.
	Name string

	schedule schedule
	zone     *time.Location
	// duration is how many seconds each time opens the window.
	duration     int64
	minRemaining time.Duration
}

// State is what a window comes to at one time.
type State struct {
	// Open says that the window is open.
	Open bool
	// Changes is when this opening ends or, in a closed window, when it opens next. It is zero if neither is within the Horizon:
	// then a window that is open goes on beyond it, and a closed one has no opening in it.
	Changes time.Time
	// LastStart is the last time in this opening at which so much is left of it that a Cluster may start; it may have passed. It
	// is zero in a closed window, and where it is beyond the Horizon and not known.
	LastStart time.Time
}

// MayStart says whether a Cluster may start: the window is open, and enough is left of the opening.
func (s State) MayStart(now time.Time) bool {
	return s.Open && (s.LastStart.IsZero() || !now.After(s.LastStart))
}

// Parse compiles a window. An error names it, and says what to write.
func Parse(of ucv1.MaintenanceWindow) (Window, error) {
	w, err := parse(of)
	if err != nil {
		return Window{}, fmt.Errorf("window %q: %w", of.Name, err)
	}
	return w, nil
}

func parse(of ucv1.MaintenanceWindow) (Window, error) {
	schedule, err := parseSchedule(of.Schedule)
	if err != nil {
		return Window{}, err
	}
	zone, err := zoneOf(of.TimeZone)
	if err != nil {
		return Window{}, err
	}
	if of.DurationSeconds < minDuration || of.DurationSeconds > maxDuration {
		return Window{}, fmt.Errorf("durationSeconds is %d: write %d to %d", of.DurationSeconds, minDuration, maxDuration)
	}
	w := Window{Name: of.Name, schedule: schedule, zone: zone, duration: int64(of.DurationSeconds)}
	w.schedule.runs = runsOf(schedule.times, w.duration)
	if of.MinRemainingSeconds == nil {
		return w, nil
	}
	remaining := int64(*of.MinRemainingSeconds)
	if longest, known := w.longest(); known && remaining > longest {
		return Window{}, fmt.Errorf("minRemainingSeconds is %d, but an opening has only %d: write at most that", remaining, longest)
	}
	if remaining < 0 || remaining > maxRemaining {
		return Window{}, fmt.Errorf("minRemainingSeconds is %d: write 0 to %d", remaining, maxRemaining)
	}
	w.minRemaining = time.Duration(remaining) * time.Second
	return w, nil
}

// longest is how many seconds the longest opening has. It is not known where those of one day reach the next.
func (w Window) longest() (seconds int64, known bool) {
	times := w.schedule.times
	for _, r := range w.schedule.runs {
		seconds = max(seconds, times[r.last]-times[r.first]+w.duration)
	}
	return seconds, times[len(times)-1]+w.duration < daySeconds+times[0]
}

// At looks at the window. It looks for the end of an opening so far beyond the Horizon that every LastStart within it is known.
func (w Window) At(now time.Time) State {
	at, end := now.Unix(), int64(math.MinInt64)
	horizon := at + int64(Horizon/time.Second)
	limit := horizon + int64(w.minRemaining/time.Second)
	for from, to := range w.openings(at, limit) {
		began := from <= at || end > at && from <= end
		switch {
		case !began && end > at:
			return w.openUntil(end, horizon)
		case !began && from <= horizon:
			return State{Changes: time.Unix(from, 0).UTC()}
		case !began:
			return State{}
		case to > limit:
			return State{Open: true}
		}
		end = to
	}
	if end > at {
		return w.openUntil(end, horizon)
	}
	return State{}
}

func (w Window) openUntil(end, horizon int64) State {
	ends := time.Unix(end, 0).UTC()
	s := State{Open: true, LastStart: ends.Add(-w.minRemaining)}
	if end <= horizon {
		s.Changes = ends
	}
	return s
}

// openings are the instants at which the window opens and closes, in their order: all that may still be open at one instant, and
// those that begin until another. Some may touch the one before.
func (w Window) openings(at, until int64) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		if w.zone == nil {
			return
		}
		day, last := dayOf(at-w.duration-furthest), dayOf(until+furthest)
		clock := clockBefore(w.zone, day*daySeconds)
		for ; day <= last; day++ {
			if w.schedule.opensOn(day) && !w.openingsOf(day*daySeconds, &clock, yield) {
				return
			}
		}
	}
}

// openingsOf are those of one day, by its midnight. Where the clocks run evenly during a run, its times need not be looked at:
// so a window that is always open costs no more than others.
func (w Window) openingsOf(midnight int64, clock *clock, yield func(from, to int64) bool) bool {
	times := w.schedule.times
	for _, r := range w.schedule.runs {
		even := *clock
		from, last := even.instant(midnight+times[r.first]), even.instant(midnight+times[r.last])
		if even.from == clock.from {
			if !yield(from, last+w.duration) {
				return false
			}
			continue
		}
		for _, seconds := range times[r.first : r.last+1] {
			if from := clock.instant(midnight + seconds); !yield(from, from+w.duration) {
				return false
			}
		}
	}
	return true
}
