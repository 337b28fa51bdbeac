package openstack

import (
	"embed"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Name of the provider, in the catalogue and as the value of --cloud-provider.
const Name = "openstack"

const (
	driver    = "cinder.csi.openstack.org"
	namespace = "kube-system"

	controllerPlugin = "openstack-cinder-csi-controller"
	nodePlugin       = "openstack-cinder-csi-node"
	pluginContainer  = "cinder-csi-plugin"
)

//go:embed manifests
var manifests embed.FS

// Profile is the profile of OpenStack.
type Profile struct{}

// Facts are what deciding needs to know of OpenStack.
func (Profile) Facts(version string) migration.Provider {
	facts := migration.Provider{
		Name:            Name,
		CanMigrate:      true,
		LastInTreeMinor: lastInTreeMinor,
		InTreeName:      Name,
		// openstack:///ID, or openstack://REGION/ID with OS_CCM_REGIONAL:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/instances.go
		ProviderIDPrefix:        "openstack://",
		CSIDrivers:              []string{driver},
		RequiredCloudConfigKeys: []string{configKey},
		// CSIMigrationOpenStack is GA and locked to true in 1.24 and 1.25, and gone from 1.26 on:
		// https://github.com/kubernetes/kubernetes/blob/v1.24.17/pkg/features/kube_features.go#L922
		MigrationGates: nil,
		// The in-tree provider names load balancers after the Service's UID, the CCM new ones kube_service_CLUSTER_…; it
		// finds the old names, and the in-tree provider none of the new ones:
		// https://github.com/kubernetes/kubernetes/blob/v1.25.16/staging/src/k8s.io/legacy-cloud-providers/openstack/openstack_loadbalancer.go
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.25.6/pkg/openstack/loadbalancer.go
		SharesLoadBalancerNames: false,
	}
	if minor := migration.MinorOf(version); minor == 24 || minor == 25 {
		// 1.26 does not know CSIMigrationOpenStack, and 1.27 not CSIMigration; both are on by default before:
		// https://github.com/kubernetes/kubernetes/blob/v1.26.15/pkg/features/kube_features.go
		facts.RetiredGates = []string{"CSIMigration", "CSIMigrationOpenStack"}
		facts.MigratedPlugins = []string{"kubernetes.io/cinder"}
	}
	if _, _, err := find(version); err != nil {
		facts.VersionProblem = err.Error()
	}
	return facts
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
	release, minor, err := find(in.Version)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render openstack: %w", err)
	}
	if problem := p.CloudConfigProblem(in.CloudConfig); problem != "" {
		return manifest.Addons{}, errors.New("render openstack: its cloud configuration cannot be used: " + problem)
	}
	ccm, err := renderCCM(in, release)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render openstack: %w", err)
	}
	csi, err := renderCSI(in, release, minor)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("render openstack: %w", err)
	}
	return manifest.Addons{CCM: ccm, CSI: csi}, nil
}

func renderCCM(in manifest.RenderInput, release release) (manifest.Set, error) {
	inherited, err := manifest.InheritedArguments(in.Inherited)
	if err != nil {
		return manifest.Set{}, err
	}
	return render("ccm", "cloud-config", in.CloudConfig, release, func(_ string, pod *corev1.PodTemplateSpec) error {
		return manifest.AddArguments(pod, "openstack-cloud-controller-manager", inherited...)
	})
}

func renderCSI(in manifest.RenderInput, release release, minor int) (manifest.Set, error) {
	// A Secret of its own, so that each object is of one set.
	return render("csi", "openstack-cinder-csi-cloud-config", in.CloudConfig, release,
		func(workload string, pod *corev1.PodTemplateSpec) error {
			switch workload {
			case controllerPlugin:
				return controllerArguments(in, pod, minor)
			case nodePlugin:
				return nodeArguments(pod, minor)
			}
			return errors.New("the catalogue does not know what to change in it")
		})
}

func controllerArguments(in manifest.RenderInput, pod *corev1.PodTemplateSpec, minor int) error {
	// The value goes into the metadata of new volumes and is read by people only. The cluster name is mostly
	// "kubernetes", in every cluster of a project, so the UID stands there where there is one:
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/csi/cinder/controllerserver.go#L131
	cluster := in.ClusterUID
	if cluster == "" {
		cluster = in.Inherited.ClusterName
	}
	if err := manifest.AddArguments(pod, pluginContainer, "--cluster="+cluster); err != nil {
		return err
	}
	if minor < 26 {
		return nil
	}
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.26.4/manifests/cinder-csi-plugin/cinder-csi-controllerplugin.yaml
	return manifest.AddArguments(pod, "csi-attacher", "--default-fstype=ext4")
}

func nodeArguments(pod *corev1.PodTemplateSpec, minor int) error {
	if minor < 32 {
		return nil
	}
	// From 1.32 on the node service needs no client of the cloud, and every Node one login less:
	// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.32.1/manifests/cinder-csi-plugin/cinder-csi-nodeplugin.yaml
	return manifest.AddArguments(pod, pluginContainer, "--provide-controller-service=false")
}

func render(set, secretName string, cloudConfig map[string][]byte, release release, change manifest.ChangePod,
) (manifest.Set, error) {
	objects, err := manifest.Read(manifests, "manifests/"+set+".yaml")
	if err != nil {
		return manifest.Set{}, err
	}
	files := mounted(cloudConfig)
	err = manifest.ChangePods(objects, func(workload string, pod *corev1.PodTemplateSpec) error {
		manifest.SetChecksum(pod, files)
		if err := manifest.PinImages(pod, release.tags()); err != nil {
			return err
		}
		return change(workload, pod)
	})
	if err != nil {
		return manifest.Set{}, err
	}
	secret, err := manifest.Secret(namespace, secretName, files)
	if err != nil {
		return manifest.Set{}, err
	}
	return manifest.NewSet(Name+"-"+set, release.tag, slices.Insert(objects, 0, secret)), nil
}
