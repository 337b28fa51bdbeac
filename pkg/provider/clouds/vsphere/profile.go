package vsphere

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	// Name of the provider, in the catalogue and as the value of --cloud-provider.
	Name = "vsphere"

	inTreePlugin = "kubernetes.io/vsphere-volume"
)

// Profile is the profile of vSphere.
type Profile struct{}

// Facts are what deciding needs to know of vSphere.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:            Name,
		CanMigrate:      true,
		LastInTreeMinor: leadermigration.LastInTreeVSphere,
		InTreeName:      Name,
		// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/cloudprovider/vsphere/util.go#L37
		ProviderIDPrefix: "vsphere://",
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class, Plugin: inTreePlugin},
		// https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/pkg/apis/migration/config/cns.vmware.com_cnsvspherevolumemigrations.yaml
		RegisteredBy: "cnsvspherevolumemigrations.cns.vmware.com",
		// cloud.Initialize only looks: it lists Nodes and asks vCenter for them. What deletes is for NSX, which is refused:
		// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/cloudprovider/vsphere/cloud.go#L120-L163
		ProbeHazard: "",
		// Neither of them makes any; those of other programs are not touched:
		// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/vsphere/vsphere.go#L911
		SharesLoadBalancerNames: true,
		// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L613-L640
		DetachesFirst: true,
	}
	switch minor := observation.MinorOf(version); {
	case minor >= 24 && minor <= 26:
		// Off by default in 1.24; on, but still to be switched off, in 1.25 and 1.26:
		// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go#L958
		facts.MigrationGates = map[string]bool{"CSIMigrationvSphere": true}
	case minor == 27 || minor == 28:
		// Locked, and unknown to 1.29. Before, 1.27 has lost CSIMigration already.
		// https://github.com/kubernetes/kubernetes/blob/v1.28.15/pkg/features/kube_features.go
		facts.RetiredGates = []string{"CSIMigrationvSphere"}
		facts.MigratedPlugins = []string{inTreePlugin}
	case minor >= 29:
		// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/volume/csimigration/plugin_manager.go
		facts.MigratedPlugins = []string{inTreePlugin}
	}
	facts.VersionProblem = table().Problem(version)
	return facts
}

// Identity of the CCM.
func (Profile) Identity() manifest.Identity { return manifest.CCMIdentity() }

// Render makes the objects of a cluster.
func (p Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	return manifest.Render(Name, in, p.render)
}

func (p Profile) render(in manifest.RenderInput) (made manifest.Addons, err error) {
	release, minor, err := table().For(in.Version)
	if err != nil {
		return made, err
	}
	if problem := p.CloudConfigProblem(in.CloudConfig); problem != "" {
		return made, manifest.Unusable(problem)
	}
	conf, _ := parse(in.CloudConfig)
	if made.CCM, err = ccm(in, conf, release, minor); err != nil {
		return made, err
	}
	made.CSI, err = csi(in, conf, release)
	return made, err
}
