package preflight

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func settingStories() map[string]story {
	return map[string]story{
		"a setting of the cloud configuration is not read any more": {
			id: "CloudConfigSettingChanges",
			wrong: func(o *Facts) {
				o.CloudConfig = observation.Known(observation.CloudConfig{
					Ref: observation.Ref{Kind: "Secret", Namespace: "user-alpha", Name: "cloud-config"},
					Changed: []observation.ChangedSetting{
						{Name: "[Workspace] default-datastore", Effect: "has no effect on the CSI driver", Remedy: "Give its URL."},
					},
				})
			},
			severity: observation.Warning, objects: []string{"Secret user-alpha/cloud-config"},
			without: func(o *Facts) { blind(&o.CloudConfig) },
			says:    "Setting [Workspace] default-datastore has no effect on the CSI driver",
		},
	}
}
