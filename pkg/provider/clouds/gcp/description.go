package gcp

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	ccmProject    = "https://github.com/kubernetes/cloud-provider-gcp"
	driverProject = "https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver"
	kubernetes    = "https://github.com/kubernetes/kubernetes"
)

// Describe is what people need to know of Google Cloud.
func (Profile) Describe() manifest.Description {
	return manifest.Description{
		Title:    "Google Cloud",
		Projects: []string{ccmProject, driverProject},
		InTree: &manifest.InTree{
			Name: flagValue, LastMinor: leadermigration.LastInTreeGCE, Plugins: map[string]string{inTreeDisks: driver},
			// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.28.0/gce/gcpcredential/gcpcredential.go#L51, switched off from
			// 1.29 on by gate DisableKubeletCloudCredentialProviders:
			// https://github.com/kubernetes/website/tree/main/content/en/docs/reference/command-line-tools-reference/feature-gates
			Registries: observation.Registries{LastMinor: 28, Public: true, Hosts: []string{"gcr.io", "*.gcr.io", "*.pkg.dev"}},
		},
		ProviderID: `^gce://[^/]+/[^/]+/[^/]+$`,
		NodeNames: "The name of a Node is the name of its instance, up to the first dot; a Node without a providerID is looked for " +
			"in local-zone, or in all zones of its region with multizone or regional. The in-tree provider writes the same providerID.",
		LoadBalancers: "Forwarding rule and target pool are called a and the Service's UID without dashes, the firewall rule " +
			"k8s-fw- and that name; what internal load balancers share has the UID of the ConfigMap kube-system/ingress-uid in its " +
			"name. The in-tree provider uses the same names, so the CCM goes on with all of its load balancers, and back.",
		Routes: "A route is called by the first 26 characters of --cluster-name and the UID of its Node, and the route loop deletes " +
			"the routes of that prefix and its network that are in --cluster-cidr and belong to no Node. It is off where Nodes have " +
			"alias IP ranges or the pod network is an overlay.",
		Keys:    describedKeys(),
		Hazards: slices.Concat(machineHazards(), cloudHazards(), manifest.VolumeHazards(inTreeDisks)),
		Rules:   versionRules(),
	}
}

func describedKeys() []manifest.Key {
	return []manifest.Key{
		{Name: configKey, Required: true, Text: "The configuration of the in-tree provider, an INI file with section [global]."},
		{Name: configKey + ": " + projectKey, Required: true, Text: "Name or number of the project."},
		{Name: configKey + ": " + zoneKey, Required: true, Text: "A zone, such as europe-west3-a; its region is the cluster's."},
		{Name: configKey + ": " + networkKey, Required: true, Text: "Name or whole URL of the network."},
		{Name: configKey + ": subnetwork-name", Text: "The Nodes' subnetwork; needed on a network with subnetworks of its own."},
		{Name: configKey + ": network-project-id", Text: "The project of a shared network."},
		{Name: configKey + ": node-tags", Text: "Network tags of the Nodes, which firewall rules are made for; may stand there " +
			"several times."},
		{Name: configKey + ": node-instance-prefix", Text: "What the names of the Nodes' instances begin with, where they have no " +
			"tags."},
		{Name: configKey + ": " +
			multizoneKey, Text: "Whether Nodes may be in other zones than local-zone; the CCM gets true where it is not set."},
		{Name: configKey + ": regional", Text: "Whether the cluster spans the zones of its region."},
		{Name: configKey + ": " + stackKey, Text: "IPV4, IPV4_IPV6 or IPV6; new in the CCM, best left out."},
		{Name: configKey + ": " +
			tokenURLKey, Text: "Not used, nor is token-body: CCM and CSI driver take their tokens from cloud-sa.json."},
		{Name: credentialsKey, Required: true, Text: "The key file of a service account that may manage instances, disks, routes, " +
			"firewall rules and load balancers, and act as the Nodes' service account; JSON, or JSON in base64."},
	}
}

