package machines

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GroupVersion returns cluster.k8s.io/v1alpha1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: "cluster.k8s.io", Version: "v1alpha1"}
}

// AddToScheme registers the three kinds and their lists.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(),
		&MachineDeployment{}, &MachineDeploymentList{},
		&MachineSet{}, &MachineSetList{},
		&Machine{}, &MachineList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}

// MachineSpec is the wanted machine. Its metadata is what the Node inherits.
type MachineSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Taints       []corev1.Taint        `json:"taints,omitempty"`
	ProviderSpec ProviderSpec          `json:"providerSpec,omitzero"`
	Versions     Versions              `json:"versions,omitzero"`
	ConfigSource *runtime.RawExtension `json:"configSource,omitempty"`
	ProviderID   *string               `json:"providerID,omitempty"`
}

// ProviderSpec carries what the cloud needs; the stand-in never looks inside.
type ProviderSpec struct {
	Value *runtime.RawExtension `json:"value,omitempty"`
}

// Versions holds the kubelet version.
type Versions struct {
	Kubelet string `json:"kubelet,omitempty"`
}

// MachineStatus is written to the main resource: Machine has no status subresource.
type MachineStatus struct {
	NodeRef      *corev1.ObjectReference `json:"nodeRef,omitempty"`
	LastUpdated  *metav1.Time            `json:"lastUpdated,omitempty"`
	ErrorReason  *string                 `json:"errorReason,omitempty"`
	ErrorMessage *string                 `json:"errorMessage,omitempty"`
	Addresses    []corev1.NodeAddress    `json:"addresses,omitempty"`
	Conditions   []corev1.NodeCondition  `json:"conditions,omitempty"`
	Phase        string                  `json:"phase,omitempty"`
	// InstanceCreatedAt starts the boot delay; the real machine-controller
	// has no such field.
	InstanceCreatedAt *metav1.MicroTime `json:"instanceCreatedAt,omitempty"`
}

// Machine is one instance and its Node.
type Machine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MachineSpec   `json:"spec,omitzero"`
	Status MachineStatus `json:"status,omitzero"`
}

// MachineList is a list of Machines.
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Machine `json:"items"`
}

// MachineTemplateSpec is what a new Machine is made from.
type MachineTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec MachineSpec `json:"spec,omitzero"`
}

// MachineSetSpec is the wanted number of equal Machines.
type MachineSetSpec struct {
	Replicas        *int32               `json:"replicas,omitempty"`
	MinReadySeconds int32                `json:"minReadySeconds,omitempty"`
	Selector        metav1.LabelSelector `json:"selector"`
	Template        MachineTemplateSpec  `json:"template,omitzero"`
}

// MachineSetStatus counts Machines that are not being deleted.
type MachineSetStatus struct {
	Replicas             int32 `json:"replicas"`
	FullyLabeledReplicas int32 `json:"fullyLabeledReplicas,omitempty"`
	ReadyReplicas        int32 `json:"readyReplicas,omitempty"`
	AvailableReplicas    int32 `json:"availableReplicas,omitempty"`
	ObservedGeneration   int64 `json:"observedGeneration,omitempty"`
}

// MachineSet keeps a number of equal Machines alive.
type MachineSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MachineSetSpec   `json:"spec,omitzero"`
	Status MachineSetStatus `json:"status,omitzero"`
}

// MachineSetList is a list of MachineSets.
type MachineSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []MachineSet `json:"items"`
}

// RollingUpdate bounds a rollout.
type RollingUpdate struct {
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	MaxSurge       *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// Strategy says how old Machines are replaced; only RollingUpdate exists.
type Strategy struct {
	Type          string         `json:"type,omitempty"`
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// MachineDeploymentSpec is the wanted set of Machines and how to get there.
type MachineDeploymentSpec struct {
	Replicas                *int32               `json:"replicas,omitempty"`
	Selector                metav1.LabelSelector `json:"selector"`
	Template                MachineTemplateSpec  `json:"template"`
	Strategy                *Strategy            `json:"strategy,omitempty"`
	MinReadySeconds         *int32               `json:"minReadySeconds,omitempty"`
	RevisionHistoryLimit    *int32               `json:"revisionHistoryLimit,omitempty"`
	Paused                  bool                 `json:"paused,omitempty"`
	ProgressDeadlineSeconds *int32               `json:"progressDeadlineSeconds,omitempty"`
}

// MachineDeploymentStatus leaves zero values out, as the real one does.
type MachineDeploymentStatus struct {
	ObservedGeneration  int64 `json:"observedGeneration,omitempty"`
	Replicas            int32 `json:"replicas,omitempty"`
	UpdatedReplicas     int32 `json:"updatedReplicas,omitempty"`
	ReadyReplicas       int32 `json:"readyReplicas,omitempty"`
	AvailableReplicas   int32 `json:"availableReplicas,omitempty"`
	UnavailableReplicas int32 `json:"unavailableReplicas,omitempty"`
}

// MachineDeployment rolls Machines from one template to the next.
type MachineDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MachineDeploymentSpec   `json:"spec,omitzero"`
	Status MachineDeploymentStatus `json:"status,omitzero"`
}

// MachineDeploymentList is a list of MachineDeployments.
type MachineDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []MachineDeployment `json:"items"`
}
