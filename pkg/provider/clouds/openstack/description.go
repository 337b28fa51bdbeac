package openstack

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Describe says what OpenStack is for this controller.
func (Profile) Describe() manifest.Description {
	const source = "https://github.com/kubernetes/cloud-provider-openstack"
	return manifest.Description{
		Title:    "OpenStack",
		Projects: []string{source},
		InTree: &manifest.InTree{
			Name: Name, LastMinor: leadermigration.LastInTreeOpenStack, Plugins: map[string]string{inTreePlugin: driver},
		},
		// What the CCM makes of a floating IP without that description was seen with its releases v1.25.6 and v1.36.0:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/loadbalancer.go#L1987
		// openstack:///ID, or openstack://REGION/ID with OS_CCM_REGIONAL:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/instances.go#L218
		ProviderID: `^openstack://([^/]*)/([^/]+)$`,
		NodeNames:  "The server of the project has the Node's name; two servers of one name are an error.",
		LoadBalancers: "New ones are called kube_service_CLUSTER_NAMESPACE_SERVICE. The in-tree provider's, called a and the " +
			"Service's UID, are found, kept and never deleted, unless spec.cloud.loadBalancers is Rename. The in-tree provider " +
			"finds none of the new ones. A floating IP of the in-tree provider has no description, by which the CCM knows its " +
			"own: it stays when the Service is deleted.",
		Routes: "Needs router-id. Static routes of the router within --cluster-cidr whose next hop is no Node are deleted.",
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/cmd/openstack-cloud-controller-manager/main.go
		Keys:    describedKeys(),
		Hazards: append(hazards(source), manifest.VolumeHazards(inTreePlugin)...),
		Rules: []manifest.VersionRule{{
			From:       leadermigration.LastInTreeOpenStack + 1,
			Operations: []manifest.Operation{manifest.Create, manifest.Upgrade, manifest.Migrate},
			Condition:  manifest.WhileInTree,
			Reason: "Kubernetes 1.25 is the last with the in-tree provider openstack: migrate with 1.24 or 1.25, then upgrade. A " +
				"cluster that is external already is created with the feature.",
			Link: "https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/cloudprovider/providers/providers.go",
		}},
	}
}

func describedKeys() []manifest.Key {
	key := func(name, text string) manifest.Key { return manifest.Key{Name: configKey + ": " + name, Text: text} }
	auth := key("auth-url", "The address of Keystone, in section Global.")
	auth.Required = true
	return []manifest.Key{
		{
			Name: configKey, Required: true,
			Text: "The INI file of the in-tree provider or of the cloud-controller-manager; section Global has the credentials.",
		},
		auth,
		key("username, user-id, password", "A user, with tenant-id or tenant-name; or a trust-id beside it."),
		key("application-credential-id, application-credential-secret", "Or an application credential; with its name instead of the "+
			"ID it needs the user."),
		key("ca-file, cert-file, key-file", "PEM files that are keys of this Secret, under their names without folders."),
		key("section LoadBalancer, LoadBalancerClass, Route, Networking", "Go to the CCM, without lb-version, and from 1.26 on "+
			"without use-octavia."),
		key("section BlockStorage", "Goes to the CSI driver, without bs-version and trust-device-path."),
		key("section Metadata", "Goes to both."),
		key("secret-name, secret-namespace, kubeconfig-path", "Not used: only the in-tree provider reads its credentials from a "+
			"Secret."),
		key(`section Global "name"`, "Further clouds, which the CSI driver knows from 1.31 on."),
	}
}

// Example is a cloud configuration that is complete.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{configKey: []byte("[Global]\nauth-url=https://keystone.example.com/v3\nregion=one\nusername=alpha\n" +
		"password=example-only\ntenant-name=alpha\ndomain-name=Default\n")}
}

func hazards(source string) []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "lb-version with another value than v2 is refused: up to 1.31 the CCM has no load balancers and says so in its log " +
				"only, from 1.32 on it ends. Move such load balancers to Octavia first.",
			Link: source + "/blob/v1.32.1/pkg/openstack/openstack.go#L369",
		},
		{
			Text: "In-tree without use-octavia made load balancers of Neutron LBaaS, which the CCM does not find from 1.26 on. Look " +
				"whether Octavia lists them before you migrate.",
			Link: source + "/blob/v1.36.0/docs/openstack-cloud-controller-manager/using-openstack-cloud-controller-manager.md",
		},
		{
			Text: "Without lb-provider the in-tree provider takes the cloud's default, the CCM asks for amphora: a cloud with OVN only " +
				"needs lb-provider.",
			Link: source + "/blob/v1.36.0/pkg/openstack/openstack.go#L212",
		},
		{
			Text: "An Octavia without tags (API before 2.5) takes load balancers of the in-tree provider at the first look only: then " +
				"each change of such a Service is refused, while its members are updated. Set spec.cloud.loadBalancers: Rename, and " +
				"accept LoadBalancerRefused for it.",
			Link: source + "/blob/v1.36.0/pkg/openstack/loadbalancer.go#L1718",
		},
		{
			Text: "A cloud without Octavia or Neutron in its catalogue ends the CCM: set enabled=false in section LoadBalancer.",
			Link: source + "/blob/v1.36.0/pkg/openstack/openstack.go#L347",
		},
		{
			Text: "secret-name and kubeconfig-path in section Global are the in-tree provider's only, as are OS_* in the environment " +
				"of kube-controller-manager: the credentials have to be in the file.",
			Link: "https://github.com/kubernetes/legacy-cloud-providers/blob/v0.25.16/openstack/openstack.go#L305",
		},
		{
			Text: "A key that a component does not know is ignored without a word, so a misspelled one does nothing. Compare its " +
				"spelling when a setting has no effect.",
			Link: source + "/blob/v1.36.0/pkg/openstack/openstack.go#L231",
		},
		{
			Text: "tls-insecure is a text, of which only true counts; other words are refused. Use ca-file instead of true where you can.",
			Link: source + "/blob/v1.36.0/pkg/client/client.go#L271",
		},
		{
			Text: "With ignore-volume-az in section BlockStorage new volumes go to Cinder's own zone, with the CSI driver as in-tree. " +
				"Keep it: volumes and servers of such a cloud have zones of different names.",
			Link: source + "/blob/v1.36.0/docs/cinder-csi-plugin/using-cinder-csi-plugin.md#block-storage",
		},
		{
			Text: "Gate InTreePluginOpenStackUnregister is unknown to 1.31: take it off all components before they are upgraded to that.",
			Link: "https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1094",
		},
	}
}