// machineHazards are about processes and images.
func machineHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "The entrypoint of the image changes from tag to tag: with arguments only, some end with \"flag provided but not " +
				"defined\". We always set the command; do the same when you replace the image.",
			Link: ccmProject + "/issues/842",
		},
		{
			Text: "Many tags in git have no image in the registry, and there is none at all for 1.31, which runs v30.0.0. Before you " +
				"replace a tag, look whether the image is there.",
			Link: ccmProject + "/issues/289",
		},
		{
			Text: "The images v32.2.5 and v33.4.0 are for amd64 only, and the older ones may be: in a cluster of 1.26 to 1.33 with " +
				"arm64 Nodes the CCM's pods cannot start there. Keep amd64 Nodes for them.",
			Link: "https://github.com/kubernetes/kops/issues/17347",
		},
		{
			Text: "The CCM has a node IPAM of its own, on by default: without --allocate-node-cidrs it ends the process, and with it " +
				"two Nodes get the same CIDR, because kube-controller-manager goes on too. We switch it off.",
			Link: "https://github.com/kubernetes/kops/issues/14962",
		},
		{
			Text: "With --cidr-allocator-type=CloudAllocator kube-controller-manager needs the in-tree provider to allocate node " +
				"CIDRs, and new Nodes get none after the hand-over. Do not migrate such a cluster before node IPAM can move with it.",
			Link: kubernetes + "/blob/v1.30.14/cmd/kube-controller-manager/app/core.go",
		},
		{
			Text: "In 1.29 and 1.30 components with --cloud-provider=gce start only with DisableCloudProviders=false, and from 1.31 on " +
				"they do not start with it. The migration takes the gate away together with the in-tree flags.",
			Link: kubernetes + "/blob/v1.30.14/cmd/kube-controller-manager/app/cloudproviders.go#L38",
		},
		{
			Text: "Kubelets of 1.29 and later do not log in to gcr.io and pkg.dev themselves. Nodes that pull private images from " +
				"there need the credential provider auth-provider-gcp and a CredentialProviderConfig on their image.",
			Link: ccmProject + "/blob/v36.0.7/cluster/gce/gci/configure.sh#L651-L668",
		},
		{
			Text: "The driver runs on each Node and needs its metadata server, and udev with its folders /etc/udev, /lib/udev and " +
				"/run/udev. Where one of them is not there, its pod does not start.",
			Link: driverProject + "/blob/v1.22.1/deploy/kubernetes/base/node_linux/node.yaml",
		},
	}
}

// cloudHazards are about what is in the cloud.
func cloudHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "Without the ConfigMap kube-system/ingress-uid the CCM makes a new cluster ID, and instance groups and health checks " +
				"of internal load balancers are left behind. Keep it, and back it up before the migration.",
			Link: ccmProject + "/blob/v36.0.7/providers/gce/gce_clusterid.go",
		},
		{
			Text: "Without multizone a Node of another zone than local-zone that has no providerID yet is not found, and never " +
				"initialized. The CCM gets multizone=true unless the configuration says false.",
			Link: "https://github.com/kubermatic/kubermatic/issues/5025",
		},
		{
			Text: "A network-name like global/networks/default makes the route loop find none of its routes. Write the name, or the " +
				"whole URL.",
			Link: ccmProject + "/blob/ccm/v30.0.0/providers/gce/gce_routes.go",
		},
		{
			Text: "Two clusters of one network whose names have the same first 26 characters delete each other's routes. The name is " +
				"kept as it was; do not give it to another cluster.",
			Link: ccmProject + "/blob/ccm/v30.0.0/providers/gce/gce_routes.go",
		},
		{
			Text: "Services with the annotation cloud.google.com/l4-rbs, with a loadBalancerClass of GKE, or whose forwarding rule has " +
				"a backend service are left to ingress-gce, by the in-tree provider as by the CCM. Look for them before you rely on the CCM.",
			Link: ccmProject + "/blob/v36.0.7/providers/gce/gce_util.go#L421-L460",
		},
		{
			Text: "Volumes of the in-tree plugin with access mode ReadWriteMany are ReadWriteOnce for the CSI driver.",
			Link: "https://github.com/kubernetes/csi-translation-lib/blob/v0.30.14/plugins/gce_pd.go",
		},
	}
}

func versionRules() []manifest.VersionRule {
	create, upgrade, migrate := manifest.Create, manifest.Upgrade, manifest.Migrate
	const promoted = "https://github.com/kubernetes/k8s.io/blob/43401df3/registry.k8s.io/images/k8s-staging-cloud-provider-gcp/images.yaml"
	return []manifest.VersionRule{
		{
			To: firstMinor - 1, Operations: []manifest.Operation{create, upgrade}, Condition: manifest.WhileExternal,
			Reason: "No image of the GCE cloud-controller-manager was released for Kubernetes before 1.26: create the cluster with " +
				"1.26 or newer.",
			Link: promoted,
		},
		{
			To: firstMinor - 1, Operations: []manifest.Operation{migrate}, Condition: manifest.WhileInTree,
			Reason: "No image of the GCE cloud-controller-manager was released for Kubernetes before 1.26: upgrade the cluster with " +
				"its in-tree provider to 1.26 first.",
			Link: promoted,
		},
		{
			From:       leadermigration.LastInTreeGCE + 1,
			Operations: []manifest.Operation{create, upgrade, migrate}, Condition: manifest.WhileInTree,
			Reason: "Kubernetes 1.30 is the last with the in-tree provider gce: migrate at 1.30 or before, then upgrade. A cluster " +
				"that is external already is created with the feature.",
			Link: kubernetes + "/blob/v1.30.14/pkg/cloudprovider/providers/providers.go",
		},
	}
}

// Example is a cloud configuration that is complete; the private key is that of nothing.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{
		configKey: []byte("[global]\nproject-id = alpha\nlocal-zone = europe-west3-a\nnetwork-name = default\n" +
			"subnetwork-name = nodes\nnode-tags = alpha-nodes\n"),
		credentialsKey: []byte(`{"type": "service_account", "project_id": "alpha", "private_key_id": "example-only", ` +
			`"private_key": "-----BEGIN EXAMPLE-----\nZXhhbXBsZQ==\n-----END EXAMPLE-----\n", "client_email": "ccm@alpha.example.com"}`),
	}
}
