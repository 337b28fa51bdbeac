// Package gcp is the profile of Google Cloud: the cloud-controller-manager of
// https://github.com/kubernetes/cloud-provider-gcp and the Compute Engine persistent disk CSI driver of
// https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver for Kubernetes 1.26 to 1.36. Kubernetes itself
// calls the provider gce. The facts were read from the tags of both; the comments name the files.
//
// The source of the configuration is a Secret with two keys: gce.conf, as the in-tree provider reads it, and cloud-sa.json,
// the key file of a service account. The transformer turns the first into what the CCM and the driver need: they take their
// tokens from the key file, and never from a metadata server, because the pods may run on any Node.
//
// Left out on purpose:
//   - Node IPAM. It stays in kube-controller-manager: two allocators hand out the same CIDR twice
//     (https://github.com/kubernetes/kops/issues/14962).
//   - The GKE loops gkenetworkparamset, gke-service-lb-controller and gke-tenant-controller-manager, and the flags
//     --enable-… that go with them: they need GKE's CRDs.
//   - The driver's data cache, its multi-tenancy and its taint controller: an older release does not know their flags.
//   - The kubelets' credential provider auth-provider-gcp: it is a file on the Node, which the image of the Nodes brings.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API types
// and the Kubernetes API machinery's value types. It never imports a client, a context, a clock or a logger.
package gcp
