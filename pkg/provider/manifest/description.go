package manifest

import "github.com/ccm-migration/ccm-migration-controller/pkg/observation"

// Description is what people need to know of a provider, and what checks judge by. It does not depend on a cluster.
type Description struct {
	// Title is the provider's name for people.
	Title string
	// Projects are the sources of its CCM and its CSI driver, as links.
	Projects []string
	// InTree is nil for a provider that was never a part of Kubernetes.
	InTree *InTree
	// ProviderID is a regular expression that the providerIDs of its Nodes match.
	ProviderID string
	// NodeNames is a sentence: how the CCM finds the instance of a Node that has no providerID yet.
	NodeNames string
	// LoadBalancers is a sentence: how they are named, and which of the in-tree provider the CCM goes on with.
	LoadBalancers string
	// Routes is a sentence: what the route loop needs and which routes it deletes; empty where there is none.
	Routes string
	// Keys of the Secret with the cloud configuration.
	Keys []Key
	// Hazards are what goes wrong with this provider, and what we do about it.
	Hazards []Hazard
	// Broken are releases of its images that no one may take in place of the catalogue's.
	Broken []BrokenRelease
	// Rules are its version rules.
	Rules []VersionRule
}

// Release is what the catalogue has for a version of Kubernetes.
type Release struct {
	CCM string `json:"ccm"`
	CSI string `json:"csi"`
}

// InTree is what a provider was while it was a part of Kubernetes.
type InTree struct {
	// Name is the value of --cloud-provider.
	Name string
	// LastMinor whose kube-controller-manager has it.
	LastMinor int
	// Plugins are its volume plugins, which are provisioners of StorageClasses too, with the CSI driver that serves them now.
	Plugins map[string]string
	// Registries of the cloud that kubelets have a plugin for in-tree, too.
	Registries observation.Registries
}

// Key of the Secret with the cloud configuration, or of the file in one, written like "gce.conf: project-id". The first one is
// the main file.
type Key struct {
	Name     string
	Required bool
	// Text says what stands there.
	Text string
}

// Hazard is something that goes wrong.
type Hazard struct {
	// Text says what happens, and what to do.
	Text string
	// Link to the upstream fact.
	Link string
}

// VolumeHazards are those of the volumes of all in-tree plugins. Nothing of them is changed: read from Kubernetes 1.24 to 1.36,
// and from the csi-provisioner, since v3.1, and the csi-attacher that the catalogue has.
func VolumeHazards(plugins string) []Hazard {
	const controller = "https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/volume/persistentvolume/"
	return []Hazard{
		{
			Text: "PersistentVolumes of " + plugins +
				" keep pv.kubernetes.io/provisioned-by as it is. Because of it kube-controller-manager adds pv.kubernetes.io/migrated-to, " +
				"by which csi-provisioner deletes them and csi-attacher keeps its finalizer. Do not overwrite it: kube-controller-manager " +
				"would take the other one away again.",
			Link: controller + "pv_controller_base.go",
		},
		{
			Text: "A PersistentVolume of " + plugins +
				" that was made by hand has neither of the two. With reclaim policy Delete it becomes Failed when its claim goes, and its " +
				"disk stays: set the policy to Retain, and delete such disks yourself.",
			Link: controller + "pv_controller.go",
		},
	}
}
