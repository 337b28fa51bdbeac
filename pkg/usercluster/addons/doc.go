// Package addons applies the CCM and the CSI driver to a user cluster, compares what is there with what is wanted, and
// deletes what is not wanted any more. An object that exists is ours only if the inventory has it, which is written
// before it is applied; what belongs beside the control plane goes into the namespace of the Cluster.
//
// It may import pkg/migration, pkg/provider/{manifest,render} and pkg/usercluster/{leases,reads,watches}. It never decides when
// an addon is applied, never renders one, never takes over what is someone else's unless it is told to, and shows no value of a
// Secret.
package addons
