package azure

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Where the links lead.
const (
	project    = "https://github.com/kubernetes-sigs/cloud-provider-azure"
	source     = project + "/blob/v1.36.5/"
	inTree     = "https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/azure/"
	kubernetes = "https://github.com/kubernetes/kubernetes/"
	diskIssues = "https://github.com/kubernetes-sigs/azuredisk-csi-driver/"
	capz       = "https://github.com/kubernetes-sigs/cluster-api-provider-azure/"
	website    = "https://github.com/kubernetes/website/blob/main/content/en/docs/reference/command-line-tools-reference/feature-gates/"
)

// Describe says what people need to know of Azure.
func (Profile) Describe() manifest.Description {
	return manifest.Description{
		Title: "Azure",
		Projects: []string{
			project, "https://github.com/kubernetes-sigs/azuredisk-csi-driver", "https://github.com/kubernetes-sigs/azurefile-csi-driver",
		},
		InTree: &manifest.InTree{
			Name:      Name,
			LastMinor: leadermigration.LastInTreeAzure,
			Plugins:   map[string]string{diskPlugin: diskDriver, filePlugin: fileDriver},
			// https://github.com/kubernetes/kubernetes/blob/v1.28.15/pkg/credentialprovider/azure/azure_credentials.go, switched off from
			// 1.29 on by gate DisableKubeletCloudCredentialProviders:
			// https://github.com/kubernetes/website/tree/main/content/en/docs/reference/command-line-tools-reference/feature-gates
			Registries: observation.Registries{
				LastMinor: 28,
				Hosts:     []string{"*.azurecr.io", "*.azurecr.cn", "*.azurecr.de", "*.azurecr.us"},
			},
		},
		// The names of groups and providers are compared without regard to case, because the cloud itself does not keep it.
		ProviderID: `^(?i:azure:///subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/` +
			`(virtualMachines/[^/]+|virtualMachineScaleSets/[^/]+/virtualMachines/[^/]+))$`,
		NodeNames: "The name of a Node is its machine's name, or in a scale set its machine's host name, in lower case; the " +
			"cloud-node-manager on the Node asks the metadata service for the rest.",
		LoadBalancers: "A standard load balancer has the cluster's name, with -internal behind it for private addresses; a basic " +
			"one that, or the name of a set of machines. Rules and addresses carry an a with the Service's UID. The CCM goes on with " +
			"all of them as long as --cluster-name, loadBalancerSku and loadBalancerName stay what they are.",
		Routes: "They are in the table routeTableName, one for each Node and CIDR. Those inside of --cluster-cidr that belong to no " +
			"Node are deleted. In clusters with Azure CNI the loop is off.",
		// Its main has the flags and reads none of them.
		Keys:    describedKeys(),
		Hazards: slices.Concat(configHazards(), clusterHazards(), manifest.VolumeHazards(diskPlugin+" and "+filePlugin)),
		Rules:   versionRules(),
	}
}

func describedKeys() []manifest.Key {
	return []manifest.Key{
		{Name: fileKey, Text: "The configuration, as JSON or YAML: the file that --cloud-config of kube-controller-manager names, " +
			"as it is."},
		{Name: secretKey, Text: "The same, as Secret kube-system/azure-cloud-provider has it. One of the two is needed; of both, " +
			"this one is taken first, unless cloudConfigType in azure.json says file or secret."},
		{Name: "<name>", Text: "The certificate, as PEM or PKCS #12, when aadClientCertPath is " + configDir + "/<name>."},
	}
}

func configHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "Without vmType the in-tree provider takes standard, the CCM from 1.28 on vmss; without loadBalancerSku the in-tree " +
				"provider takes basic, the CCM from 1.27 on standard, and load balancers and addresses are made again. A migration writes " +
				"down what the in-tree provider took; a cluster that was external from the start has to say it.",
			Link: project + "/blob/v1.28.14/pkg/provider/azure.go#L618",
		},
		{
			Text: "Azure has retired basic load balancers, and makes no new ones. Move to standard ones, which means new addresses, " +
				"before or after a migration, not in it.",
			Link: "https://github.com/kubermatic/kubermatic/pull/13328",
		},
		{
			Text: "With the wrong vmType the CCM does not find the machines, and load balancers are never deleted. vmss also covers " +
				"machines in availability sets, unless disableAvailabilitySetNodes is set.",
			Link: kubernetes + "issues/105184",
		},
		{
			Text: "Scale sets with flexible orchestration need enableVmssFlexNodes, or vmType vmssflex.",
			Link: project + "/issues/2690",
		},
		{
			Text: "Load balancers and addresses are found by the cluster's name. Two clusters of one name in one resource group fight " +
				"over one load balancer; an address that is tagged with another name is not taken over.",
			Link: source + "pkg/provider/azure_loadbalancer.go#L4148-L4209",
		},
		{
			Text: "enableMultipleStandardLoadBalancers is refused: in-tree each set of machines has a load balancer of its own, and " +
				"the CCM would look for one of the cluster's name.",
			Link: inTree + "azure_standard.go",
		},
		{
			Text: "A managed identity is that of the machine that a process runs on. A CCM that runs outside of the user cluster needs " +
				"a client with a secret. In the user cluster the CSI controllers ask for it from the pod network: let them reach " +
				"169.254.169.254.",
			Link: source + "pkg/provider/config/azure_auth.go",
		},
		{
			Text: "Wrong credentials end the CCM right after its election, so it is elected again and again. The probe shows that " +
				"before kube-controller-manager is touched.",
			Link: source + "pkg/provider/azure.go#L513-L540",
		},
		{
			Text: "In 1.29 components with --cloud-provider=azure start only with the gate DisableCloudProviders=false: set it before " +
				"an in-tree cluster is upgraded to 1.29, or migrate first. The migration takes it away together with the in-tree flags.",
			Link: website + "DisableCloudProviders.md",
		},
		{
			Text: "Unmanaged disks (kind Shared or Dedicated of an azureDisk volume, blobs in a storage account) are not served by " +
				"the CSI driver. Copy their data to managed disks before you migrate.",
			Link: "https://github.com/kubernetes/csi-translation-lib/blob/v0.36.0/plugins/azure_disk.go",
		},
	}
}

func clusterHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "Only the cloud-node-manager takes the taint from new Nodes. It has to tolerate everything and to need no pod " +
				"network, because the pods of the CNI wait for it.",
			Link: capz + "issues/3472",
		},
		{
			Text: "A Node that joins without the taint is passed over by the cloud-node-manager and gets no providerID: its kubelet " +
				"needs --cloud-provider=external.",
			Link: capz + "pull/6293",
		},
		{
			Text: "With --wait-routes=true but without the route loop, new Nodes stay without a network for good. Both follow from " +
				"what kube-controller-manager ran.",
			Link: source + "pkg/nodemanager/nodemanager.go#L420-L427",
		},
		{
			Text: "From 1.26 on a CCM that leads, and so the probe, marks Nodes that are shut down as out of service: their pods are " +
				"deleted and their volumes detached. It takes the mark from every Node that is ready.",
			Link: source + "pkg/provider/azure.go#L889-L917",
		},
		{
			Text: "From 1.28 on the CCM locks Lease kube-system/" + workLease +
				" for every change of a load balancer. While someone else holds it, Services wait.",
			Link: project + "/blob/v1.28.14/pkg/provider/azure_lock.go#L84-L235",
		},
		{
			Text: "A machine of a scale set that the cloud does not know yet is deleted as a Node. From 1.33 on " +
				"nodeInstanceNotFoundGracePeriodInSeconds puts that off.",
			Link: project + "/issues/10604",
		},
		{
			Text: "From 1.29 on kubelets no longer log in at Azure's registry by themselves. New Nodes need acr-credential-provider " +
				"and --image-credential-provider-config before they pull from there.",
			Link: website + "DisableKubeletCloudCredentialProviders.md",
		},
		{
			Text: "While some Nodes attach in-tree and others by CSI, a volume may go back and forth between them. Gates are switched " +
				"on in the control plane before any kubelet has them.",
			Link: kubernetes + "issues/111006",
		},
		{
			Text: "Nodes without a zone have the zone 0, 1 … of Kubernetes and none of the CSI driver. StorageClasses that name such " +
				"zones are translated from 1.24 on.",
			Link: diskIssues + "pull/3670",
		},
		{
			Text: "The node plugin of Azure File may read all Secrets, because the keys of storage accounts are in the Namespaces of " +
				"the claims.",
			Link: "https://github.com/kubernetes-sigs/azurefile-csi-driver/blob/master/deploy/v1.35.7/rbac-csi-azurefile-node.yaml",
		},
		{
			Text: "The project's own chart and managed clusters have other names for Deployment and DaemonSets, and the same ones for " +
				"drivers and ServiceAccount. Look for the images azure-cloud-controller-manager and azuredisk-csi before installing.",
			Link: source + "helm/cloud-provider-azure/templates/cloud-provider-azure.yaml",
		},
	}
}

func versionRules() []manifest.VersionRule {
	return []manifest.VersionRule{
		{
			From:       leadermigration.LastInTreeAzure + 1,
			Operations: []manifest.Operation{manifest.Create, manifest.Upgrade, manifest.Migrate},
			Condition:  manifest.WhileInTree,
			Reason: "Kubernetes 1.29 is the last with the in-tree provider azure: migrate at 1.29 or before, then upgrade. A cluster " +
				"that is external already is created with the feature.",
			Link: "https://github.com/kubernetes/legacy-cloud-providers/tree/v0.30.0",
		},
		{
			To: firstMinor - 1, Operations: []manifest.Operation{manifest.Create, manifest.Upgrade}, Condition: manifest.WhileExternal,
			Reason: "The catalogue has no Azure cloud-controller-manager for Kubernetes before 1.24: create the cluster with 1.24 or " +
				"newer.",
			Link: project + "/blob/master/README.md",
		},
		{
			To: firstMinor - 1, Operations: []manifest.Operation{manifest.Migrate}, Condition: manifest.WhileInTree,
			Reason: "The catalogue has no Azure cloud-controller-manager for Kubernetes before 1.24: upgrade in-tree to 1.24 first.",
			Link:   project + "/blob/master/README.md",
		},
	}
}

// Example is a cloud configuration that is complete.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{fileKey: []byte(`{"tenantId": "tenant", "subscriptionId": "subscription", "resourceGroup": "alpha", ` +
		`"location": "westeurope", "vnetName": "net", "subnetName": "nodes", "securityGroupName": "nodes", "vmType": "vmss", ` +
		`"loadBalancerSku": "standard", "routeTableName": "nodes", "aadClientId": "client", "aadClientSecret": "example-only"}`)}
}
