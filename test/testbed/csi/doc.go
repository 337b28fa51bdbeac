// Package csi is the program csi-driver. In mode node it enters the driver in
// the CSINode of its Node; in both modes it answers health. With an endpoint it
// is simcloud's driver, whose services are in the room driver; without one it
// only stands in for it.
//
// It imports client-go, controller-runtime's client, its room, and the frame of
// the machine-controller stand-ins. ServeVolumes, which the testbed runs beside
// the stand-in, makes volumes and says that they are attached; where the driver
// and its sidecars run there is no ServeVolumes. It mounts nothing, and takes no
// entry out of a CSINode.
package csi
