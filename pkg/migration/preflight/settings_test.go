package preflight

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
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
		"the migration lock runs in both managers of one minor": {
			id:       "OneManager",
			wrong:    func(o *Facts) { o.Cluster.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice },
			severity: observation.Warning,
			without:  func(o *Facts) { blind(&o.Provider) },
			says:     "the lock runs both in kube-controller-manager and in cloud-controller-manager",
		},
	}
}
