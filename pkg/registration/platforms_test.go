package registration

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The fields are those of KKP v2.22.4, https://github.com/kubermatic/kubermatic, commit d008ee24ee69,
// pkg/apis/kubermatic/v1/cluster.go.
func TestWhatKKPTells(t *testing.T) {
	object := func(spec, status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "b8x4zk2m9q"}, "spec": spec, "status": status,
		}}
	}
	whole := Told{
		Object: "KKP's Cluster b8x4zk2m9q", Name: "b8x4zk2m9q", Version: "1.25.16", VersionField: "status.versions.controlPlane",
		Provider: "openstack", ProviderField: "spec.cloud.providerName",
	}
	for name, test := range map[string]struct {
		spec, status map[string]any
		namespace    string
		want         func(told Told) Told
	}{
		"of a cluster that runs": {
			spec:      map[string]any{"version": "1.26.1", "cloud": map[string]any{"providerName": "openstack"}},
			status:    map[string]any{"namespaceName": "cluster-b8x4zk2m9q", "versions": map[string]any{"controlPlane": "1.25.16"}},
			namespace: "cluster-b8x4zk2m9q", want: func(told Told) Told { return told },
		},
		"of one without a status": {
			spec:      map[string]any{"version": "1.25.16", "cloud": map[string]any{"providerName": "openstack"}},
			namespace: "cluster-b8x4zk2m9q", want: func(told Told) Told { told.VersionField = "spec.version"; return told },
		},
		"of one that is external, paused, and elsewhere": {
			spec: map[string]any{
				"version": "1.25.16", "cloud": map[string]any{"providerName": "openstack"}, "pause": true,
				"features": map[string]any{"externalCloudProvider": true}, "enableOperatingSystemManager": false,
			},
			status:    map[string]any{"namespaceName": "elsewhere", "versions": map[string]any{"controlPlane": "1.25.16"}},
			namespace: "elsewhere", want: func(told Told) Told {
				told.Paused, told.NoOperatingSystemManager = true, "spec.enableOperatingSystemManager"
				told.External = "KKP's Cluster b8x4zk2m9q has feature externalCloudProvider: KKP migrates it, or has done so."
				return told
			},
		},
		"of one whose fields have other types": {
			spec: map[string]any{
				"version": true, "pause": "yes", "features": "all", "cloud": "none", "enableOperatingSystemManager": "no",
			}, namespace: "cluster-b8x4zk2m9q",
			want: func(told Told) Told {
				told.Version, told.VersionField, told.Provider = "", "spec.version", ""
				return told
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := object(test.spec, test.status)
			g.Expect(ToldByKKP(cluster)).To(Equal(test.want(whole)))
			g.Expect(KKPNamespace(cluster)).To(Equal(test.namespace))
		})
	}
}

// The fields are those of Gardener v1.60.0, https://github.com/gardener/gardener, commit 1b4d9907b99c,
// pkg/apis/extensions/v1alpha1/types_cluster.go and pkg/apis/core/v1beta1/types_shoot.go.
func TestWhatGardenerTells(t *testing.T) {
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "shoot--garden--web"},
		"spec": map[string]any{"shoot": map[string]any{
			"metadata": map[string]any{"name": "web", "namespace": "garden"},
			"spec": map[string]any{
				"kubernetes": map[string]any{"version": "1.25.16"}, "provider": map[string]any{"type": "openstack"},
			},
		}},
	}}
	NewWithT(t).Expect(ToldByGardener(cluster)).To(Equal(Told{
		Object: "Gardener's Cluster shoot--garden--web", Name: "web", Version: "1.25.16",
		VersionField: "spec.shoot.spec.kubernetes.version", Provider: "openstack", ProviderField: "spec.shoot.spec.provider.type",
	}))
}

func TestNamespacesOfPlatforms(t *testing.T) {
	g := NewWithT(t)
	for platform, mine := range map[Platform]string{
		KKP: "cluster-b8x4zk2m9q", Gardener: "shoot--garden--web", Deployments: "user-alpha",
	} {
		g.Expect(platform.MayBe(mine)).To(BeTrue(), mine)
		g.Expect(platform.MayBe("kube-system")).To(Equal(platform == Deployments))
	}
	made := NoControlPlane(Told{Object: "KKP's Cluster a"}, "cluster-a")
	g.Expect(made.Subject + ": " + made.Refused).To(
		Equal("KKP's Cluster a: namespace cluster-a has no Deployment that runs kube-controller-manager."),
	)
}
