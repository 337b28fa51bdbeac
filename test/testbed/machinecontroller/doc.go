// Package machinecontroller names the three programs that stand in for the
// machine-controller of user clusters: the controller, its webhook and the
// operating-system-manager. Each is a Deployment of its own with its own flag,
// because that is where the real ones disagree.
//
// The real ones take their places in make e2e-machine-controller: packages boot
// and upstream have what they need then. Where the stand-ins still differ, on
// purpose or for want of a test that needs it:
//
//	                     stand-in                  real
//	answer of the cloud  asked at every write      kept for 5 minutes, refusals, too
//	next leader          at once: it gives the     15 to 30 s after the last one
//	                     Lease back                ended, although rolled out
//	next Node            looked for every second   woken by Nodes, else after 30 s
//	bootstrap Secrets    replaced at once          away for a moment, about 0.3 s
//	drain                looks again after 2 s     after 10 s
//	instance             deleted at once           looked for again after 10 s
//	Machine.providerID   the cloud's               kubermatic://..., or none
//	minReadySeconds      exact                     looked at once, else after 5 minutes
//	Node's metadata      when it registers         when it is Ready
//
// It imports its sub-packages only, and nothing of the product.
package machinecontroller
