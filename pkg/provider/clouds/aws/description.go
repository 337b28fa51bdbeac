package aws

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	ccmSource = "https://github.com/kubernetes/cloud-provider-aws"
	csiSource = "https://github.com/kubernetes-sigs/aws-ebs-csi-driver"
	ccmDocs   = ccmSource + "/blob/v1.36.1/docs/"
	csiDocs   = csiSource + "/blob/v1.63.1/docs/"
)

// Describe is what people need to know of AWS.
func (Profile) Describe() manifest.Description {
	return manifest.Description{
		Title: "AWS", Projects: []string{ccmSource, csiSource},
		InTree: &manifest.InTree{
			Name: Name, LastMinor: leadermigration.LastInTreeAWS, Plugins: map[string]string{inTreePlugin: driver},
			// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/credentialprovider/aws/aws_credentials.go, gone from 1.27 on:
			// https://github.com/kubernetes/kubernetes/pull/116329
			Registries: observation.Registries{LastMinor: 26, Hosts: []string{
				"*.dkr.ecr.*.amazonaws.com",
				"*.dkr.ecr.*.amazonaws.com.cn",
				"*.dkr.ecr-fips.*.amazonaws.com",
				"*.dkr.ecr-fips.*.amazonaws.com.cn",
				"*.dkr.ecr.*.sc2s.sgov.gov",
				"*.dkr.ecr.*.c2s.ic.gov",
			}},
		},
		// The zone may be missing in old ones, and Fargate has Nodes without an instance:
		// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/instances.go#L47
		ProviderID: `^aws:///[a-z0-9-]*/(i-[0-9a-f]+|fargate-[^/]+)$`,
		NodeNames: "A Node without a providerID is found by its name, which has to be the private DNS name of its instance, such as " +
			"ip-10-0-0-1.eu-central-1.compute.internal, or has to begin with the ID of the instance.",
		LoadBalancers: "A load balancer is named after the UID of its Service (a and the UID without dashes, cut to 32 characters), " +
			"whatever the name of the cluster: the CCM goes on with all of the in-tree provider's, and that with the CCM's.",
		Routes: "The route loop needs one route table: that of key RouteTableID, or the only one with the cluster's tag. It deletes " +
			"routes to instances within the cluster CIDR that belong to no Node's pod CIDR, and knows IPv4 only.",
		Keys: []manifest.Key{
			{Name: configKey, Required: true, Text: "The file of --cloud-config, that of the in-tree provider as it is: section Global " +
				"with Zone or Region and KubernetesClusterID; VPC with SubnetID or RoleARN too where the CCM runs outside of the " +
				"cluster's instances."},
			{Name: accessKeyIDKey, Text: "The ID of an access key of an IAM user. Without it CCM and CSI controller use the IAM role " +
				"of their instance."},
			{Name: secretKeyKey, Text: "The secret access key that belongs to accessKeyId."},
		},
		Hazards: slices.Concat(cloudHazards(), clusterHazards(), manifest.VolumeHazards(inTreePlugin)), Rules: versionRules(),
	}
}

// cloudHazards are about what is set up in AWS.
func cloudHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{Text: "The tag kubernetes.io/cluster/<ID> says what belongs to the cluster. Where it is missing on an instance, security " +
			"group, subnet or route table, load balancers and routes fail; another KubernetesClusterID than before orphans all of " +
			"them. Keep the ID, and tag what the in-tree provider used.", Link: ccmSource + "/blob/v1.36.1/pkg/providers/v1/tags.go"},
		{Text: "Instances answer requests for their metadata over one hop by default, which pods without the Node's network do not " +
			"get through. The CCM and the node plugin have it; the CSI controller does not, so give it accessKeyId and " +
			"secretAccessKey, or set the hop limit of the instances to 2.", Link: csiDocs + "install.md"},
		{Text: "The IAM policies of the CCM and the CSI driver are not those of the in-tree provider. From 1.30 on the CCM also " +
			"asks for ec2:DescribeAvailabilityZones, without which no new Node is initialized, and for ec2:DescribeInstanceTopology, " +
			"without which those of some instance types are not. Compare the policies before " +
			"the migration.", Link: ccmDocs + "prerequisites.md"},
		{Text: "The policy AmazonEBSCSIDriverPolicyV2 allows only volumes with the tag ebs.csi.aws.com/cluster=true, which volumes " +
			"of the in-tree plugin do not have: they could neither be attached nor deleted. Tag them before, or use the older policy.",
			Link: csiSource + "/issues/2918"},
		{Text: "With routes, an instance in the route table that is no Node can keep the route loop from working at all. Take " +
			"routes to other instances out of the table, or give the cluster one of its own by key " +
			"RouteTableID.", Link: ccmSource + "/issues/627"},
	}
}

