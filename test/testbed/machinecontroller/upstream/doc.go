// Package upstream has what the real machine-controller, its webhook and the real operating-system-manager need in a user
// cluster, and our stand-ins do not: objects that installers make. testdata/driver is the cloud driver that the
// script hack/machine-controller.sh builds them with.
//
// It imports the API types and its sibling packages. It starts nothing, talks to no API server, and never imports the product.
package upstream
