package preflight

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func settingChecks() []check {
	return []check{{
		id: "CloudConfigSettingChanges", severity: observation.Warning,
		means:  "A setting of the cloud configuration has no effect with the CCM or the CSI driver, or another one than in-tree.",
		unseen: func(o Facts) string { return unseen("the cloud configuration", o.CloudConfig) },
		find:   changedSettings,
	}}
}

func changedSettings(o Facts, _ time.Time) []observation.Finding {
	config := o.CloudConfig.Value()
	var findings []observation.Finding
	for _, setting := range config.Changed {
		findings = append(findings, about([]observation.Ref{config.Ref}, "Setting "+setting.Name+" "+setting.Effect, setting.Remedy)...)
	}
	return findings
}
