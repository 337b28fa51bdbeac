// Package driver is a CSI driver for simcloud: the identity, controller and node services of the specification, on a
// unix socket. A volume is one of the cloud, attached to one instance at a time, and a disk is a folder that the cloud
// moves between its instances.
//
//	CreateVolume            the cloud makes a volume with a folder of its own
//	ControllerPublishVolume the cloud moves the folder to an instance, and refuses a second one
//	NodeStageVolume         staging/disk becomes a symbolic link to the folder
//	NodePublishVolume       the target becomes a symbolic link to the folder
//
// Links stand for mounts, so that the driver needs no privilege, and its kubelet may be another process. So it has no
// block volumes, nothing read-only, no snapshots, and no volume that several Nodes write.
//
// It may import the specification of CSI, grpc, test/testbed/simcloud, and the configuration of the machine-controller's
// stand-in. It never talks to Kubernetes.
package driver
