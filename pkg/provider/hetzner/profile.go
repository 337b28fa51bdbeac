package hetzner

import (
	"errors"
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider in the catalogue; its value of --cloud-provider is another one.
const Name = "hetzner"

// Profile is the profile of Hetzner Cloud.
type Profile struct{}

// Facts are what deciding needs to know of Hetzner Cloud: no kube-controller-manager ever knew it, so that there is no in-tree
// name, no gate and no plugin.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name: Name,
		// Nodes that are dedicated servers have hrobot:// instead:
		// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/internal/providerid/providerid.go
		ProviderIDPrefix: "hcloud://",
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class},
		// All that cloud.Initialize starts is a recorder of events:
		// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/hcloud/cloud.go
		ProbeHazard: "",
	}
	if _, _, err := find(version); err != nil {
		facts.VersionProblem = err.Error()
	}
	return facts
}

// Identity of the CCM.
func (Profile) Identity() manifest.Identity {
	return manifest.Identity{
		ServiceAccountNamespace: manifest.Namespace, ServiceAccountName: "cloud-controller-manager",
		LeaseNamespace: manifest.Namespace, LeaseName: "cloud-controller-manager",
	}
}

// Render makes the objects of a cluster.
func (Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	release, minor, err := find(in.Version)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render hetzner: %w", err)
	}
	config, problem := parse(in.CloudConfig)
	if problem != "" {
		return manifest.Addons{}, errors.New("render hetzner: its cloud configuration cannot be used: " + problem)
	}
	made := manifest.Addons{}
	if made.CCM, err = ccm(in, release, config); err != nil {
		return manifest.Addons{}, fmt.Errorf("render hetzner: %w", err)
	}
	if made.CSI, err = csi(in, release, minor, config); err != nil {
		return manifest.Addons{}, fmt.Errorf("render hetzner: %w", err)
	}
	return made, nil
}
