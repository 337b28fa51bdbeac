package simcloud

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "simcloud"

const (
	driver    = "csi.simcloud.k8c.io"
	namespace = "kube-system"
	// minor is the only one: the testbed's binaries are 1.30.14.
	minor = 30
	tag   = "v1.30.14"

	// The host name marks images that the testbed's kubelet runs as processes.
	ccmImage = "registry.example/simcloud/cloud-controller-manager"
	csiImage = "registry.example/simcloud/csi-driver"
)

//go:embed manifests
var manifests embed.FS

// Profile is the profile of simcloud.
type Profile struct{}

func requiredKeys() []string { return []string{"endpoint", "cluster", "token"} }

// Facts are what deciding needs to know of simcloud.
func (Profile) Facts(version string) migration.Provider {
	facts := migration.Provider{
		Name:                    Name,
		CanMigrate:              true,
		LastInTreeMinor:         minor,
		InTreeName:              Name,
		ProviderIDPrefix:        "simcloud://",
		CSIDrivers:              []string{driver},
		RequiredCloudConfigKeys: requiredKeys(),
		// simcloud has no in-tree volume plugin, and so no gate of its own. CSIMigrationPortworx is the one CSI migration
		// gate that a kube-controller-manager of 1.30 knows, has off by default and still lets one switch without a
		// deprecation, so the testbed borrows it to exercise the row; without Portworx volumes it changes nothing.
		// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1040
		MigrationGates: map[string]bool{"CSIMigrationPortworx": true},
		// KCM and CCM of the testbed are built with the same provider.
		SharesLoadBalancerNames: true,
	}
	if err := checkVersion(version); err != nil {
		facts.VersionProblem = err.Error()
	}
	return facts
}

func checkVersion(version string) error {
	switch got, err := manifest.Minor(version); {
	case err != nil:
		return err
	case got != minor:
		return fmt.Errorf("there is no simcloud cloud-controller-manager for Kubernetes 1.%d: the testbed is 1.%d",
			got, minor)
	}
	return nil
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
func (Profile) Identity() manifest.Identity {
	return manifest.Identity{
		ServiceAccountNamespace: namespace, ServiceAccountName: "cloud-controller-manager",
		LeaseNamespace: namespace, LeaseName: "cloud-controller-manager",
	}
}

// Render makes the objects of a cluster.
func (p Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	if err := checkVersion(in.Version); err != nil {
		return manifest.Addons{}, fmt.Errorf("render simcloud: %w", err)
	}
	if problem := p.CloudConfigProblem(in.CloudConfig); problem != "" {
		return manifest.Addons{}, errors.New("render simcloud: its cloud configuration cannot be used: " + problem)
	}
	ccm, err := renderCCM(in)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render simcloud: %w", err)
	}
	csi, err := renderCSI()
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render simcloud: %w", err)
	}
	return manifest.Addons{CCM: ccm, CSI: csi}, nil
}

func renderCCM(in manifest.RenderInput) (manifest.Set, error) {
	inherited, err := manifest.InheritedArguments(in.Inherited)
	if err != nil {
		return manifest.Set{}, err
	}
	objects, err := manifest.Read(manifests, "manifests/ccm.yaml")
	if err != nil {
		return manifest.Set{}, err
	}
	config := cloudConf(in.CloudConfig)
	err = manifest.ChangePods(objects, func(_ string, pod *corev1.PodTemplateSpec) error {
		manifest.SetChecksum(pod, config)
		if err := manifest.PinImages(pod, map[string]string{ccmImage: tag}); err != nil {
			return err
		}
		return manifest.AddArguments(pod, "cloud-controller-manager", inherited...)
	})
	if err != nil {
		return manifest.Set{}, err
	}
	secret, err := manifest.Secret(namespace, "cloud-config", config)
	if err != nil {
		return manifest.Set{}, err
	}
	return manifest.NewSet(Name+"-ccm", tag, slices.Insert(objects, 0, secret)), nil
}

func renderCSI() (manifest.Set, error) {
	objects, err := manifest.Read(manifests, "manifests/csi.yaml")
	if err != nil {
		return manifest.Set{}, err
	}
	err = manifest.ChangePods(objects, func(_ string, pod *corev1.PodTemplateSpec) error {
		return manifest.PinImages(pod, map[string]string{csiImage: tag})
	})
	if err != nil {
		return manifest.Set{}, err
	}
	return manifest.NewSet(Name+"-csi", tag, objects), nil
}

// cloudConf is the file that CCM, KCM and the machine-controller of the testbed read: lines of key=value.
func cloudConf(data map[string][]byte) map[string][]byte {
	var file strings.Builder
	for _, key := range requiredKeys() {
		file.WriteString(key + "=" + value(data, key) + "\n")
	}
	return map[string][]byte{"cloud.conf": []byte(file.String())}
}
