// Package csi is the stand-in of simcloud's CSI driver. In mode node it enters
// the driver in the CSINode of its Node; in both modes it answers health.
//
// It imports client-go, controller-runtime's client and the frame of the
// machine-controller stand-ins. ServeVolumes, which the testbed runs beside it,
// makes volumes and says that they are attached. It mounts nothing, and takes no
// entry out of a CSINode.
package csi
