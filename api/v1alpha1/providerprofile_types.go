package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderProfileSpec says what of the built-in catalogue is different here, for one provider.
type ProviderProfileSpec struct {
	// providerName is a provider of the catalogue, such as openstack. Immutable. The profile is used when its own name is
	// the same.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ProviderName string `json:"providerName,omitempty"`

	// mirrors say where images are pulled from. Of several that fit an image, the one with the longest source is taken.
	// +optional
	// +listType=map
	// +listMapKey=source
	// +kubebuilder:validation:MaxItems=32
	Mirrors []ImageMirror `json:"mirrors,omitempty"`

	// images name other versions of images, and pin them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Images []ImageOverride `json:"images,omitempty"`

	// workloads change Deployments and DaemonSets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Workloads []WorkloadOverride `json:"workloads,omitempty"`
}

// ImageMirror is where images are pulled from.
type ImageMirror struct {
	// source is the beginning of the names of images, up to a slash or to their end, such as registry.k8s.io or
	// registry.k8s.io/sig-storage.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*$`
	Source string `json:"source,omitempty"`

	// mirror takes its place, such as mirror.example.com/k8s.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*$`
	Mirror string `json:"mirror,omitempty"`
}

// ImageOverride names another version of an image, and pins it.
type ImageOverride struct {
	// image is its name in the catalogue, without a tag, such as registry.k8s.io/sig-storage/csi-attacher; mirrors apply
	// to it afterwards.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Image string `json:"image,omitempty"`

	// kubernetes is a minor such as 1.30; the entry is for clusters of that minor only, and for them takes the place of an
	// entry without one.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:Pattern=`^1\.[0-9]{1,3}$`
	Kubernetes string `json:"kubernetes,omitempty"`

	// tag takes the place of the catalogue's. The objects stay those of the catalogue's version.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`
	Tag string `json:"tag,omitempty"`

	// digest pins the image: name:tag@digest. It is that of the tag, which container runtimes ignore beside it; so the two
	// go together, and a newer catalogue cannot leave the one behind the other.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}

// WorkloadOverride changes a Deployment or DaemonSet. Arguments and resources are for its last container, which is the
// cloud-controller-manager itself, or the CSI driver's plugin behind its sidecars.
type WorkloadOverride struct {
	// name of a Deployment or DaemonSet of the catalogue, such as openstack-cloud-controller-manager.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// extraArguments are added to those of the catalogue, each like --name=value. A flag that the catalogue or the
	// controller sets is refused.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^--[a-zA-Z0-9][a-zA-Z0-9._-]*=`
	ExtraArguments []string `json:"extraArguments,omitempty"`

	// resources take the place of the catalogue's, all of them.
	// +optional
	Resources *ContainerResources `json:"resources,omitempty"`

	// tolerations are added to those of the catalogue.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// priorityClassName takes the place of the catalogue's. The PriorityClass has to be in the user clusters.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// ContainerResources are what a container asks for, and what it may use.
type ContainerResources struct {
	// requests are what it asks for.
	// +optional
	Requests ResourceAmounts `json:"requests,omitempty,omitzero"`

	// limits are what it may use; none is less than its request.
	// +optional
	Limits ResourceAmounts `json:"limits,omitempty,omitzero"`
}

// ResourceAmounts are amounts of what a Node has.
type ResourceAmounts struct {
	// cpu such as 100m.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory such as 64Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// ephemeralStorage such as 1Gi.
	// +optional
	EphemeralStorage *resource.Quantity `json:"ephemeralStorage,omitempty"`
}

// TolerationOperator says how a toleration compares with a taint.
// +kubebuilder:validation:Enum=Exists;Equal
type TolerationOperator string

// The operators.
const (
	TolerationExists TolerationOperator = "Exists"
	TolerationEqual  TolerationOperator = "Equal"
)

// TaintEffect is what a taint does.
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// NoExecute is the effect of taints that end pods, too.
const NoExecute TaintEffect = "NoExecute"

// Toleration is one of a pod, as in the API of Kubernetes.
// +kubebuilder:validation:XValidation:rule="(has(self.key) && size(self.key) > 0) || (has(self.operator) && self.operator == 'Exists')",message="a toleration without a key tolerates every taint: say so with operator Exists"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator != 'Exists' || !has(self.value) || size(self.value) == 0",message="a toleration with operator Exists has no value"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",message="tolerationSeconds is for effect NoExecute"
type Toleration struct {
	// key of the taint; empty with operator Exists means every taint.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key,omitempty"`

	// operator is Equal (default) or Exists.
	// +optional
	Operator TolerationOperator `json:"operator,omitempty"`

	// value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`

	// effect of the taint; empty means every one.
	// +optional
	Effect TaintEffect `json:"effect,omitempty"`

	// tolerationSeconds is how long a taint that ends pods is tolerated; unset means for ever.
	// +optional
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// Reasons of the conditions of a ProviderProfile, which are Ready and, when a person must act, Stalled.
const (
	// ProfileAppliedReason surfaces on Ready when the profile is laid over the catalogue for all Clusters of its provider.
	ProfileAppliedReason = "Applied"
	// ProfileInvalidReason surfaces when something in the profile cannot be used; then nothing of it is.
	ProfileInvalidReason = "Invalid"
	// ProfileNotUsedReason surfaces when the profile does not have the name of its provider.
	ProfileNotUsedReason = "NotUsed"
)

// ProviderProfileStatus says what became of a profile.
type ProviderProfileStatus struct {
	// observedGeneration is the generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ProviderProfile is laid over what the built-in catalogue has for a provider: mirrors, versions and digests of images,
// arguments, resources, tolerations and priority classes. One for each provider is used: that with the provider's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Provider",type="string",JSONPath=`.spec.providerName`
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="self.spec.providerName == oldSelf.spec.providerName",message="spec.providerName is immutable"
type ProviderProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is different.
	// +required
	Spec ProviderProfileSpec `json:"spec,omitzero"`

	// status says what became of it.
	// +optional
	Status ProviderProfileStatus `json:"status,omitempty,omitzero"`
}

// ProviderProfileList is a list of ProviderProfiles.
//
// +kubebuilder:object:root=true
type ProviderProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items of the list.
	Items []ProviderProfile `json:"items"`
}

// Used says whether the profile has the name of its provider, which one profile can have.
func (p *ProviderProfile) Used() bool { return p.Name == p.Spec.ProviderName }
