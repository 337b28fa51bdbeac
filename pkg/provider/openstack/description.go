package openstack

import "github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"

// Describe says what OpenStack is for this controller.
func (Profile) Describe() manifest.Description {
	const source = "https://github.com/kubernetes/cloud-provider-openstack"
	return manifest.Description{
		Title:    "OpenStack",
		Projects: []string{source},
		InTree:   &manifest.InTree{Name: Name, LastMinor: lastInTreeMinor, Plugins: map[string]string{inTreePlugin: driver}},
		// openstack:///ID, or openstack://REGION/ID with OS_CCM_REGIONAL:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/instances.go#L218
		ProviderID: `^openstack://([^/]*)/([^/]+)$`,
		NodeNames:  "The server of the project has the Node's name; two servers of one name are an error.",
		LoadBalancers: "New ones are called kube_service_CLUSTER_NAMESPACE_SERVICE; the in-tree provider's, called a and the Service's UID, " +
			"are found and kept as long as they are there. The in-tree provider finds none of the new ones.",
		Routes: "Needs router-id. Static routes of the router within --cluster-cidr whose next hop is no Node are deleted.",
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/cmd/openstack-cloud-controller-manager/main.go
		HonoursLeaderMigration: true,
		Keys: []manifest.Key{
			{Name: configKey, Required: true, Text: "The INI file of the cloud-controller-manager; section Global has the credentials."},
		},
		Hazards: append(hazards(source), manifest.VolumeHazards(inTreePlugin)...),
		Rules: []manifest.VersionRule{{
			From: lastInTreeMinor + 1, Operations: []manifest.Operation{manifest.Create, manifest.Upgrade, manifest.Migrate}, InTree: true,
			Reason: "Kubernetes 1.25 is the last with the in-tree provider openstack: migrate with 1.24 or 1.25, then upgrade.",
			Link:   "https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/cloudprovider/providers/providers.go",
		}},
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
			Text: "lb-version with another value than v2: up to 1.31 the CCM has no load balancers and says so in its log only, from 1.32 on it ends. " +
				"Take the key out.",
			Link: source + "/blob/v1.32.1/pkg/openstack/openstack.go#L369",
		},
		{
			Text: "In-tree without use-octavia made load balancers of Neutron LBaaS, which the CCM does not find from 1.26 on. Look whether Octavia lists " +
				"them before you migrate.",
			Link: source + "/blob/v1.36.0/docs/openstack-cloud-controller-manager/using-openstack-cloud-controller-manager.md",
		},
		{
			Text: "Without lb-provider the in-tree provider takes the cloud's default, the CCM asks for amphora: a cloud with OVN only needs lb-provider.",
			Link: source + "/blob/v1.36.0/pkg/openstack/openstack.go#L212",
		},
		{
			Text: "A cloud without Octavia or Neutron in its catalogue ends the CCM: set enabled=false in section LoadBalancer.",
			Link: source + "/blob/v1.36.0/pkg/openstack/openstack.go#L347",
		},
		{
			Text: "secret-name and kubeconfig-path in section Global are the in-tree provider's only: the credentials have to be in the file.",
			Link: "https://github.com/kubernetes/legacy-cloud-providers/blob/v0.25.16/openstack/openstack.go#L305",
		},
	}
}
