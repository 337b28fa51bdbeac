package noreturn

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
)

// OfferRollback is a clause for messages about a CCM that does not do its work; empty where the rollback would be refused.
func OfferRollback(in pass.Input) string {
	if in.Facts.Origin != ucv1.OriginMigrating || in.Facts.Rollback != nil || !in.Cluster.DeletionTimestamp.IsZero() {
		return "" // The last: a deletion begins no rollback.
	}
	if passed, unknown := Passed(in); len(passed)+len(unknown) > 0 {
		return ""
	}
	return "spec.handover.rollback: true rolls the migration back"
}
