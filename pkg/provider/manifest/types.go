package manifest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Labels that every object of the catalogue carries.
const (
	// ManagedByLabel says who applies an object.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// ManagedBy is its value.
	ManagedBy = "ccm-migration-controller"
	// PartOfLabel says which set an object is of.
	PartOfLabel = "app.kubernetes.io/part-of"
	// ClusterLabel is on the objects that are put beside the control plane, in the management cluster, and says of which
	// Cluster they are.
	ClusterLabel = "ccm-migration.k8c.io/cluster"
)

// BesideControlPlane says whether an object belongs into the management cluster.
func BesideControlPlane(object *unstructured.Unstructured) bool {
	return object.GetLabels()[ClusterLabel] != ""
}

// RenderInput is what the objects of a cluster depend on.
type RenderInput struct {
	// Version of Kubernetes, such as 1.25.16 or v1.25.16.
	Version string
	// Inherited is what the CCM takes over from KCM.
	Inherited ucv1.InheritedConfiguration
	// CloudConfig is the data of the Secret with the cloud configuration.
	CloudConfig map[string][]byte
	// ClusterUID tells the volumes of clusters apart that have the same name.
	ClusterUID string
}

// Addons are the sets of objects of a cluster.
type Addons struct {
	CCM Set
	CSI Set
	// Probe is made from the CCM.
	Probe Set
	// Nodes are agents on the Nodes that belong to the CCM and that no fence can hold: they are applied when it has led. Most
	// providers have none.
	Nodes Set
}

// WithNodes are the CCM's objects and those of its agents.
func (a Addons) WithNodes() Set {
	joined := a.CCM
	joined.Objects = slices.Concat(a.CCM.Objects, a.Nodes.Objects)
	joined.Workloads = slices.Concat(a.CCM.Workloads, a.Nodes.Workloads)
	return joined
}

// Set is one of the two sets of objects.
type Set struct {
	// Version of the set, for people.
	Version string
	// Objects in the order they are to be applied in.
	Objects []*unstructured.Unstructured
	// Workloads are the Deployments and DaemonSets among them, whose readiness counts.
	Workloads []observation.Ref
	// Driver is the name of the CSIDriver; empty in the CCM's set.
	Driver string
	// WorkloadWithheld keeps the workloads from being applied: they are looked at, and not wanted yet, or any more.
	WorkloadWithheld bool
	// Withdrawn wants nothing any more but what is never deleted.
	Withdrawn bool
	// MoreDrivers are the names of further CSIDrivers, of a provider that has several.
	MoreDrivers []string
	// Access is how a CCM beside the control plane gets into the user cluster; nil for all other sets.
	Access *Access
}

// Access is a ServiceAccount of the user cluster, and the Secret beside the control plane that a token of it is put into.
type Access struct {
	Account observation.Ref
	Secret  observation.Ref
	// Key of the token in the Secret.
	Key string
}

// Wanted are the objects that are to be there.
func (s Set) Wanted() []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(s.Objects), func(object *unstructured.Unstructured) bool {
		return s.Withholds(object.GetKind()) || (s.Withdrawn && !Lasting(object.GetKind()) && !Shared(object))
	})
}

// Lasting kinds are never deleted: others may hang on to such an object.
func Lasting(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "Namespace", "StorageClass", "VolumeSnapshotClass", "CSIDriver":
		return true
	}
	return false
}

// Withholds says whether objects of that kind are not to be there yet.
func (s Set) Withholds(kind string) bool { return s.WorkloadWithheld && IsWorkload(kind) }

// IsWorkload says whether objects of that kind run pods.
func IsWorkload(kind string) bool { return kind == "Deployment" || kind == "DaemonSet" }

// Identity is who the CCM is, and the Lease it is elected by: what the fence must cover.
type Identity struct {
	ServiceAccountNamespace string
	ServiceAccountName      string
	LeaseNamespace          string
	LeaseName               string
	// WorkLease is a further Lease beside it, which it writes while it leads; empty: none.
	WorkLease string
}

// NewSet makes a set of typed objects.
func NewSet(partOf, version string, typed []Object) (Set, error) {
	objects := make([]*unstructured.Unstructured, 0, len(typed))
	for _, object := range typed {
		made, err := untyped(object)
		if err != nil {
			return Set{}, fmt.Errorf("render %s: %w", partOf, err)
		}
		objects = append(objects, made)
	}
	return SetOf(partOf, version, objects), nil
}

// SetOf labels the objects and finds its workloads and its driver among them.
func SetOf(partOf, version string, objects []*unstructured.Unstructured) Set {
	set := Set{Version: version, Objects: objects}
	for _, object := range objects {
		labels := map[string]string{ManagedByLabel: ManagedBy, PartOfLabel: partOf}
		if cluster := object.GetLabels()[ClusterLabel]; cluster != "" {
			labels[ClusterLabel] = cluster
		}
		object.SetLabels(labels)
		switch kind := object.GetKind(); {
		case IsWorkload(kind):
			set.Workloads = append(set.Workloads, observation.Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()})
		case kind == "CSIDriver" && set.Driver == "":
			set.Driver = object.GetName()
		case kind == "CSIDriver":
			set.MoreDrivers = append(set.MoreDrivers, object.GetName())
		}
	}
	return set
}
