package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

func TestSettingsThatChangeAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		provider, version string
		// key gets more at its end; add is one more key of the Secret.
		key, more string
		add       map[string]string
		names     []string
	}{
		"a key of AWS that a newer CCM reads": {
			provider: "aws", version: "1.34.1", key: "cloud.conf", more: "\n[Global]\nNLBSecurityGroupMode=Managed\n",
			names: []string{"[Global] NLBSecurityGroupMode"},
		},
		"the same with that CCM": {
			provider: "aws", version: "1.35.0", key: "cloud.conf", more: "\n[Global]\nNLBSecurityGroupMode=Managed\n",
		},
		"the endpoint of Google Cloud": {
			provider: "gcp", version: "1.30.1", key: "gce.conf", more: "\n[global]\napi-endpoint = https://compute.example.com/compute/v1/\n",
			names: []string{"[global] api-endpoint"},
		},
		"a provider of LBaaS": {
			provider: "openstack", version: "1.25.1", key: "cloud.conf", more: "\n[LoadBalancer]\nlb-provider=haproxy\n",
			names: []string{"[LoadBalancer] lb-provider = haproxy"},
		},
		"a provider of Octavia": {
			provider: "openstack", version: "1.25.1", key: "cloud.conf", more: "\n[LoadBalancer]\nlb-provider=ovn\n",
		},
		"a datastore of vSphere by its name": {
			provider: "vsphere", version: "1.29.1", names: []string{"[Workspace] default-datastore"},
		},
		"a datastore by its name and by its URL": {
			provider: "vsphere", version: "1.29.1", add: map[string]string{"migration-datastore-url": "ds:///vmfs/volumes/1/"},
		},
		"a provider without such settings": {provider: "hetzner", version: "1.30.1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := provider.New().Lookup(tc.provider)
			data := profile.Example()
			if tc.key != "" {
				data[tc.key] = append(data[tc.key], tc.more...)
			}
			for key, value := range tc.add {
				data[key] = []byte(value)
			}
			g.Expect(profile.CloudConfigProblem(data)).To(BeEmpty())
			var names []string
			for _, setting := range provider.ChangedSettings(profile, tc.version, data) {
				names = append(names, setting.Name)
				g.Expect(setting.Effect).NotTo(BeEmpty())
				g.Expect(setting.Remedy).To(HaveSuffix("."))
			}
			g.Expect(names).To(Equal(tc.names))
		})
	}
}
