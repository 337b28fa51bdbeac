// Package story holds the end-to-end tests that tell the story of make demo by the same code (test/testbed/demo): four
// user clusters, of which one is migrated in full while its manager is killed. It also ends make testbed in several
// ways and looks for processes that stay behind.
//
// The package itself is empty. Its specs may import test/e2e/suite, test/testbed and the API types; they never import
// the code under test, and judge no absolute times, which depend on the machine: the bars of the demo are ratios of the lease.
package story
