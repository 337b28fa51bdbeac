// Package apiserver runs the control plane of one Kubernetes cluster of the
// testbed: a public key infrastructure, etcd, kube-apiserver and, on request,
// kube-scheduler and a generic kube-controller-manager, all real, on loopback
// addresses and without anything that survives the testbed.
//
// The package may import client-go, test/testbed/process and test/testbed/audit. It creates no object
// in the cluster, runs no nodes and knows nothing of clouds; what it keeps on disk
// is worth nothing after the test, so etcd does not even sync it.
package apiserver
