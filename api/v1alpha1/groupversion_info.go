package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "usercluster.k8c.io"

// GroupVersion returns the group and version of the kinds in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(
		GroupVersion(), &Cluster{}, &ClusterList{}, &FleetMigration{}, &FleetMigrationList{}, &ProviderProfile{},
		&ProviderProfileList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
