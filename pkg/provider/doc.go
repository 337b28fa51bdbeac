// Package provider is the catalogue: for every provider and Kubernetes minor which images, flags, objects and keys
// make up its cloud-controller-manager (CCM) and CSI driver, and what the migration has to know about its in-tree past.
// A profile (a sub-package for each provider) says what differs, as data; sub-package manifest builds the objects of all of
// them. docs/adding-a-provider.md walks through one.
//
// The rendered CCM is complete but for one thing: none of its rules lets its identity write Leases. FenceObjects are
// that missing piece, applied by themselves once kube-controller-manager is proven silent.
//
// It imports pkg/migration, the API types and the Kubernetes API machinery's value types. It never imports a client, a
// context, a clock or a logger, keeps no state, and never puts a value of a cloud configuration into a message.
package provider
