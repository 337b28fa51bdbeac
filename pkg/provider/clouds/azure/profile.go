package azure

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "azure"

const (
	diskPlugin = "kubernetes.io/azure-disk"
	filePlugin = "kubernetes.io/azure-file"
	diskGate   = "CSIMigrationAzureDisk"
	fileGate   = "CSIMigrationAzureFile"
)

// Profile is the profile of Azure.
type Profile struct{}

// Facts are what deciding needs to know of Azure.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:            Name,
		CanMigrate:      true,
		LastInTreeMinor: leadermigration.LastInTreeAzure,
		InTreeName:      Name,
		// The same in both providers:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure_wrap.go#L36
		ProviderIDPrefix: "azure:///",
		CSIDrivers:       []string{diskDriver, fileDriver},
		// A class of files is no successor for one of disks, nor the other way round.
		DefaultClass: observation.DefaultClass{Name: diskClass, Plugin: diskPlugin},
		// One of two, so it is CloudConfigProblem that asks for it.
		// The CCM's first call to the cloud waits for its election, so the probe makes it, too; it runs no loop.
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure.go#L513-L540
		ProbeHazard: "",
		// Both name load balancers after the cluster, but the CCM tags public addresses as its own in a way that the in-tree
		// provider does not know, and it would not give such an address back.
		// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.29.6/azure/azure_loadbalancer.go#L118-L121
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/consts/consts.go#L350-L355
		SharesLoadBalancerNames: false,
	}
	gateFacts(&facts, observation.MinorOf(version))
	facts.VersionProblem = table().Problem(version)
	return facts
}

// gateFacts: both gates are on by default in every minor from 1.24 on. They matter while someone may have switched them off,
// which is until they are locked, and have to be gone from the arguments before they are unknown.
//   - CSIMigration is unknown from 1.27 on.
//   - CSIMigrationAzureDisk is locked from 1.25 on and unknown from 1.27 on.
//   - CSIMigrationAzureFile is locked from 1.27 on and unknown from 1.30 on.
//
// https://github.com/kubernetes/kubernetes/blob/v1.24.17/pkg/features/kube_features.go#L916-L919, …/v1.25.16/…#L919-L921,
// …/v1.26.15/…#L948-L950, and content/en/docs/reference/command-line-tools-reference/feature-gates of
// https://github.com/kubernetes/website
func gateFacts(facts *observation.Provider, minor int) {
	switch {
	case minor == 24:
		facts.MigrationGates = map[string]bool{diskGate: true, fileGate: true}
		facts.RetiredGates = []string{"CSIMigration", diskGate, fileGate}
	case minor == 25, minor == 26:
		facts.MigrationGates = map[string]bool{fileGate: true}
		facts.RetiredGates = []string{"CSIMigration", diskGate, fileGate}
		facts.MigratedPlugins = []string{diskPlugin}
	case minor >= 27 && minor <= leadermigration.LastInTreeAzure:
		facts.RetiredGates = []string{fileGate}
		facts.MigratedPlugins = []string{diskPlugin, filePlugin}
	}
}

// Identity of the CCM.
func (Profile) Identity() manifest.Identity {
	identity := manifest.CCMIdentity()
	identity.WorkLease = workLease
	return identity
}

// Render makes the objects of a cluster.
func (Profile) Render(in manifest.RenderInput) (manifest.Addons, error) {
	return manifest.Render(Name, in, render)
}

func render(in manifest.RenderInput) (made manifest.Addons, err error) {
	release, minor, err := table().For(in.Version)
	if err != nil {
		return made, err
	}
	settings, err := settingsOf(in)
	if err != nil {
		return made, err
	}
	if made.CCM, err = ccm(in, settings, release, minor); err != nil {
		return made, err
	}
	if made.CSI, err = csi(in, settings, release); err != nil {
		return made, err
	}
	made.Nodes, err = nodeAgents(in)
	return made, err
}

// settingsOf is the configuration that the external components get.
func settingsOf(in manifest.RenderInput) (config, error) {
	given, problem := usable(in.CloudConfig)
	if problem != "" {
		return nil, manifest.Unusable(problem)
	}
	settings, problem := given.external(len(in.Inherited.Loops) > 0)
	if problem != "" {
		return nil, manifest.Unusable(problem)
	}
	routes, err := runsRoutes(in)
	if err != nil {
		return nil, err
	}
	if routes && !settings.has(routeTable) {
		return nil, manifest.Unusable("it lacks " + routeTable + ", into which the route loop of this cluster writes: add it")
	}
	return settings, nil
}
