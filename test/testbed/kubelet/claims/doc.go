// Package claims is how a kubelet of the testbed mounts the volumes of a Pod's claims, as a real one does: it waits for
// the claim's volume and for its VolumeAttachment, and has the CSI driver of the Node stage and publish it.
//
//	claim bound ─► VolumeAttachment attached ─► NodeStageVolume ─► NodePublishVolume ─► processes start
//	processes ended ─► NodeUnpublishVolume ─► NodeUnstageVolume ─► the Pod is removed, and the volume detached
//
// A driver is found by its socket in the Node's folder of plugins, where its pod mounts the Node's kubelet folder. Only
// volumes of CSI with one writer are mounted, each for one Pod at a time.
//
// It may import client-go, the specification of CSI and grpc. It never attaches anything, starts no process, and does
// not report which volumes are in use: its caller removes a Pod after the volumes are unmounted.
package claims
