// Package crds embeds the CustomResourceDefinitions of the machine-controller
// stand-in: cluster.k8s.io/v1alpha1 MachineDeployment, MachineSet and Machine.
//
// They are as loose as the real ones: no schema, and Machine has no status
// subresource. It imports the apiextensions types and a client, and never
// anything of the product.
package crds
