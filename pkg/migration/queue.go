package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// AwaitsTurn says that Turn is observed: the migration is wanted and has not started.
func AwaitsTurn(cluster *ucv1.Cluster) bool { return start.AwaitsTurn(cluster) }

// Queues says that a Cluster may not start yet. Of its user cluster nothing is looked at then but by a look ahead, as while the
// feature is off: thousands may wait for weeks.
func Queues(o observation.Observation) bool {
	return start.AwaitsTurn(o.Cluster) && !o.Turn.IsAbsent()
}

// decideQueued is for a Cluster that waits for its turn: KCM runs the cloud loops meanwhile, as far as its arguments tell.
func decideQueued(in pass.Input) Decision {
	out := start.Admitted(in)
	if stands := standsInTree(in); !stands.Holds {
		out = stands
	}
	decision := stopAt(in, ucv1.StepAdmitted, out)
	turn, known := in.Turn.Get()
	decision.Queued = known && !turn.Settling && decision.Wait != nil && !decision.Wait.Unknown
	return decision
}
