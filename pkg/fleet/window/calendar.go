package window

import (
	"fmt"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Calendar has the windows and exclusions of a fleet. Compile it once for each generation of the object that they are from.
type Calendar struct {
	windows    []fleetWindow
	exclusions []exclusion
}

type fleetWindow struct {
	Window
	holdsRoll bool
}

// exclusion is a time in which no window is open: from one instant until before another.
type exclusion struct {
	name      string
	from, to  time.Time
	holdsRoll bool
}

// Moment is a Calendar at one time. It looks at each window once, whatever number of Clusters the windows are for.
type Moment struct {
	// Windows in the order of the spec. Their LastStart also heeds the next exclusion: a Cluster that starts just before one would
	// roll in it.
	Windows []Seen
	// Exclusion is the name of the one that closes all windows now: of several, the one that ends last.
	Exclusion string
	// NextChange is when the next window or exclusion begins or ends: zero if none does within the Horizon.
	NextChange time.Time

	now time.Time
	// excluded says that an exclusion is in force, and holdsRoll that one holds the rolls. nextExclusion is when one begins or ends.
	excluded, holdsRoll bool
	nextExclusion       time.Time
}

// Seen is a window at one time, whatever is excluded.
type Seen struct {
	// Name of the window.
	Name string
	State

	holdsRoll bool
}

// Verdict is what the windows and exclusions come to for one Cluster.
type Verdict struct {
	// Open says that a window of the Cluster is open, or that there are no windows at all, and that nothing is excluded.
	Open bool
	// MayStart says that the Cluster may start: it is open, and enough is left until an open window ends or an exclusion begins.
	MayStart bool
	// NoWindow says that there are windows, and none of them is for the Cluster: it never opens.
	NoWindow bool
	// Windows of the Cluster that are open, by name, whatever is excluded.
	Windows []string
	// Exclusion is the name of the one that closes it now.
	Exclusion string
	// HoldRoll says that no further MachineDeployment is to begin in the Cluster, if it migrates: an exclusion wants it, or all its
	// windows are closed and one of them wants it.
	HoldRoll bool
	// NextChange is when one of these answers may be another one: zero if none is within the Horizon. Look again by then at the
	// latest.
	NextChange time.Time
}

// NewCalendar compiles windows and exclusions. An error names the first that is not valid. A Cluster's own windows have to heed
// the exclusions of its fleet, too: give both to one Calendar.
func NewCalendar(of ucv1.FleetMaintenance) (Calendar, error) {
	var c Calendar
	for _, given := range of.Windows {
		w, err := Parse(given.MaintenanceWindow)
		if err != nil {
			return Calendar{}, err
		}
		c.windows = append(c.windows, fleetWindow{w, holdsRoll(given.InFlight)})
	}
	for _, given := range of.Exclusions {
		// One without its times would exclude nothing, and let Clusters start that a person meant to keep.
		if given.From.IsZero() || !given.From.Before(&given.To) {
			return Calendar{}, fmt.Errorf("exclusion %q: from is not before to: write two times, such as %s and %s", given.Name,
				"2026-11-23T00:00:00Z", "2026-12-01T00:00:00Z")
		}
		c.exclusions = append(c.exclusions, exclusion{given.Name, given.From.Time, given.To.Time, holdsRoll(given.InFlight)})
	}
	return c, nil
}

// holdsRoll also holds for a policy that a later version may know.
func holdsRoll(policy ucv1.InFlightPolicy) bool {
	return policy != "" && policy != ucv1.ContinueInFlight
}

// At looks at the Calendar.
func (c Calendar) At(now time.Time) Moment {
	m := Moment{now: now}
	begins := m.exclude(c.exclusions)
	for _, w := range c.windows {
		state := w.At(now)
		if last := begins.Add(-w.minRemaining); state.Open && !begins.IsZero() &&
			(state.LastStart.IsZero() || last.Before(state.LastStart)) {
			state.LastStart = last
		}
		m.Windows = append(m.Windows, Seen{Name: w.Name, State: state, holdsRoll: w.holdsRoll})
		m.NextChange = m.sooner(m.NextChange, state.Changes)
	}
	return m
}

// exclude looks at the exclusions, and returns when the next one begins.
func (m *Moment) exclude(exclusions []exclusion) time.Time {
	var begins, ends time.Time
	for _, e := range exclusions {
		if m.now.Before(e.from) && (begins.IsZero() || e.from.Before(begins)) {
			begins = e.from
		}
		m.nextExclusion = m.sooner(m.sooner(m.nextExclusion, e.from), e.to)
		if m.now.Before(e.from) || !m.now.Before(e.to) {
			continue
		}
		m.excluded, m.holdsRoll = true, m.holdsRoll || e.holdsRoll
		if e.to.After(ends) {
			m.Exclusion, ends = e.name, e.to
		}
	}
	m.NextChange = m.nextExclusion
	return begins
}

// sooner is the earlier of two times that is still to come within the Horizon: what happens beyond it is not known of windows.
func (m Moment) sooner(known, other time.Time) time.Time {
	if !other.After(m.now) || other.After(m.now.Add(Horizon)) || !known.IsZero() && !other.Before(known) {
		return known
	}
	return other
}

// For says what the windows come to that are for one Cluster, by their places in Windows. If the Calendar has none at all, the
// Cluster may always start; if it has some and none is for the Cluster, never.
func (m Moment) For(selected []int) Verdict {
	always := len(m.Windows) == 0
	v := Verdict{
		Open: always, MayStart: always, NoWindow: !always && len(selected) == 0,
		Exclusion: m.Exclusion, NextChange: m.nextExclusion,
	}
	closedHolds := false
	for _, place := range selected {
		w := m.Windows[place]
		closedHolds = closedHolds || w.holdsRoll
		v.NextChange = m.sooner(v.NextChange, w.Changes)
		if !w.Open {
			continue
		}
		v.Open, v.MayStart = true, v.MayStart || w.MayStart(m.now)
		v.Windows = append(v.Windows, w.Name)
		// The last start is still one. A window that asks for nothing ends then.
		v.NextChange = m.sooner(v.NextChange, w.LastStart.Add(1))
	}
	v.HoldRoll = m.holdsRoll || closedHolds && !v.Open
	if m.excluded {
		v.Open, v.MayStart = false, false
	}
	return v
}
