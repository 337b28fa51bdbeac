// Package providerprofile reconciles ProviderProfile objects: it says in their status whether they are laid over the
// catalogue, and if not, why. Package cluster lays them over.
//
// It has the shape of every reconciler: observe, decide, report; there is nothing to act on. It may import everything
// below it; it never reads a Cluster, never reads a condition back, and sets conditions in providerprofile_status.go only.
package providerprofile
