package preflight

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func settingChecks() []check {
	return []check{{
		id: "CloudConfigSettingChanges", severity: observation.Warning,
		means:  "A setting of the cloud configuration has no effect with the CCM or the CSI driver, or another one than in-tree.",
		unseen: func(o Facts) string { return unseen("the cloud configuration", o.CloudConfig) },
		find:   changedSettings,
	}, {
		id: string(leadermigration.OneManager), severity: observation.Warning,
		means:  "The migration lock is in KCM and in the CCM of one minor, against a rule of KEP-2436.",
		unseen: unseenLock,
		find:   brokenLockRules,
	}}
}

func wantsLock(o Facts) bool {
	return o.Cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice
}

func unseenLock(o Facts) string {
	if !wantsLock(o) {
		return ""
	}
	return unseen("the catalogue", o.Provider)
}

// brokenLockRules: what is refused altogether is said by MigrationLockRefused.
func brokenLockRules(o Facts, _ time.Time) (findings []observation.Finding) {
	if !wantsLock(o) {
		return nil
	}
	configuration, _ := handover.RenderLock(o.Cluster, o.Provider.Value().InTreeName)
	for _, broken := range configuration.Breaks {
		findings = append(findings, observation.Finding{
			Message: broken.Message,
			Action:  "KEP-2436 allows one of them in each minor; to keep that, set spec.handover.protocol to Auto, which needs no lock.",
		})
	}
	return findings
}

func changedSettings(o Facts, _ time.Time) []observation.Finding {
	config := o.CloudConfig.Value()
	var findings []observation.Finding
	for _, setting := range config.Changed {
		findings = append(findings, about([]observation.Ref{config.Ref}, "Setting "+setting.Name+" "+setting.Effect, setting.Remedy)...)
	}
	return findings
}
