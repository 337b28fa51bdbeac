package gcp

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	// Name of the provider in the catalogue.
	Name = "gcp"
	// flagValue is the value of --cloud-provider, of the CCM as of the in-tree provider.
	flagValue = "gce"
	// idPrefix is what every providerID begins with: gce://<project>/<zone>/<instance>.
	// https://github.com/kubernetes/cloud-provider-gcp/blob/ccm/v30.0.0/providers/gce/gce_util.go
	idPrefix    = "gce://"
	inTreeDisks = "kubernetes.io/gce-pd"
)

// Profile is the profile of Google Cloud.
type Profile struct{}

// Facts are what deciding needs to know of Google Cloud.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:             Name,
		CanMigrate:       true,
		LastInTreeMinor:  leadermigration.LastInTreeGCE,
		InTreeName:       flagValue,
		ProviderIDPrefix: idPrefix,
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class, Plugin: inTreeDisks},
		// cloud.Initialize starts two loops, after the election: one reads the ConfigMap ingress-uid, the other counts in memory.
		// Neither writes anything, so the CCM may be probed:
		// https://github.com/kubernetes/cloud-provider-gcp/blob/v36.0.7/providers/gce/gce.go (Initialize)
		ProbeHazard: "",
		// CSIMigrationGCE is GA and locked to true in 1.25 to 1.27, and gone from 1.28 on:
		// https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates-removed/
		MigrationGates: nil,
		// Both name load balancers after the Service's UID, and what they share after the UID in the ConfigMap ingress-uid:
		// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.30.14/gce/gce_loadbalancer_naming.go
		// https://github.com/kubernetes/cloud-provider-gcp/blob/ccm/v30.0.0/providers/gce/gce_loadbalancer_naming.go
		SharesLoadBalancerNames: true,
	}
	minor := observation.MinorOf(version)
	if minor >= firstMinor {
		facts.MigratedPlugins = []string{inTreeDisks}
	}
	facts.RetiredGates = retiredGates(minor)
	facts.VersionProblem = table().Problem(version)
	return facts
}

// retiredGates are those that the next minor or the one after it does not know any more:
// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go#L944-L952
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1092
func retiredGates(minor int) []string {
	switch minor {
	case 26:
		return []string{"CSIMigration", "CSIMigrationGCE"}
	case 27:
		return []string{"CSIMigrationGCE"}
	case 29, 30:
		// Without effect there, as the plugin is gone already; a component of 1.31 does not start with it.
		return []string{"InTreePluginGCEUnregister"}
	}
	return nil
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
	config, problem := read(in.CloudConfig)
	if problem != "" {
		return made, manifest.Unusable(problem)
	}
	if made.CCM, err = ccm(in, release, config); err != nil {
		return made, err
	}
	made.CSI, err = csi(in, release.storage, minor, config)
	return made, err
}
