package gcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"slices"
	"strings"
)

const (
	// configKey is the name that the file has on the hosts of the in-tree provider.
	configKey = "gce.conf"
	// credentialsKey is the name that the CSI driver's manifests have for the key file of a service account.
	credentialsKey = "cloud-sa.json"
	section        = "key " + configKey + ", section global, "
)

// cloudConfig is what the Secret with the cloud configuration has.
type cloudConfig struct {
	global      global
	credentials []byte
}

// CloudConfigProblem names what is missing or unusable in gce.conf and in the key file.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	_, problem := read(data)
	return problem
}

func read(data map[string][]byte) (cloudConfig, string) {
	if len(bytes.TrimSpace(data[configKey])) == 0 {
		return cloudConfig{}, "it lacks key gce.conf: add the configuration of the in-tree provider gce, with project-id, " +
			"local-zone and network-name in section [global]"
	}
	made, problem := parse(data[configKey])
	if problem != "" {
		return cloudConfig{}, problem
	}
	if problem := made.problem(); problem != "" {
		return cloudConfig{}, problem
	}
	credentials, problem := readCredentials(data[credentialsKey])
	return cloudConfig{global: made, credentials: credentials}, problem
}

// problem of a configuration that could be parsed. The three keys could be asked of a metadata server; but that would be the
// one of the Node that the CCM happens to run on, and outside of the cloud there is none:
// https://github.com/kubernetes/cloud-provider-gcp/blob/ccm/v27.1.6/providers/gce/gce.go (generateCloudConfig)
func (g global) problem() string {
	if len(g) == 0 {
		return "key gce.conf has no key of GCE in section global: it looks like the configuration of another provider; write " +
			"project-id, local-zone and network-name there"
	}
	var missing []string
	for _, name := range []string{projectKey, zoneKey, networkKey} {
		if len(g[name]) == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return section + "lacks " + strings.Join(missing, ", ") + ": add it"
	}
	if !isZone(g.first(zoneKey)) {
		return section + "has a local-zone that is not a zone: write one like europe-west3-a"
	}
	// The route loop compares the network with the one of the routes, as a URL, and a partial path is like none of them.
	if network := g.first(networkKey); strings.Contains(network, "/") && !strings.HasPrefix(network, "https://") {
		return section + "has a network-name that is a part of a URL: write the network's name, or its whole URL"
	}
	if stack := g.first(stackKey); stack != "" && !slices.Contains([]string{"IPV4", "IPV4_IPV6", "IPV6"}, stack) {
		return section + "has a stack-type that is none of IPV4, IPV4_IPV6 and IPV6: write one of them, or remove it"
	}
	return ""
}

// isZone says whether the region can be cut out of it.
func isZone(zone string) bool {
	parts := strings.Split(zone, "-")
	return len(parts) >= 3 && !slices.Contains(parts, "") &&
		!strings.ContainsFunc(zone, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// external makes the CCM's configuration of one that the in-tree provider read; the two know the same keys. The tokens come
// from the key file: those of a token-url are made for the hosts of the control plane, and its token-body is a credential.
//
// Zones: a kubelet of the in-tree provider wrote the providerID, with the zone, itself. Without it a Node is looked for in
// local-zone only, unless multizone is set, so without multizone new Nodes of other zones would never be initialized:
// https://github.com/kubermatic/kubermatic/issues/5025
func (g global) external() global {
	made := g.copied()
	delete(made, tokenBodyKey)
	made[tokenURLKey] = []string{"nil"}
	if len(made[multizoneKey]) == 0 {
		made[multizoneKey] = []string{"true"}
	}
	return made
}

// disks makes the CSI driver's configuration, which knows four keys, and calls the zone otherwise:
// https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/v1.22.1/pkg/gce-cloud-provider/compute/gce.go
func (g global) disks() global {
	return global{projectKey: g[projectKey], diskZoneKey: g[zoneKey], tokenURLKey: {"nil"}}
}

// serviceAccount is what of a key file has to be there.
type serviceAccount struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
}

// readCredentials takes the key file as it is, or in base64, which is how some store it inside of a Secret.
func readCredentials(data []byte) ([]byte, string) {
	const again = ": add the key file of a service account as Google made it"
	file := bytes.TrimSpace(data)
	if len(file) == 0 {
		return nil, "it lacks key cloud-sa.json" + again
	}
	if decoded, err := base64.StdEncoding.DecodeString(string(file)); err == nil {
		file = bytes.TrimSpace(decoded)
	}
	account := serviceAccount{}
	if json.Unmarshal(file, &account) != nil {
		// The error may have a part of the file in it.
		return nil, "key cloud-sa.json is not a JSON object of text fields" + again
	}
	if account.Type != "service_account" {
		return nil, "key cloud-sa.json is not the key of a service account: its field type has to be service_account" + again
	}
	var missing []string
	for _, field := range []struct{ name, value string }{
		{"project_id", account.ProjectID}, {"private_key_id", account.PrivateKeyID},
		{"private_key", account.PrivateKey}, {"client_email", account.ClientEmail},
	} {
		if field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		return nil, "key cloud-sa.json lacks " + strings.Join(missing, ", ") + again
	}
	if block, _ := pem.Decode([]byte(account.PrivateKey)); block == nil {
		return nil, "key cloud-sa.json has a private_key that is not PEM" + again
	}
	return file, ""
}
