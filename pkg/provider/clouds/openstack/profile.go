package openstack

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "openstack"

// Profile is the profile of OpenStack.
type Profile struct{}

// Facts are what deciding needs to know of OpenStack.
func (Profile) Facts(version string) observation.Provider {
	facts := observation.Provider{
		Name:            Name,
		CanMigrate:      true,
		LastInTreeMinor: leadermigration.LastInTreeOpenStack,
		InTreeName:      Name,
		// openstack:///ID, or openstack://REGION/ID with OS_CCM_REGIONAL:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/instances.go
		ProviderIDPrefix: "openstack://",
		CSIDrivers:       []string{driver},
		DefaultClass:     observation.DefaultClass{Name: class, Plugin: inTreePlugin},
		// CSIMigrationOpenStack is GA and locked to true in 1.24 and 1.25, and gone from 1.26 on:
		// https://github.com/kubernetes/kubernetes/blob/v1.24.17/pkg/features/kube_features.go#L922
		MigrationGates: nil,
		// The in-tree provider names load balancers after the Service's UID, the CCM new ones kube_service_CLUSTER_…; it
		// finds the old names, and the in-tree provider none of the new ones:
		// https://github.com/kubernetes/kubernetes/blob/v1.25.16/staging/src/k8s.io/legacy-cloud-providers/openstack/openstack_loadbalancer.go
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/loadbalancer.go
		SharesLoadBalancerNames: false,
		// It deletes those called kube_service_… only (L2116), and takes one of another name for one that several Services share,
		// which an internal one may not be (L1734). The format is that of L96 and L370, and the same in 1.24.6:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/loadbalancer.go#L2116
		LoadBalancerNames: "kube_service_%s_%s_%s",
		// The in-tree provider has it in the names of new volumes, which it finds by their IDs, and in descriptions; routes have no
		// names:
		// https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/volume/cinder/cinder_util.go (CreateVolume)
		// https://github.com/kubernetes/kubernetes/blob/v1.25.16/staging/src/k8s.io/legacy-cloud-providers/openstack/openstack_routes.go
		FreesClusterName: true,
		// Upstream's guide starts the CCM with --controllers=*,-cloud-node and takes that out with the kubelets' flags. The in-tree
		// kubelet takes the addresses of all networks, those of one called public as external ones; the CCM goes by section
		// Networking:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/docs/openstack-cloud-controller-manager/migrate-to-ccm-with-csimigration.md
		// https://github.com/kubernetes/legacy-cloud-providers/blob/v0.25.16/openstack/openstack.go#L577
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/instances.go#L567
		CloudNodeLater: true,
	}
	if minor := observation.MinorOf(version); minor == 24 || minor == 25 {
		// 1.26 does not know CSIMigrationOpenStack, and 1.27 not CSIMigration; both are on by default before:
		// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go
		facts.RetiredGates = []string{"CSIMigration", "CSIMigrationOpenStack"}
		facts.MigratedPlugins = []string{inTreePlugin}
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
	conf, problem := read(in.CloudConfig)
	if problem != "" {
		return made, manifest.Unusable(problem)
	}
	if made.CCM, err = ccm(in, conf, release, minor); err != nil {
		return made, err
	}
	made.CSI, err = csi(in, conf, release, minor)
	return made, err
}
