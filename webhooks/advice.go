package webhooks

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// advice says what a write changes without any effect, so that it is not found out when it is needed. It refuses nothing, and
// what stood there before is not said again. Before is nil when the Cluster is created.
func advice(before, after *ucv1.Cluster) []string {
	var stood []ucv1.FieldWithoutEffect
	if before != nil {
		stood = before.FieldsWithoutEffect()
	}
	var warnings []string
	for _, field := range after.FieldsWithoutEffect() {
		if !slices.Contains(stood, field) {
			warnings = append(warnings, field.Message+" "+field.Action)
		}
	}
	return warnings
}
