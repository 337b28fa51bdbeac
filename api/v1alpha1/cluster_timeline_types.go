package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TimelineKind says what an entry of the timeline is about.
// +kubebuilder:validation:Enum=Step;Action;Failure;Halt;Resume;Acceptance
type TimelineKind string

const (
	// TimelineStep is a change of the current step.
	TimelineStep TimelineKind = "Step"
	// TimelineAction is a change that the controller made.
	TimelineAction TimelineKind = "Action"
	// TimelineFailure is the moment from which a person must act, or must do something else than before.
	TimelineFailure TimelineKind = "Failure"
	// TimelineHalt is the moment from which the controller changes nothing because a person said so.
	TimelineHalt TimelineKind = "Halt"
	// TimelineResume is the end of a failure or a halt.
	TimelineResume TimelineKind = "Resume"
	// TimelineAcceptance is a person vouching for something in the spec, or taking that back.
	TimelineAcceptance TimelineKind = "Acceptance"
)

// TimelineEntry is one thing that happened.
type TimelineEntry struct {
	// time it happened.
	// +required
	Time metav1.Time `json:"time,omitzero"`

	// kind of the entry.
	// +required
	Kind TimelineKind `json:"kind,omitempty"`

	// step that was current.
	// +optional
	Step Step `json:"step,omitempty"`

	// action that was done.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Action string `json:"action,omitempty"`

	// reason of a failure, or of the one that ended.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`

	// objects it was done to, as Kind namespace/name; at most ten are named. Of an acceptance, what was accepted; of a failure,
	// what its message names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=600
	Objects []string `json:"objects,omitempty"`

	// actor that did it: a field manager, or unknown where the object does not say.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Actor string `json:"actor,omitempty"`

	// message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// ObjectName names an object in one of the two clusters.
type ObjectName struct {
	// kind of the object.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// namespace of the object; empty for one of the whole cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// AcceptanceStatus is something that a person vouches for in the spec.
type AcceptanceStatus struct {
	// field of the spec that says so.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Field string `json:"field,omitempty"`

	// value of that field, or of the entry in it.
	// +required
	// +kubebuilder:validation:MaxLength=600
	Value string `json:"value,omitempty"`

	// by is the field manager that owned it when it was first seen; unknown where the object did not say.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	By string `json:"by,omitempty"`

	// seenAt is when it was first seen.
	// +optional
	SeenAt metav1.Time `json:"seenAt,omitzero"`
}

// UnknownActor stands where an object does not say who wrote a field.
const UnknownActor = "unknown"
