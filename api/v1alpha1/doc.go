// Package v1alpha1 holds the API types of group usercluster.k8c.io: the Cluster kind, its condition types and its
// reasons. It may import apimachinery only, so that others can depend on the types alone. It never holds behaviour:
// deciding is done in pkg/migration, setting conditions in controllers/cluster/status.
//
// +kubebuilder:object:generate=true
// +groupName=usercluster.k8c.io
package v1alpha1
