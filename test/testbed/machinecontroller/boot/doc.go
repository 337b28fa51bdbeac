// Package boot plays what an instance of the cloud does as a machine: it boots with its user data, fetches what starts its
// kubelet, and its kubelet registers a Node. The machine-controller's stand-in registers Nodes by itself, at the moment that
// it knows; with the real one, Machines runs beside it.
//
// It imports client-go's types, controller-runtime's client and its sibling packages. It never reads a Machine, as no
// machine does, never marks a Node Ready (the testbed's kubelet does), and never imports the product.
package boot
