package forecast

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// Fleet is what a forecast begins with: all FleetMigrations, and all Clusters.
type Fleet struct {
	Migrations []*ucv1.FleetMigration
	Members    []fleet.Member
}

// Forecast is what becomes of a FleetMigration if all goes as it did so far.
type Forecast struct {
	// From is when it was made.
	From time.Time
	// Starts of its Clusters, in their order.
	Starts []Start
	// Waves in the order of the spec.
	Waves []Wave
	// Clusters at the end.
	Clusters ucv1.FleetCount
	// EndsAt is when its last wave has passed and its last Cluster is done; zero where that never happens.
	EndsAt time.Time
	// Waits is what it waits for where it never ends.
	Waits Waits
	// Earliest and Latest are the end if Clusters are as fast, or as slow, as may be expected; zero where that is not known.
	Earliest, Latest time.Time
	// FirstFreed is when the first of all Clusters that migrate has its Machines replaced, or is done: no limit that is reached has
	// room before.
	FirstFreed time.Time
	// Assumptions that it rests on, as sentences.
	Assumptions []string
	// Steps that were played.
	Steps int
}

// Start of a Cluster.
type Start struct {
	Namespace, Name, Wave string
	At                    time.Time
	// DoneAt is zero where it is not done in the forecast.
	DoneAt time.Time
	Nodes  int32
}

// Wave is what becomes of one. The times are zero where that does not happen.
type Wave struct {
	Name               string
	OpensAt, PassesAt  time.Time
	Approved, NoMember bool
}

// Waits is what a FleetMigration waits for that never ends by itself.
type Waits struct {
	// Reason in CamelCase, and the wave that it is about; empty where it is about all.
	Reason, Wave string
	// At is since when.
	At time.Time
	// Clusters of the wave that have not succeeded, by reason, the most first.
	Clusters []ucv1.ReasonCount
}

// TooFar is the reason of a forecast that was given up: it would take too many steps.
const TooFar = "TooFar"

// Make a forecast of a FleetMigration, with durations that are measured, or assumed. It is the zero value where there is no
// FleetMigration of that name.
func Make(of Fleet, name string, now time.Time) Forecast {
	durations := Measure(of, name)
	made := Run(of, name, durations.Likely, now)
	made.Assumptions = append(durations.sentences(of), made.Assumptions...)
	if made.EndsAt.IsZero() {
		return made
	}
	early, late := Run(of, name, durations.Early, now).EndsAt, Run(of, name, durations.Late, now).EndsAt
	made.Earliest, made.Latest = made.EndsAt, made.EndsAt
	for _, end := range []time.Time{early, late} {
		switch {
		case end.IsZero():
		case end.Before(made.Earliest):
			made.Earliest = end
		case end.After(made.Latest):
			made.Latest = end
		}
	}
	return made
}

// Status is what stands of it in the status of its FleetMigration; nil where it never ends.
func (f Forecast) Status() *ucv1.FleetForecast {
	if f.EndsAt.IsZero() {
		return nil
	}
	return &ucv1.FleetForecast{Earliest: metav1.NewTime(f.Earliest), Latest: metav1.NewTime(f.Latest)}
}

// StatusOf makes the forecast that stands in the status of a FleetMigration; nil where it never ends.
func StatusOf(of Fleet, name string, now time.Time) *ucv1.FleetForecast {
	return Make(of, name, now).Status()
}

// Day counts the Clusters that start on one.
type Day struct {
	// Date of the day, at its midnight in the zone.
	Date   time.Time
	Starts int
	Nodes  int64
	// First and Last start of the day.
	First, Last time.Time
}

// Days on which Clusters start, in a zone.
func (f Forecast) Days(zone *time.Location) []Day {
	var days []Day
	for _, start := range f.Starts {
		at := start.At.In(zone)
		date := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, Day{Date: date, First: start.At})
		}
		day := &days[len(days)-1]
		day.Starts, day.Nodes, day.Last = day.Starts+1, day.Nodes+int64(start.Nodes), start.At
	}
	return days
}

// StartOf a Cluster; false where it does not start in the forecast.
func (f Forecast) StartOf(namespace, name string) (Start, bool) {
	for _, start := range f.Starts {
		if start.Namespace == namespace && start.Name == name {
			return start, true
		}
	}
	return Start{}, false
}
