package aws

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	configKey       = "cloud.conf"
	accessKeyIDKey  = "accessKeyId"
	secretKeyKey    = "secretAccessKey"
	credentialsFile = "credentials"

	globalSection   = "Global"
	overrideSection = "ServiceOverride"
	familiesKey     = "NodeIPFamilies"
)

// accessKeys are the credentials in the Secret; without them, those of the instances' IAM roles are used.
type accessKeys struct{ id, secret string }

func keysOf(data map[string][]byte) (keys accessKeys, given bool) {
	keys = accessKeys{id: strings.TrimSpace(string(data[accessKeyIDKey])), secret: strings.TrimSpace(string(data[secretKeyKey]))}
	return keys, keys != accessKeys{}
}

// globals are the keys of section Global, with what their values have to look like. They are all keys that the in-tree provider
// knew and all that the CCMs know: CloudConfig in pkg/providers/v1/config/config.go, before 1.29 in pkg/providers/v1/aws.go, of
// https://github.com/kubernetes/cloud-provider-aws, tags v1.24.19 to v1.36.1.
func globals() map[string]func(value string) string {
	text := func(string) string { return "" }
	return map[string]func(string) string{
		"Zone":   like(zonePattern, "is no availability zone: write it like eu-central-1a"),
		"Region": like(`^([a-z]+-)+[0-9]+$`, "is no region: write it like eu-central-1"),
		"VPC":    like(`^vpc-[0-9a-z]+$`, "is no ID of a VPC: write it like vpc-0123456789abcdef0"),

		"SubnetID":         like(`^subnet-[0-9a-z]+$`, "is no ID of a subnet: write it like subnet-0123456789abcdef0"),
		"RouteTableID":     like(`^rtb-[0-9a-z]+$`, "is no ID of a route table: write it like rtb-0123456789abcdef0"),
		"ElbSecurityGroup": like(`^sg-[0-9a-z]+$`, "is no ID of a security group: write it like sg-0123456789abcdef0"),

		"RoleARN":   like(arnPattern, "is no ARN: write it like arn:aws:iam::123456789012:role/name"),
		"SourceARN": like(arnPattern, "is no ARN: write it like arn:aws:iam::123456789012:role/name"),

		"KubernetesClusterTag": clusterName, "KubernetesClusterID": clusterName,
		"DisableSecurityGroupIngress": boolean, "DisableStrictZoneCheck": boolean,
		// Other words are not refused by the CCM: the Nodes would have no addresses.
		familiesKey:                            family,
		"SupportedTopologyInstanceTypePattern": expression,

		"ClusterServiceLoadBalancerHealthProbeMode":       like(`^(Shared|ServiceNodePort)$`, "is neither Shared nor ServiceNodePort"),
		"ClusterServiceSharedLoadBalancerHealthProbePort": port,
		"ClusterServiceSharedLoadBalancerHealthProbePath": text,

		"NLBSecurityGroupMode": like(`^Managed$`, "is not Managed: write that, or remove it"),
	}
}

const (
	// zonePattern is what the CCM takes the region from: azToRegion of
	// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/aws.go
	zonePattern = `^(?:[a-zA-Z]+-)+[0-9]+[a-z0-9-]*$`
	arnPattern  = `^arn:[A-Za-z0-9:/_+=,.@-]+$`
)

func overrides() []string {
	return []string{"Service", "Region", "URL", "SigningRegion", "SigningMethod", "SigningName"}
}

func keysIn(section string) []string {
	if section == overrideSection {
		return overrides()
	}
	var keys []string
	for key := range globals() {
		keys = append(keys, key)
	}
	return keys
}

// isSwitch says whether a key may stand without a value, which means true.
func isSwitch(key string) bool {
	return key == "DisableSecurityGroupIngress" || key == "DisableStrictZoneCheck"
}

// foreign names the provider whose key or section a word is.
func foreign(word string) string {
	switch strings.ToLower(word) {
	case "auth-url", "tenant-name", "tenant-id", "application-credential-id", "loadbalancer", "blockstorage", "networking":
		return "OpenStack"
	case "virtualcenter", "workspace", "insecure-flag", "datacenters", "vcenter":
		return "vSphere"
	case "project-id", "network-project-id", "token-url", "node-tags", "local-zone", "multizone":
		return "Google Cloud"
	}
	return ""
}

// like checks texts, of which an empty one means none.
func like(pattern, problem string) func(string) string {
	return func(value string) string {
		if value == "" || regexp.MustCompile(pattern).MatchString(value) {
			return ""
		}
		return problem
	}
}

func family(value string) string {
	if value == "ipv4" || value == "ipv6" {
		return ""
	}
	return "is neither ipv4 nor ipv6: write one line for each family"
}

func clusterName(value string) string {
	switch {
	case strings.HasPrefix(value, "kubernetes.io/cluster/"):
		return "is the whole key of the tag: write what follows kubernetes.io/cluster/"
	case strings.ContainsAny(value, " \t"):
		return "has a space: write the ID that the tags kubernetes.io/cluster/<ID> of the cluster's instances have"
	}
	return ""
}

