package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
)

// rightIsOver: KCM has rolled out, and its Lease is not one that is still to be freed. The hand-over has no time for it, and an
// rollback at its end only, where it was refused before.
func rightIsOver(in pass.Input, decision Decision) bool {
	controlPlane, known := in.ControlPlane.Get()
	inTime := ccmHasTakenOver(in) && !pass.RollingBack(in) || decision.Step == ucv1.StepRollbackAddons && decision.Calls() != nil
	return inTime && known && controlPlane.KCM.RolledOut && in.Connection.Reachable && !loops.KCMLeaseOrphaned(in)
}
