// Package managers recognizes a cloud-controller-manager, whoever made it, by what its pods say of themselves.
//
// It imports pkg/provider/manifest and the types of the Kubernetes API. It never imports a client, a context, a clock or a
// logger, and takes no pod's word for more than that: what a pod may do is seen elsewhere.
package managers
