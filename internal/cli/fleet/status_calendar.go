package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
)

// windowReport is a window of a FleetMigration, and when it changes.
type windowReport struct {
	Name string `json:"name"`
	// State is Open or Closed.
	State string `json:"state"`
	// ChangesAt is absent where nothing changes within 32 days. Local is the same on the clocks of TimeZone.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	TimeZone  string       `json:"timeZone"`
	Local     string       `json:"local,omitempty"`
}

// exclusionReport is an exclusion that is not over.
type exclusionReport struct {
	Name string `json:"name"`
	// State is InForce or Ahead.
	State string      `json:"state"`
	From  metav1.Time `json:"from"`
	To    metav1.Time `json:"to"`
}

// windowsOf a FleetMigration: what changes first stands first. A window that cannot be read is a problem of the spec, and is
// named there.
func windowsOf(fm *ucv1.FleetMigration, now time.Time) (windows []windowReport, exclusions []exclusionReport) {
	for _, spec := range fm.Spec.Maintenance.Windows {
		parsed, err := window.Parse(spec.MaintenanceWindow)
		zone, zoneErr := time.LoadLocation(spec.TimeZone)
		if err != nil || zoneErr != nil {
			continue
		}
		seen := parsed.At(now)
		w := windowReport{Name: spec.Name, State: "Closed", TimeZone: spec.TimeZone, ChangesAt: timeOf(seen.Changes)}
		if seen.Open {
			w.State = "Open"
		}
		if w.ChangesAt != nil {
			w.Local = seen.Changes.In(zone).Format("Mon 2006-01-02 15:04")
		}
		windows = append(windows, w)
	}
	slices.SortStableFunc(windows, func(a, b windowReport) int {
		switch {
		case a.ChangesAt == nil || b.ChangesAt == nil:
			return len(b.Local) - len(a.Local)
		default:
			return a.ChangesAt.Compare(b.ChangesAt.Time)
		}
	})
	for _, e := range fm.Spec.Maintenance.Exclusions {
		if !now.Before(e.To.Time) {
			continue
		}
		state := "InForce"
		if now.Before(e.From.Time) {
			state = "Ahead"
		}
		exclusions = append(exclusions, exclusionReport{e.Name, state, metav1.NewTime(e.From.UTC()), metav1.NewTime(e.To.UTC())})
	}
	slices.SortStableFunc(exclusions, func(a, b exclusionReport) int { return a.From.Compare(b.From.Time) })
	return windows, exclusions
}

// words for people.
func (w windowReport) words() string {
	switch {
	case w.ChangesAt == nil && w.State == "Open":
		return w.Name + ": open, and stays so for 32 days or more."
	case w.ChangesAt == nil:
		return w.Name + ": closed, and does not open within 32 days."
	case w.TimeZone == "UTC":
		return fmt.Sprintf("%s: %s until %s UTC.", w.Name, strings.ToLower(w.State), w.Local)
	}
	universal := when(w.ChangesAt.Time)
	if day, of, same := strings.Cut(universal, w.Local[:len("Mon 2006-01-02 ")]); same && day == "" {
		universal = of
	}
	return fmt.Sprintf("%s: %s until %s %s (%s).", w.Name, strings.ToLower(w.State), w.Local, w.TimeZone, universal)
}

func (e exclusionReport) words() string {
	if e.State == "InForce" {
		return fmt.Sprintf("Exclusion %s: in force until %s.", e.Name, when(e.To.Time))
	}
	return fmt.Sprintf("Exclusion %s: from %s until %s.", e.Name, when(e.From.Time), when(e.To.Time))
}
