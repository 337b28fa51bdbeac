package aws_test

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/aws"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	password = "example-only-hunter2"
	minimal  = "[Global]\nZone=eu-central-1a\nKubernetesClusterID=alpha\n"
	override = "[ServiceOverride \"1\"]\nService=ec2\nRegion=eu-central-1\nURL=https://ec2.example.com\nSigningRegion=eu-central-1\n"
)

func secret(conf string) map[string][]byte {
	return map[string][]byte{"cloud.conf": []byte(conf)}
}

func withKeys(id, key string) map[string][]byte {
	data := secret(minimal)
	if id != "" {
		data["accessKeyId"] = []byte(id)
	}
	if key != "" {
		data["secretAccessKey"] = []byte(key)
	}
	return data
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"a zone and the cluster's ID":        secret(minimal),
		"a region":                           secret("[Global]\nRegion=us-gov-west-1\nKubernetesClusterID=alpha\n"),
		"a zone that is only for its region": secret("[Global]\nZone=eu-central-1x\nRegion=eu-central-1\nKubernetesClusterID=alpha\n"),
		"a local zone":                       secret("[Global]\nZone=us-west-2-lax-1a\nKubernetesClusterID=alpha\n"),
		"the legacy tag":                     secret("[Global]\nZone=eu-central-1a\nKubernetesClusterTag=alpha\n"),
		"names without regard to case":       secret("[GLOBAL]\nzone=eu-central-1a\nkubernetesclusterid=alpha\n"),
		"quotes, comments and a byte order mark": secret(
			"\ufeff; one\n# two\r\n[Global] # three\r\nZone = \"eu-central-1a\" ; four\n\tKubernetesClusterID = al\"pha#\"; five\n"),
		"keys without values, as some generators write them": secret(minimal +
			"VPC=\nSubnetID = \"\"\nRoleARN=\nKubernetesClusterTag=\n"),
		"switches": secret(minimal + "DisableSecurityGroupIngress\nDisableStrictZoneCheck = Yes\n"),
		"everything": secret(minimal + "VPC=vpc-0a\nSubnetID=subnet-0a\nRouteTableID=rtb-0a\nElbSecurityGroup=sg-0a\n" +
			"RoleARN=arn:aws:iam::123456789012:role/a\nSourceARN=arn:aws:eks:a:123456789012:cluster/a\n" +
			"NodeIPFamilies=ipv6\nNodeIPFamilies=ipv4\nSupportedTopologyInstanceTypePattern=^p5\n" +
			"ClusterServiceLoadBalancerHealthProbeMode=Shared\nClusterServiceSharedLoadBalancerHealthProbePort=10256\n" +
			"ClusterServiceSharedLoadBalancerHealthProbePath=/healthz\nNLBSecurityGroupMode=Managed\n" + override),
		"a section in two parts":     secret("[Global]\nZone=eu-central-1a\n" + override + "[global]\nKubernetesClusterID=alpha\n"),
		"an access key":              withKeys("AKIAEXAMPLE", password),
		"an access key with newline": withKeys("AKIAEXAMPLE\n", password+"\n"),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(aws.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

type problem struct {
	data map[string][]byte
	want string
}

// brokenFiles lack something, or say what no one reads.
func brokenFiles() map[string]problem {
	const global = "key cloud.conf, section Global, "
	const lacks = "it lacks key cloud.conf: add the configuration of the in-tree provider or of the AWS cloud-controller-manager"
	return map[string]problem{
		"no Secret data": {nil, lacks},
		"an empty file":  {secret(" \n"), lacks},
		"no zone":        {secret("[Global]\nKubernetesClusterID=a\n"), global + "lacks Zone or Region: add one"},
		"no cluster": {secret("[Global]\nZone=eu-central-1a\n"),
			global + "lacks KubernetesClusterID: add the ID that the tags kubernetes.io/cluster/<ID> of the cluster's instances have"},
		"no section Global": {secret(override), global + "lacks Zone or Region: add one"},
		"two cluster IDs": {secret(minimal + "KubernetesClusterTag=beta\n"),
			global + "has KubernetesClusterTag and KubernetesClusterID that differ: remove the wrong one"},
		"two regions": {secret(minimal + "Region=eu-west-1\n"),
			global + "has Zone and Region that disagree: remove one, the AWS cloud-controller-manager believes Zone"},
		"the whole tag": {secret("[Global]\nZone=eu-central-1a\nKubernetesClusterID=kubernetes.io/cluster/alpha\n"),
			global + "key KubernetesClusterID, is the whole key of the tag: write what follows kubernetes.io/cluster/"},
		"a key twice": {secret(minimal +
			"zone=eu-west-1a\n"), "key cloud.conf, line 4, has Zone for the second time in section Global: keep one of them"},
		"no zone at all": {secret("[Global]\nZone=" + password), global +
			"key Zone, is no availability zone: write it like eu-central-1a"},
		"no region at all": {secret("[Global]\nRegion=" + password), global + "key Region, is no region: write it like eu-central-1"},
		"a VPC by name": {secret(minimal + "VPC=" + password), global +
			"key VPC, is no ID of a VPC: write it like vpc-0123456789abcdef0"},
		"a subnet by CIDR": {secret(minimal + "SubnetID=10.0.0.0/24"), global +
			"key SubnetID, is no ID of a subnet: write it like subnet-0123456789abcdef0"},
		"a role by name": {secret(minimal + "RoleARN=" + password), global +
			"key RoleARN, is no ARN: write it like arn:aws:iam::123456789012:role/name"},
		"no switch": {secret(minimal + "DisableSecurityGroupIngress=maybe"), global +
			"key DisableSecurityGroupIngress, is neither true nor false"},
		"an empty switch": {secret(minimal + "DisableSecurityGroupIngress="), global +
			"key DisableSecurityGroupIngress, is neither true nor false"},
		"two families in one line": {secret(minimal + "NodeIPFamilies=ipv4,ipv6"),
			global + "key NodeIPFamilies, is neither ipv4 nor ipv6: write one line for each family"},
		"no expression": {secret(minimal + "SupportedTopologyInstanceTypePattern=(p5"), global +
			"key SupportedTopologyInstanceTypePattern, is no regular expression"},
		"no port": {secret(minimal + "ClusterServiceSharedLoadBalancerHealthProbePort=http"),
			global + "key ClusterServiceSharedLoadBalancerHealthProbePort, is no port: write a number from 1 to 65535"},
		"a key without value": {secret(minimal + "VPC\n"), "key cloud.conf, line 4, key VPC, has no value: write it like key = value"},
		"a key that no one knows": {secret(minimal + "VCP=" + password),
			"key cloud.conf, line 4, has a key that the AWS cloud-controller-manager does not know in section Global: correct it or " +
				"remove it"},
		"a section that no one knows": {secret(minimal + "[Globl]\n"),
			"key cloud.conf, line 4, begins a section that the AWS cloud-controller-manager does not know: it knows Global and " +
				"ServiceOverride"},
		"the configuration of OpenStack": {secret("[Global]\nauth-url=https://keystone.example.com\npassword=" + password),
			"key cloud.conf, line 2, has auth-url, a key of OpenStack: put the configuration of AWS there"},
		"the configuration of vSphere": {secret("[VirtualCenter \"vc.example.com\"]\npassword=" + password),
			"key cloud.conf, line 1, begins a section of vSphere: put the configuration of AWS there"},
		"the configuration of Google Cloud": {secret("[Global]\nproject-id=alpha\n"),
			"key cloud.conf, line 2, has project-id, a key of Google Cloud: put the configuration of AWS there"},
		"the configuration of Azure": {secret("{\"aadClientSecret\": \"" + password + "\"}"),
			"key cloud.conf, line 1, stands before the first section: it looks like JSON, which the configuration of Azure is; put the " +
				"configuration of AWS there, which begins with [Global]"},
	}
}

// brokenValues cannot be read, or are not what they have to be.
func brokenValues() map[string]problem {
	const first, second = "key cloud.conf, section ServiceOverride, the one that is number 1, ", "key cloud.conf, section " +
		"ServiceOverride, the one that is number 2, "
	return map[string]problem{
		"a key before any section": {secret("Zone=eu-central-1a\n"), "key cloud.conf, line 1, stands before the first section: " +
			"begin the file with [Global]"},
		"a line that is none": {secret(minimal + "=" +
			password), "key cloud.conf, line 4, is no setting: write it like key = value"},
		"a section that does not end": {secret("[Global\n"), "key cloud.conf, line 1, is a section that does not end, or whose name " +
			"is none: write it like [Global] or [ServiceOverride \"1\"]"},
		"a label too much": {secret("[Global \"a\"]\n"), "key cloud.conf, line 1, gives section Global a label: write [Global]"},
		"a label too few": {
			secret("[ServiceOverride]\n"),
			`key cloud.conf, line 1, gives section ServiceOverride no label: write [ServiceOverride "1"]`,
		},
		"a backslash": {
			secret(minimal + `VPC=a\b`),
			"key cloud.conf, line 4, key VPC, has a backslash outside of quotation marks: put the value into quotation marks",
		},
		"an escape": {secret(minimal + `VPC="a\n"`),
			"key cloud.conf, line 4, key VPC, has a backslash that is followed by neither a backslash nor a quotation mark: write two " +
				"of them"},
		"an open quotation": {
			secret(minimal + `VPC="` + password),
			"key cloud.conf, line 4, key VPC, has a quotation mark that is not closed",
		},
		"a control character": {secret(minimal + "VPC=a\x00"), "key cloud.conf, line 4, has a control character: remove it"},
		"no text":             {secret("[Global]\xff"), "key cloud.conf is no UTF-8 text: save it as such"},
		"an override that lacks a key": {secret(minimal + override + "[ServiceOverride \"2\"]\nService=kms\n"),
			second + "lacks Region: add it"},
		"an override that is empty": {secret(minimal + "[ServiceOverride \"1\"]\n"), first + "lacks Service: add it"},
		"an override without a URL": {secret(minimal + strings.Replace(override, "https://ec2.example.com", "ec2.example.com", 1)),
			first + "has a URL that is none: write it like https://host"},
		"the same override twice": {secret(minimal + override + strings.Replace(override, "\"1\"", "\"2\"", 1)),
			second + "has the Service and the Region of one before: keep one of them"},
		"half an access key": {withKeys("AKIAEXAMPLE", ""),
			"it has key accessKeyId but lacks secretAccessKey: add it, or remove both to use the IAM roles of the instances"},
		"the other half": {withKeys("", password),
			"it has key secretAccessKey but lacks accessKeyId: add it, or remove both to use the IAM roles of the instances"},
		"a temporary access key": {withKeys("ASIAEXAMPLE", password), "key accessKeyId is a temporary one, which runs out: make an " +
			"access key of an IAM user"},
		"an access key in two lines": {withKeys("AKIA\nEXAMPLE", password),
			"key accessKeyId has a character that no access key ID has: put the ID there, and nothing else"},
		"a secret that brings a setting along": {withKeys("AKIAEXAMPLE", password+"\nrole_arn = a"),
			"key secretAccessKey has a character that no secret access key has: put the key there, and nothing else"},
	}
}

func TestCloudConfigProblems(t *testing.T) {
	tests := brokenFiles()
	maps.Copy(tests, brokenValues())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problem := aws.Profile{}.CloudConfigProblem(test.data)
			g.Expect(problem).To(Equal(test.want))
			g.Expect(problem).NotTo(ContainSubstring(password))
			_, err := aws.Profile{}.Render(manifest.RenderInput{Version: "1.25.0", CloudConfig: test.data})
			g.Expect(err).To(MatchError("render aws: its cloud configuration cannot be used: " + test.want))
		})
	}
}

func TestControlPlaneProblems(t *testing.T) {
	tests := map[string]struct{ conf, want string }{
		"a VPC and a subnet": {minimal + "VPC=vpc-0a\nSubnetID=subnet-0a\n", ""},
		"a VPC and a role":   {minimal + "VPC=vpc-0a\nRoleARN=arn:aws:iam::123456789012:role/a\n", ""},
		"no VPC":             {minimal + "SubnetID=subnet-0a\n", "lacks VPC"},
		"a VPC only":         {minimal + "VPC=vpc-0a\n", "lacks SubnetID or RoleARN"},
		"no configuration":   {"Zone", "line 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			problem := aws.Profile{}.ControlPlaneProblem(secret(test.conf))
			if test.want == "" {
				NewWithT(t).Expect(problem).To(BeEmpty())
				return
			}
			NewWithT(t).Expect(problem).To(ContainSubstring(test.want))
		})
	}
}
