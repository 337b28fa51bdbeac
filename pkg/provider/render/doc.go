// Package render makes what the controller applies beside a CCM, or in its place, out of what a provider rendered: the fence
// that keeps it from being elected, the probe that tries it, the migration lock, a CCM without the loop cloud-node, and one
// that is put beside the control plane.
//
// The rendered CCM is complete but for one thing: none of its rules lets its identity write Leases. FenceObjects are that
// missing piece, applied by themselves once kube-controller-manager is proven silent.
//
// It imports pkg/provider/manifest, pkg/handover and pkg/migration for the names that both sides of the hand-over know, and the
// Kubernetes API machinery's value types. It never imports a client, a context, a clock or a logger, knows no provider, and
// never changes the set that it is given.
package render
