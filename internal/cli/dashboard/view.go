package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/fleet"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/report"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// named are the Clusters that are named at most where there may be many, and mostGroups the reasons.
const (
	named      = 10
	mostGroups = 20
)

// view is what is made of what was read, at one time.
type view struct {
	*seen
	At      time.Time
	Notices []notice
	Fleet   report.Fleet
	// Judged is absent where FleetMigrations could not be judged.
	Judged *fleet.Shown
}

func newView(read *seen, now time.Time) *view {
	v := &view{seen: read, At: now, Notices: read.notices(now), Fleet: report.FleetOf(read.clusters, now)}
	if read.judges() {
		shown := fleet.Show(read.clusters, read.migrations, read.namespaces, now)
		v.Judged = &shown
	}
	return v
}

// Known says that the Clusters were read.
func (v *view) Known() bool { return v.kinds[clusters].synced }

// Host of the management cluster.
func (v *view) Host() string { return v.host }

// Live says that all that is shown is what there is now.
func (v *view) Live() bool { return v.live() }

// Groups are the worst ones.
func (v *view) Groups() []report.Group { return v.Fleet.Groups[:min(len(v.Fleet.Groups), mostGroups)] }

// GroupsLeft says how many are not shown.
func (v *view) GroupsLeft() string {
	if left := len(v.Fleet.Groups) - mostGroups; left > 0 {
		return wording.Count(left, "more reason is", "more reasons are") + " less bad: the list below has their Clusters."
	}
	return ""
}

// Unattended names the Clusters whose cloud loops no manager runs.
func (v *view) Unattended() string {
	names := v.Fleet.Unattended
	if len(names) > named {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
	}
	return strings.Join(names, ", ")
}

// Summary in one line. What could not be looked at comes before what was seen.
func (v *view) Summary() string {
	switch {
	case !v.Known():
		return "Cannot look: no Cluster was read."
	case !v.live():
		return "Cannot look at everything. " + v.Fleet.Summary
	}
	return v.Fleet.Summary
}

// Title says what a person has to know of all that.
func (v *view) Title() string {
	switch {
	case !v.live() || !v.Known():
		return "Cannot look"
	case len(v.Fleet.Unattended) > 0:
		return "Cloud loops unattended"
	}
	for _, state := range v.Fleet.Counts {
		if state.ID == "NeedsYou" {
			return state.Said
		}
	}
	return "No Cluster needs you"
}
