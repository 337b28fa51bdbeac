// Package openstack is the profile of OpenStack: cloud-controller-manager and Cinder CSI driver of
// https://github.com/kubernetes/cloud-provider-openstack for Kubernetes 1.24 to 1.36. The facts were read from its tags;
// the comments name the files.
//
// The Secret's key cloud.conf is the file of the in-tree provider as it is, or that of the external one. CCM and CSI driver get a
// file each, with the sections that they read and without the keys that only the in-tree provider knew.
//
// Left out on purpose: the driver's --pvc-annotations, which is off unless one asks for it and gives hints to Cinder's scheduler
// that the in-tree provider did not know; and patches of sidecars that are newer than those in the manifests of a tag.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API types
// and the Kubernetes API machinery's value types. It never imports a client, a context, a clock or a logger.
package openstack
