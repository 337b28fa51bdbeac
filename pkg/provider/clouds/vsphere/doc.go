// Package vsphere is the profile of vSphere: the cloud-controller-manager of
// https://github.com/kubernetes/cloud-provider-vsphere and the CSI driver of
// https://github.com/kubernetes-sigs/vsphere-csi-driver for Kubernetes 1.28 to 1.36. The facts were read from their tags; the
// comments name the files.
//
// The Secret's key vsphere.conf is the file of the in-tree provider as it is, or the YAML of the external one. Of either is made
// what the two components read: YAML without credentials and a Secret of files with them for the cloud-controller-manager, and
// an INI file with them, in a Secret of its own, for the CSI driver.
//
// Left out on purpose:
//   - Kubernetes 1.24 to 1.27. The images of their cloud-controller-managers were deleted.
//   - NSX: load balancers, load balancer classes and routes. The in-tree provider had none of them, and one that is started with
//     them deletes, before any of its loops runs, what Services it does not see.
//   - The validating webhook of the CSI driver. All that it does for a migration is to refuse some parameters of StorageClasses,
//     and while its pod is away or its certificate has run out it blocks all changes of StorageClasses and claims.
//   - Nodes with Windows.
//   - Rules for Secrets: the credentials are mounted instead.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API
// types, the Kubernetes API machinery's value types and sigs.k8s.io/yaml. It never imports a client, a context, a clock or a
// logger.
package vsphere
