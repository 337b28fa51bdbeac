// Package webhook is the machine-controller-webhook stand-in: it stamps every
// new Machine from its own flag, keeps Machine specs immutable, defaults
// MachineDeployments, asks the cloud about both as the real one does, and
// registers its own address in the user cluster.
//
// It imports controller-runtime's admission types and its sibling packages. It
// never writes a Machine by itself and never takes its registration away: a
// successor's must survive its end.
package webhook
