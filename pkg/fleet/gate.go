package fleet

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Policy says whether a Cluster that no FleetMigration selects may start (--fleet-admission).
type Policy string

// The policies.
const (
	Optional Policy = "Optional"
	Required Policy = "Required"
)

// Gate is why a Cluster may not start; an empty reason where it may. Selected says whether any FleetMigration selects it:
// where that is not known, it waits. A claim stays although its FleetMigration is gone or selects it no longer, so that
// nothing that is deleted, relabeled or pruned starts a Cluster.
func Gate(admission *ucv1.AdmissionStatus, immediate bool, selected observation.Observed[bool], policy Policy) Obstacle {
	bySomeone, known := selected.Get()
	switch {
	case immediate, admission != nil && admission.State == ucv1.AdmissionAdmitted:
		return Obstacle{}
	case admission != nil:
		return Obstacle{Reason: ucv1.QueuedReason, Of: admission.FleetMigration}
	case !known:
		return Obstacle{Reason: ucv1.CouldNotLookReason}
	case bySomeone:
		return Obstacle{Reason: ucv1.QueuedReason}
	case policy != Optional:
		return Obstacle{Reason: ucv1.NoFleetMigrationReason}
	}
	return Obstacle{}
}
