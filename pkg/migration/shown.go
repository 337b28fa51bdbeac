package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Shown is what a status shows of a cluster besides its table. Nothing is done because of it.
type Shown struct {
	// CSI and CCM are the two conditions of row Addons, nil without that row.
	CSI, CCM *RowState
	// Progress is nil when Machines or Nodes could not be looked at.
	Progress *rollout.Progress
	// Differences to the baseline, until the migration is completed: what people change later is theirs.
	Differences observation.Observed[[]baseline.Difference]
}

// ShownOf says what is, also while a Cluster is paused. It is apart from Decide because a plan decides thousands of times and
// shows nothing.
func ShownOf(o observation.Observation, rows []RowState, now time.Time) (shown Shown) {
	if !o.Cluster.ExternalCloudProvider() && o.Look != observation.LookDone {
		return Shown{}
	}
	for _, row := range rows {
		if row.Step == ucv1.StepAddons {
			csi, ccm := addonStates(o, row, now)
			shown.CSI, shown.CCM = &csi, &ccm
		}
	}
	if progress, ok := rollout.ProgressOf(o, now); ok {
		shown.Progress = &progress
	}
	if o.Cluster.Status.Baseline != nil && o.Cluster.Status.CompletedAt == nil {
		shown.Differences = baseline.Compare(o)
	}
	return shown
}
