// Package clusterapi is to be the adapter of Cluster API: MachineDeployments, MachineSets and Machines in
// cluster.x-k8s.io, beside the Cluster in the management cluster. It is not built yet, and says so in all that it is
// asked; no Cluster can choose it. It is compiled so that machines.API stays an interface that both fit into.
//
// What it has to do in another way than the machine-controller's, and what of the interface that rests on:
//
//   - Its client is of the management cluster. API takes no client, and its refs name objects of either cluster.
//   - A roll is a new bootstrap template, which the MachineDeployment names (spec.rollout.after would need the old one changed in
//     place): what an action carries as value of the roll is the name of the template, made once, as that of forceRestart is.
//   - A Machine says itself how its kubelet was started, by the configuration that was cloned for it. Bootstraps therefore has
//     nothing to read in a Secret, and Observe fills in what an annotation says for the machine-controller.
//   - A Machine and its Node are one by status.nodeRef and by spec.providerID, which both sides set and Observe has to compare.
//   - Availability rests on a readiness gate of the Node instead of an endless minReadySeconds: the same actions take it and
//     give it back.
//
// It may import pkg/migration, pkg/observation and pkg/usercluster/{machines,reads,watches}.
package clusterapi
