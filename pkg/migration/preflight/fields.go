package preflight

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// FieldWithoutEffect is watched on after the start: some fields have no effect only then.
const FieldWithoutEffect = "FieldWithoutEffect"

func fieldChecks() []check {
	return []check{{
		id: FieldWithoutEffect, severity: observation.Warning,
		means: "A field of the Cluster asks for what does not happen: a rollback with the feature off, or another mode or name " +
			"after the start.",
		unseen: func(Facts) string { return "" }, find: withoutEffect,
	}}
}

func withoutEffect(o Facts, _ time.Time) []observation.Finding {
	var findings []observation.Finding
	for _, field := range o.Cluster.FieldsWithoutEffect() {
		findings = append(findings, observation.Finding{Message: field.Message, Action: field.Action})
	}
	return findings
}

// JudgeFields asks it alone.
func JudgeFields(cluster *ucv1.Cluster) []observation.Finding {
	return fieldChecks()[0].ask(Facts{Cluster: cluster}, time.Time{})
}
