// Package simcloud is the profile of the simulated cloud of the testbed. Its images are programs that the testbed's
// process kubelet runs.
//
// It imports pkg/observation, the API types and the Kubernetes API machinery's value types. It never imports a client, a
// context, a clock or a logger.
package simcloud
