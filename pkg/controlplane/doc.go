// Package controlplane reads and changes the Deployments that a user cluster's control plane runs as: kube-controller-
// manager, kube-apiserver, kube-scheduler and the machine-controller's; and it reads, and never changes, those that run
// as static pods in the user cluster. It reports what runs, with which arguments, on which nodes, and what was seen to
// end; and it renders and applies changes of arguments. A command line in a form that it does not understand is reported
// with the argument's name; nothing is ever guessed.
//
// It may import controller-runtime's client, pkg/migration and the API types. It never decides: whether what it saw
// proves anything about the cloud loops, and what is to be changed, is said in pkg/migration. Values of arguments may be
// secrets, so they never stand in a message.
package controlplane