// clusterHazards are about Nodes, volumes and flags.
func clusterHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{Text: "A kubelet with an external cloud provider, and every kubelet from 1.27 on, has no built-in credentials for images " +
			"in ECR. Install ecr-credential-provider and its configuration on the Nodes before they are replaced.", Link: ccmDocs +
			"credential_provider.md"},
		{Text: "A Node whose name is neither its private DNS name nor begins with its instance ID keeps the taint " +
			"node.cloudprovider.kubernetes.io/uninitialized. Domain names in DHCP options cause this: set --hostname-override of the " +
			"kubelet.",
			Link: ccmSource + "/issues/384"},
		{Text: "A volume must not be mounted while its Node changes from the in-tree plugin to the CSI driver. Drain a Node before " +
			"its kubelet changes, or replace it.", Link: csiDocs + "install.md"},
		{Text: "The gates CSIMigration and CSIMigrationAWS are unknown from 1.27 on and InTreePluginAWSUnregister from 1.31 on: a " +
			"component that is still started with one ends at once. A migration on 1.24 switches the first two on; take them out " +
			"before 1.27.",
			Link: "https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go"},
		{Text: "A new volume of the in-tree plugin is gp2, one of the driver gp3 if its StorageClass names no type. Name the type " +
			"in every new StorageClass; the parameters of existing ones cannot be changed, and " +
			"they go on working.", Link: csiDocs + "parameters.md"},
		{Text: "Another CCM for AWS, such as the DaemonSet aws-cloud-controller-manager of its Helm chart, with another Lease or " +
			"without leader election would make second load balancers. Remove it before the migration.",
			Link: ccmSource + "/tree/v1.36.1/charts/aws-cloud-controller-manager"},
		{Text: "Not every git tag of the CCM has an image. Look an image up before you name it in place of ours.", Link: ccmSource +
			"/issues/1450"},
	}
}

func versionRules() []manifest.VersionRule {
	const providers = "https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/cloudprovider/providers/providers.go"
	return []manifest.VersionRule{
		{To: firstMinor - 1, Operations: []manifest.Operation{manifest.Migrate}, Condition: manifest.WhileInTree,
			Reason: "There is no AWS cloud-controller-manager for Kubernetes before 1.24 in the catalogue: upgrade to 1.24 in-tree, " +
				"then migrate.",
			Link: ccmSource},
		{To: firstMinor - 1, Operations: []manifest.Operation{manifest.Create, manifest.Upgrade}, Condition: manifest.WhileExternal,
			Reason: "There is no AWS cloud-controller-manager for Kubernetes before 1.24 in the catalogue: create the cluster with " +
				"1.24 or newer.",
			Link: ccmSource},
		{From: leadermigration.LastInTreeAWS + 1, Operations: []manifest.Operation{manifest.Create, manifest.Upgrade, manifest.Migrate},
			Condition: manifest.WhileInTree,
			Reason: "Kubernetes 1.26 is the last with the in-tree provider aws, and no newer kube-controller-manager starts with it: " +
				"migrate with 1.24, 1.25 or 1.26, then upgrade. A cluster that is external already is created with " +
				"the feature.", Link: providers},
	}
}

// Example is a cloud configuration that is complete.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{
		configKey: []byte("[Global]\nZone = eu-central-1a\nVPC = vpc-0123456789abcdef0\nSubnetID = subnet-0123456789abcdef0\n" +
			"KubernetesClusterID = alpha\nDisableStrictZoneCheck = true\n"),
		accessKeyIDKey: []byte("AKIAEXAMPLE"), secretKeyKey: []byte("example-only"),
	}
}
