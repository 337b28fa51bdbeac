package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudNodeStatus is how far the CCM's loop cloud-node is, for a provider whose CCM starts without it.
type CloudNodeStatus struct {
	// enabledAt is when the loop was switched on.
	// +optional
	EnabledAt *metav1.Time `json:"enabledAt,omitempty"`

	// ledBy is the process that led then, without the loop: another one has to lead.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LedBy string `json:"ledBy,omitempty"`

	// comparedUntil is until when the addresses of Nodes have to stay as they are in the baseline, while a CCM with the loop
	// leads. It is forgotten when none does.
	// +optional
	ComparedUntil *metav1.Time `json:"comparedUntil,omitempty"`

	// conflict says which addresses the loop changed; it was switched off again.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Conflict string `json:"conflict,omitempty"`

	// conflictObjects are the Nodes that conflict names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	ConflictObjects []ObjectName `json:"conflictObjects,omitempty"`

	// judged is what the conflict rests on, the Cluster's generation and the version of the Secret with the cloud configuration:
	// the loop is tried again when one of them is another one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Judged string `json:"judged,omitempty"`
}
