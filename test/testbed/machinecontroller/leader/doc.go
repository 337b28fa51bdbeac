// Package leader makes the controller-runtime manager of the stand-ins: elected
// through a Lease in the user cluster, healthy over HTTP, reading live.
//
// It imports controller-runtime and the flag package; it knows no controller.
package leader
