// Package controller is the machine-controller stand-in: it rolls
// MachineDeployments into MachineSets, MachineSets into Machines, and Machines
// into simcloud instances and Nodes, with the real one's observable behaviour.
//
// It imports controller-runtime and its sibling packages. It never looks at a
// MachineDeployment's owner, never marks a Node Ready (the testbed's kubelet
// does), and never imports the product.
package controller
