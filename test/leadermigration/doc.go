// Package leadermigration holds the tests that show pkg/leadermigration right with the real thing: kube-controller-manager
// and cloud-controller-manager 1.30 of the testbed load what we render, and their metrics and Leases say what runs under
// which lock. The package itself is empty. Its tests may import everything; they need the binaries of make binaries-test.
package leadermigration
