// Package kubelet stands in for the kubelets of one cluster of the testbed.
//
// A container whose image names a program of the testbed becomes a local process
// with an address, a hostname and volumes of its own; every other container is
// only reported as running. Everything that the proof of silence rests on is as a
// real kubelet does it: a terminating Pod is removed only after its processes
// ended and their exit codes were reported, a restarted container has a new ID,
// and a live node renews its Lease. What claims of a Pod with a process stand for is
// mounted and unmounted by the CSI driver of its Node.
//
// The package may import client-go, test/testbed/process and its room claims. It
// creates no Nodes, never touches the host's file system outside its run directory,
// re-adopts no process after a restart, and serves neither logs nor exec.
package kubelet
