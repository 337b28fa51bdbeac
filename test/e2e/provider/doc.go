// Package provider holds the end-to-end tests with the CCM in a checkout of its repository. For OpenStack they are a whole
// migration, with kube-controller-manager as released, which has the provider in-tree, and a stand-in for the cloud; for others,
// how the CCM starts with what is rendered for it, and initializes a Node where a stand-in plays what it asks for that.
//
// The package itself is empty. Its specs may import everything; they need the programs of hack/provider.sh, build tag
// realprovider, and a network namespace. The machine-controller and the CSI driver are the testbed's.
package provider
