package hetzner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Keys of the Secret with the cloud configuration. The first four are those of upstream's Secret:
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/chart/values.yaml#L54-L71
const (
	tokenKey         = "token"
	networkKey       = "network"
	robotUserKey     = "robot-user"
	robotPasswordKey = "robot-password"
	locationKey      = "location"
	networkZoneKey   = "network-zone"
	addressFamilyKey = "address-family"
)

// setting is a key, what its value must be, and the variables that CCM and CSI controller read it from; empty: it does not.
type setting struct {
	key, ccm, csi string
	// form is a regular expression, and is says the same to people.
	form, is string
	// text is for documentation.
	text string
}

// settings of the Secret. Neither project reads a file; the variables are those of internal/config/config.go of the CCM v1.30.1
// and v1.35.0, and of internal/app/app.go of the CSI driver v2.20.2 and v2.22.1.
func settings() []setting {
	return []setting{
		{
			// What a header Authorization: Bearer takes: https://www.rfc-editor.org/rfc/rfc6750#section-2.1
			tokenKey, "HCLOUD_TOKEN", "HCLOUD_TOKEN", `^[A-Za-z0-9._~+/-]+=*$`, "an API token and nothing else",
			"API token of the Hetzner Cloud project, with permission to read and write.",
		},
		{
			networkKey, "HCLOUD_NETWORK", "", `^[^\s\pC]([^\pC]*[^\s\pC])?$`, "the ID or the name of a network",
			"Private network of the servers, by ID or name: Nodes get their addresses in it as InternalIP. The route loop needs it.",
		},
		{
			robotUserKey, "ROBOT_USER", "", `^[!-9;-~]+$`, "the name of a user of the Robot web service",
			"User of the Robot web service, for clusters with dedicated servers.",
		},
		{
			robotPasswordKey, "ROBOT_PASSWORD", "", `^[^\pC]+$`, "a password of one line", "Password of that user.",
		},
		{
			locationKey, "HCLOUD_LOAD_BALANCERS_LOCATION", "HCLOUD_VOLUME_DEFAULT_LOCATION", `^[a-z]+[0-9]*$`,
			"the name of a location, such as fsn1 (fsn1-dc14 is a data center)",
			"Location of load balancers whose Service names none, and of volumes that do not wait for a Pod.",
		},
		{
			networkZoneKey,
			"HCLOUD_LOAD_BALANCERS_NETWORK_ZONE",
			"",
			`^[a-z]+(-[a-z]+)+$`,
			"the name of a network zone, such as eu-central",
			"Network zone of load balancers whose Service names none, in place of location.",
		},
		{
			addressFamilyKey, "HCLOUD_INSTANCES_ADDRESS_FAMILY", "", `^(ipv4|ipv6|dualstack)$`, "ipv4, ipv6 or dualstack",
			"Family of the Nodes' public addresses; ipv4 without it.",
		},
	}
}

// config has the values of the keys that are there.
type config map[string]string

// CloudConfigProblem names the keys that are missing or unusable.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	_, problem := parse(data)
	return problem
}

// parse reads the Secret; a line break at the end of a value, as editors leave it, is not a part of it. Keys of others stay
// where they are.
func parse(data map[string][]byte) (config, string) {
	parsed, problems := config{}, otherSpellings(data)
	for _, setting := range settings() {
		value, there := data[setting.key]
		text := strings.TrimRight(string(value), "\r\n")
		switch {
		case text == "" && setting.key == tokenKey:
			problems = append(problems, "it lacks key token: add an API token of the Hetzner Cloud project that may read and write")
		case !there:
		case text == "":
			problems = append(problems, fmt.Sprintf("key %s is empty: fill it in, or remove it", setting.key))
		case !utf8.ValidString(text) || !regexp.MustCompile(setting.form).MatchString(text):
			problems = append(problems, fmt.Sprintf("key %s is not %s: correct it", setting.key, setting.is))
		default:
			parsed[setting.key] = text
		}
	}
	return parsed, strings.Join(append(problems, contradictions(data)...), "; ")
}

// contradictions are what the CCM ends at its start for:
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.30.1/internal/config/config.go
func contradictions(data map[string][]byte) []string {
	var problems []string
	has := func(key string) bool { _, there := data[key]; return there }
	if has(robotUserKey) != has(robotPasswordKey) {
		problems = append(problems, "of keys robot-user and robot-password there is only one: add the other, or remove it")
	}
	if has(locationKey) && has(networkZoneKey) {
		problems = append(problems, "keys location and network-zone exclude each other: remove one")
	}
	return problems
}

// otherSpellings finds keys like HCLOUD_TOKEN or robotUser: no one would read them, or they stand beside the right one.
func otherSpellings(data map[string][]byte) []string {
	var problems []string
	for key := range data {
		for _, setting := range settings() {
			if key != setting.key && plain(key) == plain(setting.key) {
				problems = append(problems, fmt.Sprintf("key %s is not read: name it %s", key, setting.key))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func plain(key string) string {
	key = strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(key))
	return strings.TrimPrefix(key, "hcloud")
}

// render is the Secret that a workload reads, by the variables that its keys stand in.
func (c config) render(name string, variable func(setting) string) (manifest.Secret, []corev1.EnvVar) {
	secret, env := manifest.Secret{Name: name, Data: map[string][]byte{}}, []corev1.EnvVar(nil)
	for _, setting := range settings() {
		if value, there := c[setting.key]; there && variable(setting) != "" {
			secret.Data[setting.key] = []byte(value)
			env = append(env, manifest.SecretEnv(variable(setting), name, setting.key))
		}
	}
	return secret, env
}

func ccmVariable(s setting) string { return s.ccm }

func csiVariable(s setting) string { return s.csi }