// boolean are the words of gcfg: https://pkg.go.dev/gopkg.in/gcfg.v1/types
func boolean(value string) string {
	words := []string{"true", "yes", "on", "1", "false", "no", "off", "0"}
	if slices.Contains(words, strings.ToLower(value)) {
		return ""
	}
	return "is neither true nor false"
}

func expression(value string) string {
	if _, err := regexp.Compile(value); err != nil {
		return "is no regular expression"
	}
	return ""
}

func port(value string) string {
	if number, err := strconv.Atoi(value); err != nil || number < 1 || number > 65535 {
		return "is no port: write a number from 1 to 65535"
	}
	return ""
}

// CloudConfigProblem names the keys that are missing or unusable.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	if strings.TrimSpace(string(data[configKey])) == "" {
		return "it lacks key cloud.conf: add the configuration of the in-tree provider or of the AWS cloud-controller-manager"
	}
	if problem := keysProblem(data); problem != "" {
		return problem
	}
	conf, problem := parse(string(data[configKey]))
	if problem != "" {
		return problem
	}
	for _, problem := range []func() string{conf.valueProblem, conf.globalProblem, conf.overrideProblem} {
		if found := problem(); found != "" {
			return "key cloud.conf, section " + found
		}
	}
	return ""
}

// ControlPlaneProblem says why a CCM that does not run on an instance of the cluster cannot use a configuration that
// CloudConfigProblem has nothing against: without these keys it takes its VPC from the instance that it runs on.
// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/aws.go#L627
func (Profile) ControlPlaneProblem(data map[string][]byte) string {
	conf, problem := parse(string(data[configKey]))
	switch {
	case problem != "":
		return problem
	case conf.global("VPC") == "":
		return "key cloud.conf, section Global, lacks VPC, which a cloud-controller-manager outside of the cluster needs: add it"
	case conf.global("SubnetID") == "" && conf.global("RoleARN") == "":
		return "key cloud.conf, section Global, lacks SubnetID or RoleARN, one of which a cloud-controller-manager outside of the " +
			"cluster needs: add one"
	}
	return ""
}

func keysProblem(data map[string][]byte) string {
	keys, given := keysOf(data)
	switch {
	case !given:
		return ""
	case keys.secret == "":
		return "it has key accessKeyId but lacks secretAccessKey: add it, or remove both to use the IAM roles of the instances"
	case keys.id == "":
		return "it has key secretAccessKey but lacks accessKeyId: add it, or remove both to use the IAM roles of the instances"
	case strings.HasPrefix(keys.id, "ASIA"):
		// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
		return "key accessKeyId is a temporary one, which runs out: make an access key of an IAM user"
	case !regexp.MustCompile(`^[A-Za-z0-9_]+$`).MatchString(keys.id):
		return "key accessKeyId has a character that no access key ID has: put the ID there, and nothing else"
	case !regexp.MustCompile(`^[A-Za-z0-9/+=_.-]+$`).MatchString(keys.secret):
		return "key secretAccessKey has a character that no secret access key has: put the key there, and nothing else"
	}
	return ""
}

func (c config) valueProblem() string {
	checks := globals()
	for _, section := range c.sections {
		if section.name != globalSection {
			continue
		}
		for _, setting := range section.settings {
			if problem := checks[setting.key](setting.value); problem != "" {
				return "Global, key " + setting.key + ", " + problem
			}
		}
	}
	return ""
}

// globalProblem follows how the CCM finds its region and its cluster:
// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/tags.go
func (c config) globalProblem() string {
	tag, id := c.global("KubernetesClusterTag"), c.global("KubernetesClusterID")
	zone, region := c.global("Zone"), c.global("Region")
	switch {
	case zone == "" && region == "":
		return "Global, lacks Zone or Region: add one"
	case zone != "" && region != "" && c.region() != region:
		return "Global, has Zone and Region that disagree: remove one, the AWS cloud-controller-manager believes Zone"
	case tag == "" && id == "":
		return "Global, lacks KubernetesClusterID: add the ID that the tags kubernetes.io/cluster/<ID> of the cluster's instances have"
	case tag != "" && id != "" && tag != id:
		return "Global, has KubernetesClusterTag and KubernetesClusterID that differ: remove the wrong one"
	}
	return ""
}

// overrideProblem follows ValidateOverrides of
// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/config/config.go
func (c config) overrideProblem() string {
	var seen []string
	for _, section := range c.sections {
		if section.name != overrideSection {
			continue
		}
		place := fmt.Sprintf("%s, the one that is number %d, ", overrideSection, len(seen)+1)
		for _, key := range overrides()[:4] {
			if strings.TrimSpace(section.value(key)) == "" {
				return place + "lacks " + key + ": add it"
			}
		}
		if parsed, err := url.Parse(section.value("URL")); err != nil || parsed.Host == "" {
			return place + "has a URL that is none: write it like https://host"
		}
		service := section.value("Service") + "_" + section.value("Region")
		if slices.Contains(seen, service) {
			return place + "has the Service and the Region of one before: keep one of them"
		}
		seen = append(seen, service)
	}
	return ""
}
