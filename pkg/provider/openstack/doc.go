// Package openstack is the profile of OpenStack: cloud-controller-manager and Cinder CSI driver of
// https://github.com/kubernetes/cloud-provider-openstack for Kubernetes 1.24 to 1.36. The facts were read from its tags;
// the comments name the files.
//
// The Secret's key cloud.conf is the file of the in-tree provider as it is, or that of the external one. CCM and CSI driver get a
// file each, with the sections that they read and without the keys that only the in-tree provider knew.
//
// Left out on purpose:
//   - csi-snapshotter. The in-tree Cinder plugin knew no snapshots, so a migration loses none, and the sidecar is of no
//     use without the snapshot CRDs and the snapshot-controller. All CSI drivers of a cluster share those: they belong to
//     the cluster's owner, and may never be pruned by a controller of one driver.
//   - A default StorageClass. StorageClasses of kubernetes.io/cinder go on working: the control plane translates them to
//     this driver (https://kubernetes.io/docs/concepts/storage/volumes/#csi-migration). A second default would silently
//     change what PersistentVolumeClaims get, so openstack-cinder-csi is there to be chosen, and no existing class is
//     touched.
//
// It imports pkg/migration, the API types and the Kubernetes API machinery's value types. It never imports a client, a
// context, a clock or a logger.
package openstack
