// Package vcsim holds the end-to-end tests with volumes of an in-tree plugin: kube-controller-manager as released, with vSphere
// in-tree, against the simulator of vCenter that govmomi has. In 1.25 CSI migration can be off, in 1.29 it can't. The build tag
// vcsim has them: make e2e-vcsim.
//
// The package itself is empty. Its specs may import test/testbed and what reads a user cluster, which is what they judge. There
// is no kubelet that mounts, and the CSI driver is played, because the simulator cannot do what the real one asks for.
package vcsim
