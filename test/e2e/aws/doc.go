// Package aws holds the end-to-end tests that show the catalogue's CCM right with one that others wrote: the
// aws-cloud-controller-manager of its release, built from its Go module, runs with exactly what is rendered for it,
// against a real control plane and a stand-in for AWS.
//
// The package itself is empty. Its specs may import everything; they need the binaries of make binaries-test, and a network
// namespace, so that the CCM may have the port of its Node that it wants. They never run the manager.
package aws
