package simcloud

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "simcloud"

// Profile is the profile of simcloud.
type Profile struct{}

func requiredKeys() []string { return []string{"endpoint", "cluster", "token"} }

// Facts are what deciding needs to know of simcloud.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:             Name,
		CanMigrate:       true,
		LastInTreeMinor:  leadermigration.LastInTreeSimcloud,
		InTreeName:       Name,
		ProviderIDPrefix: "simcloud://",
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class},
		// simcloud has no in-tree volume plugin, and so no gate of its own. CSIMigrationPortworx is the one CSI migration
		// gate that a kube-controller-manager of 1.30 knows, has off by default and still lets one switch without a
		// deprecation, so the testbed borrows it to exercise the row; without Portworx volumes it changes nothing.
		// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1040
		MigrationGates: map[string]bool{"CSIMigrationPortworx": true},
		// KCM and CCM of the testbed are built with the same provider.
		SharesLoadBalancerNames: true,
	}
	facts.VersionProblem = table().Problem(version)
	return facts
}

// Describe says what simcloud is.
func (Profile) Describe() manifest.Description {
	return manifest.Description{
		Title:      "simcloud",
		InTree:     &manifest.InTree{Name: Name, LastMinor: leadermigration.LastInTreeSimcloud},
		ProviderID: `^simcloud://.+$`, NodeNames: "The machine has the Node's name.",
		LoadBalancers: "They have the names that the in-tree provider gives them, and the CCM goes on with all of them.",
		Keys: []manifest.Key{
			{Name: "endpoint", Required: true, Text: "URL of the simulated cloud."},
			{Name: "cluster", Required: true, Text: "Name of the cluster in it."},
			{Name: "token", Required: true, Text: "Its token."},
		},
		Rules: []manifest.VersionRule{{
			From:       leadermigration.LastInTreeSimcloud + 1,
			Operations: []manifest.Operation{manifest.Create, manifest.Upgrade, manifest.Migrate},
			Condition:  manifest.WhileInTree,
			Reason:     "The newest managers of the testbed are those of 1.30, and no other kube-controller-manager has simcloud.",
			Link:       "https://github.com/kubernetes/kubernetes/tree/v1.30.14",
		}},
	}
}

// Example is a cloud configuration that is complete.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{
		"endpoint": []byte("http://127.0.0.1:8080"),
		"cluster":  []byte("alpha"),
		"token":    []byte("example-only"),
	}
}

// CloudConfigProblem names the keys that are missing or unusable.
func (Profile) CloudConfigProblem(data map[string][]byte) string {
	var missing []string
	for _, key := range requiredKeys() {
		value := bytes.TrimSpace(data[key])
		if len(value) == 0 {
			missing = append(missing, key)
			continue
		}
		if bytes.ContainsAny(value, "\r\n") {
			return fmt.Sprintf("key %s has more than one line: cloud.conf takes one line for each key", key)
		}
	}
	if len(missing) > 0 {
		return fmt.Sprintf("it lacks %s: add them, simcloud needs %s",
			strings.Join(missing, ", "), strings.Join(requiredKeys(), ", "))
	}
	if endpoint, err := url.Parse(value(data, "endpoint")); err != nil || endpoint.Host == "" {
		return "key endpoint is not a URL with a host: write it like http://host:port"
	}
	return ""
}

func value(data map[string][]byte, key string) string {
	return string(bytes.TrimSpace(data[key]))
}

// Identity of the CCM.
func (Profile) Identity() manifest.Identity { return manifest.CCMIdentity() }

// Render makes the objects of a cluster.
func (p Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	return manifest.Render(Name, in, p.render)
}

func (p Profile) render(in manifest.RenderInput) (made manifest.Addons, err error) {
	tag, minor, err := table().For(in.Version)
	if err != nil {
		return made, err
	}
	if problem := p.CloudConfigProblem(in.CloudConfig); problem != "" {
		return made, manifest.Unusable(problem)
	}
	if made.CCM, err = ccm(in, tag, minor); err != nil {
		return made, err
	}
	made.CSI, err = csi(tag)
	return made, err
}
