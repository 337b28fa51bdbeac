// Package machinecontroller names the three programs that stand in for the
// machine-controller of user clusters: the controller, its webhook and the
// operating-system-manager. Each is a Deployment of its own with its own flag,
// because that is where the real ones disagree.
//
// They do what the real ones do as far as a decision of ours can see it: the
// table of these facts, with the lines of the sources, is real_test.go, and each
// names the test that shows it, or why it is left out. The real ones take their
// places in make e2e-machine-controller: packages boot and upstream have what
// they need then. Where the stand-ins still differ:
//
//	                     stand-in                  real
//	answer of the cloud  kept as the testbed says  kept for 5 minutes
//	errors               retried within 2 s        with back-off, for minutes
//	bootstrap Secrets    replaced at once          away for a moment, about 0.3 s
//	Node without labels  gets its own              the real one panics
//
// It imports its sub-packages only, and nothing of the product.
package machinecontroller
