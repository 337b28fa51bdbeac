// Cloud-controller-manager is the external cloud-controller-manager of the
// simulated cloud: the upstream library with its default controllers (service,
// route, cloud-node, cloud-node-lifecycle) and the provider. It adds no
// behavior, so --cloud-provider=simcloud is needed as with any other.
package main
