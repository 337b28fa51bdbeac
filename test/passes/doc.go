// Package passes makes the Clusters and the decisions that tests of what a pass reports begin with. It may import pkg/migration
// and test/conformance; it never computes a status.
package passes
