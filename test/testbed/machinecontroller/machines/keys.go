package machines

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keys that the real machine-controller and operating-system-manager use.
const (
	// ExternalCloudProviderAnnotation is stamped on every new Machine by the
	// webhook, from the webhook's own flag.
	ExternalCloudProviderAnnotation = "v1.kubelet-flags.machine-controller.kubermatic.io/ExternalCloudProvider"
	// BypassSpecAnnotation lets one update change a Machine's spec.
	BypassSpecAnnotation = "kubermatic.io/bypass-no-spec-mutation-requirement"
	// InitializersAnnotation makes the machine-controller ignore a Machine.
	InitializersAnnotation = "machine-controller.kubermatic.io/initializers"
	// ControllerLabel must equal the machine-controller's -name.
	ControllerLabel = "machine.k8s.io/controller"

	// RevisionAnnotation numbers MachineSets; the MachineDeployment has the newest.
	RevisionAnnotation = "machinedeployment.clusters.k8s.io/revision"
	// RevisionHistoryAnnotation lists earlier numbers of a re-used MachineSet.
	RevisionHistoryAnnotation = "machinedeployment.clusters.k8s.io/revision-history"
	// DesiredReplicasAnnotation repeats the MachineDeployment's replicas.
	DesiredReplicasAnnotation = "machinedeployment.clusters.k8s.io/desired-replicas"
	// MaxReplicasAnnotation is desired replicas and surge together.
	MaxReplicasAnnotation = "machinedeployment.clusters.k8s.io/max-replicas"
	// TemplateHashLabel ties Machines to the MachineSet of one template.
	TemplateHashLabel = "machine-template-hash"

	// DeleteMachineAnnotation has a Machine deleted before others of its MachineSet.
	DeleteMachineAnnotation = "cluster.k8s.io/delete-machine"

	// InstanceFinalizer is removed once the instance is gone.
	InstanceFinalizer = "machine-delete-finalizer"
	// NodeFinalizer is removed once the Node is gone.
	NodeFinalizer = "machine-node-delete-finalizer"

	// NodeOwnerLabel carries the Machine's UID.
	NodeOwnerLabel = "machine-controller/owned-by"
	// NodeMachineAnnotation carries namespace/name of the Machine.
	NodeMachineAnnotation = "cluster.k8s.io/machine"
	// SkipEvictionAnnotation on a Node skips its drain.
	SkipEvictionAnnotation = "kubermatic.io/skip-eviction"
	// UninitializedTaint is removed by the external cloud-node loop.
	UninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

	// BootstrapNamespace holds what new machines boot with.
	BootstrapNamespace = "cloud-init-settings"
	// BootstrapRevisionAnnotation is the revision a bootstrap Secret was made for.
	BootstrapRevisionAnnotation = "k8c.io/machine-deployment-revision"
	// BootstrapHashAnnotation is a digest of all annotations of the
	// MachineDeployment.
	BootstrapHashAnnotation = "k8c.io/mdannotations-hash"
	// ConfigFinalizer keeps a MachineDeployment until the
	// operating-system-manager has deleted its bootstrap Secrets.
	ConfigFinalizer = "kubermatic.io/cleanup-operating-system-configs"
	// BootstrapOwnerAnnotation is the UID of the MachineDeployment, so that the
	// Secret of a deleted one never serves its namesake.
	BootstrapOwnerAnnotation = "k8c.io/machine-deployment-uid"
	// ConfigSecret is in the name of the bootstrap Secret that starts the kubelet.
	ConfigSecret = "provisioning"
	// FetchSecret is in the name of the one that only fetches that.
	FetchSecret = "bootstrap"
	// ProfileAnnotation names the OperatingSystemProfile.
	ProfileAnnotation = "k8c.io/operating-system-profile"
	// InTreeProfile is one without the condition that the flag is given on.
	InTreeProfile = "in-tree"
)

// BootstrapSecretName names a bootstrap Secret of a MachineDeployment.
func BootstrapSecretName(namespace, name, kind string) string {
	return name + "-" + namespace + "-" + kind + "-config"
}

// Revision reads the revision annotation; 0 means that there is none.
func Revision(object metav1.Object) int64 {
	revision, err := strconv.ParseInt(object.GetAnnotations()[RevisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
