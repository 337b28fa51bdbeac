// Package machinecontroller is the adapter of the machine-controller and its operating-system-manager:
// MachineDeployments, MachineSets and Machines in cluster.k8s.io/v1alpha1, in the user cluster. Its CRDs have no
// schema, so the objects are read as they are.
//
// It may import pkg/migration, pkg/observation, pkg/usercluster/{machines,reads,watches}. It never touches the
// Deployments that the programs themselves run in (pkg/controlplane), and never keeps bootstrap data, which has
// credentials.
package machinecontroller
