// Package aws holds the test that shows the catalogue's CCM right with one that others wrote: the
// aws-cloud-controller-manager of its release, built from its Go module, runs with exactly what is rendered for it, against a
// real control plane and a stand-in for AWS.
//
// The package itself is empty. Its test may import everything; it needs the binaries of make binaries, and a network namespace, so
// that the CCM may have the port of its Node that it wants.
package aws
