// Package process starts and ends the child processes of the testbed.
//
// A child dies with the testbed whatever happens to it: it is started from one
// operating-system thread that lives as long as its Supervisor, with SIGKILL as
// its parent-death signal. A child may get a hostname and a file system view of
// its own; the testbed program re-executes itself for that as a shim (RunShim),
// because namespaces must be furnished from the inside, before the command runs.
//
// The package may import the standard library and golang.org/x/sys, and works on
// Linux only. It never writes on the host's file system except to log files that
// its caller names, and knows nothing of Kubernetes.
package process
