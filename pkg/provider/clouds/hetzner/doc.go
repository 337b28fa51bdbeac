// Package hetzner is the profile of Hetzner Cloud: cloud-controller-manager of
// https://github.com/hetznercloud/hcloud-cloud-controller-manager and CSI driver of
// https://github.com/hetznercloud/csi-driver for Kubernetes 1.24 to 1.36. The facts were read from their tags; the comments
// name the files.
//
// Hetzner was never a part of Kubernetes: clusters are created with this provider, adopted and upgraded, and there is nothing
// to migrate from, no gate, no plugin, and no file to translate. The keys of the Secret are those of the Secret hcloud that
// upstream's guides have one make, and three more.
//
// Left out on purpose:
//   - csi-snapshotter: the driver has no snapshots.
//   - The metrics of CCM and driver about their calls to the cloud. They are served without authentication, and on the Node's
//     network that is the Internet; those of the loops, on the CCM's own port, are authenticated.
//   - ENABLE_PROVIDED_BY_TOPOLOGY of the driver: it binds volumes to a label for good, and can never be switched off again
//     (https://github.com/hetznercloud/csi-driver/blob/v2.22.1/chart/values.yaml#L14-L21).
//   - The alpha gate CloudControllerManagerWatchBasedRoutesReconciliation: the period of the route loop is set instead.
//
// It imports pkg/observation, pkg/provider/manifest and releases, the API types and the Kubernetes API machinery's value types.
// It never imports a client, a context, a clock or a logger.
package hetzner
