// Package azure is the profile of Azure: cloud-controller-manager and cloud-node-manager of
// https://github.com/kubernetes-sigs/cloud-provider-azure, and the CSI drivers of Azure Disk and Azure File, for Kubernetes
// 1.24 to 1.36. The facts were read from their tags; the comments name the files.
//
// Three things are special:
//   - Initializing Nodes is not the CCM's work but that of the cloud-node-manager, a DaemonSet without leader election that
//     no fence can hold. It is in a set of its own, which is applied once the CCM has led. The CCM's own loop
//     cloud-node is off, and so is its loop node-ipam, which stays in kube-controller-manager.
//   - The in-tree provider and the CCM take different values for what a configuration does not say, so the configuration
//     that is rendered says it.
//   - There are two CSI drivers, because there were two in-tree plugins, kubernetes.io/azure-disk and kubernetes.io/azure-file.
//
// Left out on purpose:
//   - Workload identity and the identity files of Azure's own services: kube-controller-manager knew neither, and both need
//     more than a Secret. Such a configuration is refused by name, and so are Azure Stack and the preview of Service Gateway.
//   - Windows Nodes: cloud-node-manager and node plugins are other images there.
//   - What the node plugin of Azure File installs into the Node's own /usr and /etc (azurefile-proxy), its renewal of Kerberos
//     tickets and its mounts for Kata containers: all off by default, and none is for what the in-tree plugin could do.
//   - Token requests of the CSIDriver of Azure File, which only mounts by workload identity need. They may be added later.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API
// types, the Kubernetes API machinery's value types and sigs.k8s.io/yaml, which only turns bytes into values. It never imports
// a client, a context, a clock or a logger.
package azure
