package hetzner

import (
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
	facts.VersionProblem = table().Problem(version)
	return facts
}

// Identity of the CCM.
func (Profile) Identity() manifest.Identity { return manifest.CCMIdentity() }

// Render makes the objects of a cluster.
func (Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	return manifest.Render(Name, in, render)
}

func render(in manifest.RenderInput) (made manifest.Addons, err error) {
	release, minor, err := table().For(in.Version)
	if err != nil {
		return made, err
	}
	config, problem := parse(in.CloudConfig)
	if problem != "" {
		return made, manifest.Unusable(problem)
	}
	if made.CCM, err = ccm(in, release, config); err != nil {
		return made, err
	}
	made.CSI, err = csi(in, release, minor, config)
	return made, err
}
