// Package machinecontroller names the three programs that stand in for the
// machine-controller of user clusters: the controller, its webhook and the
// operating-system-manager. Each is a Deployment of its own with its own flag,
// because that is where the real ones disagree.
//
// It imports its sub-packages only, and nothing of the product.
package machinecontroller
