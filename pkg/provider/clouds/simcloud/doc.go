// Package simcloud is the profile of the simulated cloud of the testbed. Its images are programs that the testbed's
// process kubelet runs.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API types
// and the Kubernetes API machinery's value types. It never imports a client, a context, a clock or a logger.
package simcloud
