package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutOrder says in which order MachineDeployments are rolled.
// +kubebuilder:validation:Enum=SmallestFirst;Alphabetical
type RolloutOrder string

const (
	// SmallestFirst rolls the MachineDeployment with the fewest replicas first: it is the cheapest canary.
	SmallestFirst RolloutOrder = "SmallestFirst"
	// Alphabetical rolls by namespace and name.
	Alphabetical RolloutOrder = "Alphabetical"
)

// RolloutSpec says how Machines are replaced.
type RolloutSpec struct {
	// maxConcurrent is how many MachineDeployments may be rolled at once, as a number or a percentage of all (rounded
	// down, at least one unless it is 0%). Default is 1. 0 allows none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^(100|[1-9]?[0-9])%$')",message="spec.rollout.maxConcurrent is a number from 0, or a percentage from 0% to 100% such as \"25%\""
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent,omitempty"`

	// order in which MachineDeployments are rolled; default is SmallestFirst.
	// +optional
	Order RolloutOrder `json:"order,omitempty"`

	// nodeDeadlineSeconds is how long a new Machine may take to become an initialized Node before the cluster is
	// Stalled with its name. Default is 1200.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	NodeDeadlineSeconds *int32 `json:"nodeDeadlineSeconds,omitempty"`

	// initializationDeadlineSeconds is how long a new Node may take, from its registration, to be initialized by the CCM before
	// the roll stands still and a person is called. Default is 180.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	InitializationDeadlineSeconds *int32 `json:"initializationDeadlineSeconds,omitempty"`

	// canary says what is proven before the Machines are replaced: Machine, one extra Machine with a workload, which is taken
	// away again; MachineDeployment, the first of them is rolled alone; or None. Default is Machine.
	// +optional
	Canary CanaryKind `json:"canary,omitempty"`

	// canaryImage of the canary's pod, which only has to run; default is registry.k8s.io/pause:3.10.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CanaryImage string `json:"canaryImage,omitempty"`

	// soakSeconds is how long the proof on the nodes has to stay stable before the migration counts as completed.
	// Default is 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	SoakSeconds *int32 `json:"soakSeconds,omitempty"`

	// acceptNodes names Nodes without a Machine that a person vouches for: they are not asked for proof.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AcceptNodes []string `json:"acceptNodes,omitempty"`

	// acceptChanges names Services, PersistentVolumes, Nodes and StorageClasses, as "Service namespace/name", "PersistentVolume
	// name", "Node name" or "StorageClass name", whose difference from the baseline a person looked at and accepts.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=600
	AcceptChanges []string `json:"acceptChanges,omitempty"`

	// acceptVolumes names PersistentVolumes that the CSI driver did not register and that a person looked at: Nodes are drained
	// without waiting for them. Only vSphere's driver has to register in-tree volumes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AcceptVolumes []string `json:"acceptVolumes,omitempty"`
}

// CanaryKind says what proves that new Machines become Nodes, before the others are replaced.
// +kubebuilder:validation:Enum=Machine;MachineDeployment;None
type CanaryKind string

const (
	// CanaryMachine makes one extra Machine, with a workload, and takes it away again.
	CanaryMachine CanaryKind = "Machine"
	// CanaryMachineDeployment rolls the first MachineDeployment alone.
	CanaryMachineDeployment CanaryKind = "MachineDeployment"
	// NoCanary rolls as many as the budget allows at once.
	NoCanary CanaryKind = "None"
)

const (
	// CanaryName is the name of the canary's objects.
	CanaryName = "ccm-migration-canary"
	// CanaryLabel is on the canary's objects, on its Machine and on its Node.
	CanaryLabel = "ccm-migration.k8c.io/canary"
	// CanaryNamespace has the canary's workload.
	CanaryNamespace = metav1.NamespaceSystem
	// DeleteMachineAnnotation has the machine-controller take a Machine first when it scales its MachineSet down.
	// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
	DeleteMachineAnnotation = "cluster.k8s.io/delete-machine"
)

// CanaryStatus is how far the canary is. It is written before the canary is made: no one could say later that there was one.
type CanaryStatus struct {
	// machineDeployment that the canary's is a copy of, as namespace/name.
	// +optional
	// +kubebuilder:validation:MaxLength=600
	MachineDeployment string `json:"machineDeployment,omitempty"`

	// attempt counts from 1.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// startedAt is when this attempt began: its deadline counts from then.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// failedAt is when its deadline passed. It is made again ten minutes later.
	// +optional
	FailedAt *metav1.Time `json:"failedAt,omitempty"`

	// provenAt is when it was proven; it is removed then.
	// +optional
	ProvenAt *metav1.Time `json:"provenAt,omitempty"`

	// withoutProof says which parts of the proof the cluster has nothing for, and why.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=512
	WithoutProof []string `json:"withoutProof,omitempty"`
}

// BreakerStatus is what the circuit breaker of the roll did.
type BreakerStatus struct {
	// guarded are the UIDs of the MachineDeployments whose minReadySeconds is ours: one that lost it to another owner is
	// rolled without proof, which is said.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=63
	Guarded []string `json:"guarded,omitempty"`

	// joining are the MachineDeployments with new Machines that have no Node yet. The machine-controller may delete such a
	// Machine and make another, which then has waited since the first one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Joining []JoiningMachineDeployment `json:"joining,omitempty"`
}

// JoiningMachineDeployment has new Machines that have no Node yet.
type JoiningMachineDeployment struct {
	// uid of the MachineDeployment.
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid"`

	// since is from when no new Machine of it has got a Node.
	Since metav1.Time `json:"since"`
}
