package aws

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "aws"

// inTreePlugin is the volume plugin of the in-tree provider.
const inTreePlugin = "kubernetes.io/aws-ebs"

// Profile is the profile of AWS.
type Profile struct{}

// Facts are what deciding needs to know of AWS.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:            Name,
		CanMigrate:      true,
		LastInTreeMinor: leadermigration.LastInTreeAWS,
		InTreeName:      Name,
		// aws:///ZONE/INSTANCE, which the in-tree provider wrote too:
		// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/instances.go#L47
		ProviderIDPrefix: "aws:///",
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class, Plugin: inTreePlugin},
		// Initialize makes a client and an event broadcaster and starts no loop; what comes before the election only reads:
		// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/aws.go#L682
		ProbeHazard: "",
		// Both name a load balancer after the UID of its Service alone:
		// https://github.com/kubernetes/cloud-provider-aws/blob/v1.36.1/pkg/providers/v1/aws.go#L2794
		SharesLoadBalancerNames: true,
	}
	switch observation.MinorOf(version) {
	case 24:
		// Beta and on by default, but still to be switched off, which would leave volumes to a plugin that has no cloud any more:
		// https://github.com/kubernetes/kubernetes/blob/v1.24.17/pkg/features/kube_features.go
		facts.MigrationGates = map[string]bool{"CSIMigration": true, "CSIMigrationAWS": true}
		// Not whatever the flags: but flags that do not name the gates leave the volumes to the driver.
		facts.MigratedPlugins = []string{inTreePlugin}
	case 25, 26:
		// Locked to true, and unknown to 1.27:
		// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go
		facts.RetiredGates = []string{"CSIMigration", "CSIMigrationAWS"}
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
	conf, _ := parse(string(in.CloudConfig[configKey]))
	if made.CCM, err = ccm(in, conf, release, minor); err != nil {
		return made, err
	}
	made.CSI, err = csi(in, conf, minor)
	return made, err
}
