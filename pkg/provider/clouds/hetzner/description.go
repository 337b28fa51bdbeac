package hetzner

import "github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"

const (
	ccmProject = "https://github.com/hetznercloud/hcloud-cloud-controller-manager"
	csiProject = "https://github.com/hetznercloud/csi-driver"
	ccmSource  = ccmProject + "/blob/v1.35.0/"
	csiSource  = csiProject + "/blob/v2.22.1/"

	ccmImage = "docker.io/hetznercloud/hcloud-cloud-controller-manager"
	csiImage = "docker.io/hetznercloud/hcloud-csi-driver"
)

// Describe says what people need to know of Hetzner Cloud.
func (Profile) Describe() manifest.Description {
	made := manifest.Description{
		Title:    "Hetzner Cloud",
		Projects: []string{ccmProject, csiProject},
		// Cloud servers, dedicated servers, and what a fork of the CCM gave to dedicated servers, which is still read:
		// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/internal/providerid/providerid.go#L9-L73
		ProviderID: `^(hcloud://(bm-)?|hrobot://)[0-9]+$`,
		NodeNames: "A Node has the name of its server in the project; once it has a providerID, the server may be renamed. A " +
			"dedicated server keeps the name of its Node for good.",
		LoadBalancers: "A new one is named by annotation load-balancer.hetzner.cloud/name of the Service, or a and the Service's " +
			"UID without its dashes. The CCM goes on with the one whose label hcloud-ccm/service-uid is the Service's UID, else with " +
			"one of that name, which it adopts. The name of the cluster plays no part.",
		Routes: "The route loop needs the network of the servers, one IPv4 CIDR for Pods and a pod network that uses it. It deletes " +
			"each route of that network within the cluster CIDR whose gateway is no server that it knows, and those that no Node " +
			"explains.",
		Hazards: hazards(),
		Broken:  broken(),
		Rules:   rules(),
	}
	for _, setting := range settings() {
		made.Keys = append(made.Keys, manifest.Key{Name: setting.key, Required: setting.key == tokenKey, Text: setting.text})
	}
	return made
}

// Example is a cloud configuration that is complete.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{tokenKey: []byte("example-only"), "network": []byte("alpha"), "location": []byte("fsn1")}
}

func hazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "Upstream tests none of the working releases with Kubernetes 1.31 and older. The catalogue has its oldest working " +
				"pair there; upgrade the cluster to a minor that upstream tests.",
			Link: policy,
		}, {
			Text: "An existing CCM was often installed with --leader-elect=false, and then no Lease shows that it runs. Look for " +
				"Deployment or DaemonSet hcloud-cloud-controller-manager, and remove it before the new CCM starts.",
			Link: ccmSource + "chart/templates/deployment.yaml#L95-L97",
		}, {
			Text: "At its start the CCM calls the cloud, and ends when the token is wrong, the network is not found, or the API does " +
				"not answer; one that runs goes on. Try a new token before it is put into the Secret.",
			Link: ccmSource + "hcloud/cloud.go#L144-L148",
		}, {
			Text: "A token sees its own project only, and all of it. With a token of another project no server is found, and Nodes " +
				"that are not ready are deleted; and two clusters of one project must not have servers of the same name.",
			Link: ccmSource + "hcloud/instances.go#L81-L157",
		}, {
			Text: "A Service of type LoadBalancer gets none when neither it nor the cloud configuration has a location or a network " +
				"zone. Set key location or network-zone.",
			Link: ccmSource + "internal/hcops/load_balancer.go#L149",
		}, {
			Text: "Without key network a Node has no InternalIP of the cloud, and one whose kubelet runs with --node-ip of a private " +
				"network is not initialized. Set key network to that network.",
			Link: ccmSource + "hcloud/instances.go#L222-L268",
		}, {
			Text: "Two clusters with routes in one network delete each other's when their CIDRs for Pods overlap. Give each its own.",
			Link: ccmSource + "hcloud/routes.go#L83-L160",
		}, {
			Text: "A dedicated server has no volumes, yet Pods with volumes may be scheduled to it and wait for ever. Keep them off by " +
				"label instance.hetzner.cloud/provided-by. One that is renamed in Robot is taken for gone, and its Node is deleted.",
			Link: csiSource + "docs/kubernetes/explanation/integration-with-robot-servers.md",
		}, {
			Text: "The zone labels of a Node hold the name of a data center, which the cloud no longer has: the CCM makes it up from " +
				"the location, and its next major release sets none on new Nodes. Select by topology.kubernetes.io/region, the " +
				"location, instead.",
			Link: ccmSource + "docs/guides/zone-label.md",
		}, {
			Text: "A Node whose kubelet first started without --cloud-provider=external is never initialized. Make it again.",
			Link: ccmSource + "docs/guides/quickstart.md",
		}, {
			Text: "A CSI driver 1.x cannot be upgraded in place. Follow upstream's guide before the cluster gets this one.",
			Link: csiSource + "docs/kubernetes/guides/upgrading-from-v1-to-v2/README.md",
		},
	}
}

// broken are releases that the cloud's API of today breaks, and some that were so from the start.
func broken() []manifest.BrokenRelease {
	return []manifest.BrokenRelease{
		{
			Image: ccmImage, Before: "v1.30.1",
			Reason: "It panics since 2026-07-01, when the cloud's API lost the data centers of servers.", Link: ccmProject + "/pull/1159",
		}, {
			Image: csiImage, Before: "v2.19.0", Tags: []string{"v2.20.1"},
			Reason: "Up to v2.18.3 the controller reads the data center of the server that it runs on, which the cloud's API lost, and " +
				"ends at its start; the labels of v2.14.0 are not valid, and v2.20.1 cuts them short.",
			Link: csiSource + "CHANGELOG.md",
		},
	}
}

func rules() []manifest.VersionRule {
	return []manifest.VersionRule{
		{
			Operations: []manifest.Operation{manifest.Migrate},
			Reason: "Hetzner was never a part of Kubernetes, so there is nothing to migrate from: delete the Cluster, which leaves the " +
				"user cluster as it is, and create it with the feature.",
			Link: "https://github.com/kubernetes/kubernetes/blob/v1.24.17/pkg/cloudprovider/providers/providers.go",
		}, {
			To: firstMinor - 1, Operations: []manifest.Operation{manifest.Create, manifest.Upgrade}, Condition: manifest.WhileExternal,
			Reason: "All releases of the CCM for these minors panic with the cloud's API of today: use Kubernetes 1.24 or newer, best " +
				"1.32 or newer.",
			Link: policy,
		},
	}
}
