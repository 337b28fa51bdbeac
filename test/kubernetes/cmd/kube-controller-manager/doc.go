// Kube-controller-manager is the upstream kube-controller-manager with the
// simulated cloud as one of its in-tree providers. It imports the upstream
// command and the provider, and adds no behavior.
package main
