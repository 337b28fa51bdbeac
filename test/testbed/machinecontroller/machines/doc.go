// Package machines holds the part of cluster.k8s.io/v1alpha1 that the
// machine-controller stand-in works with: Go types, well-known keys, defaults,
// the template hash, and the name of the bootstrap Secret.
//
// It imports apimachinery and core types only and never talks to an API server.
package machines
