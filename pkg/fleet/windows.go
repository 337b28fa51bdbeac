package fleet

import (
	"fmt"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
)

// lookAt the windows of a FleetMigration: each once, and not for each Cluster.
func (d *decision) lookAt(r *run) {
	r.moment, r.verdicts = r.calendar.At(d.now), map[*place]window.Verdict{}
	ahead := len(r.moment.Windows) == 0
	for _, w := range r.moment.Windows {
		ahead = ahead || w.Open || !w.Changes.IsZero()
		r.plan.Windows = append(r.plan.Windows, WindowPlan{Name: w.Name, Open: w.Open, ChangesAt: w.Changes})
		if w.Open {
			r.plan.WindowsOpen = append(r.plan.WindowsOpen, w.Name)
		}
	}
	r.plan.NoWindowAhead, r.plan.NextChangeAt = !ahead, r.moment.NextChange
	d.wake(r.moment.NextChange)
	if r.moment.NextChange.IsZero() {
		d.wake(d.now.Add(window.Horizon))
	}
}

// verdict of the windows about a Cluster. Those with the same labels share it.
func (d *decision) verdict(r *run, i int) window.Verdict {
	at := d.at[i]
	v, known := r.verdicts[at]
	if !known {
		v = r.moment.For(at.windows)
		r.verdicts[at] = v
		d.wake(v.NextChange)
	}
	return v
}

// ownWindows are the obstacles that the windows of a Cluster's owner are: those of the fleet and these have to be open.
func (d *decision) ownWindows(m *Member) []Obstacle {
	if m.Windows == nil {
		return nil
	}
	moment := m.Windows.At(d.now)
	all := make([]int, len(moment.Windows))
	for w := range all {
		all[w] = w
	}
	v := moment.For(all)
	d.wake(v.NextChange)
	return obstaclesOf(v, m.String())
}

func obstaclesOf(v window.Verdict, of string) []Obstacle {
	switch {
	case v.Exclusion != "":
		return []Obstacle{{Reason: ucv1.ExcludedReason, Of: of + "/" + v.Exclusion, Until: v.NextChange}}
	case v.NoWindow:
		return []Obstacle{{Reason: ucv1.NoWindowReason, Of: of}}
	case !v.MayStart:
		until := time.Time{}
		if !v.Open {
			until = v.NextChange
		}
		return []Obstacle{{Reason: ucv1.WindowClosedReason, Of: of, Until: until}}
	}
	return nil
}

func (d *decision) windowCondition(r *run, set func(kind string, is bool, reason, message string)) {
	changes := ""
	if !r.plan.NextChangeAt.IsZero() {
		changes = " The next change is at " + r.plan.NextChangeAt.UTC().Format(time.RFC3339) + "."
	}
	switch {
	case r.moment.Exclusion != "":
		set(ucv1.WindowOpenCondition, false, ucv1.ExcludedReason,
			fmt.Sprintf("Exclusion %s is in force.%s", r.moment.Exclusion, changes))
	case len(r.moment.Windows) == 0:
		set(ucv1.WindowOpenCondition, true, ucv1.WindowOpenCondition, "There are no windows: Clusters may start at any time."+changes)
	case len(r.plan.WindowsOpen) == 0:
		set(ucv1.WindowOpenCondition, false, ucv1.WindowClosedReason, "No window is open."+changes)
	default:
		set(ucv1.WindowOpenCondition, true, ucv1.WindowOpenCondition, "Open: "+strings.Join(r.plan.WindowsOpen, ", ")+"."+changes)
	}
}
