// Package simcloud is the cloud provider of the testbed's simulated cloud: a
// client of its HTTP API that satisfies the interface of k8s.io/cloud-provider.
// The same code is the in-tree provider of kube-controller-manager and the
// external provider of cloud-controller-manager, so that both name and find
// the same load balancers.
//
// It may import k8s.io/cloud-provider, api, apimachinery and klog. It never
// keeps state of its own: what exists is what the simulated cloud says.
package simcloud
