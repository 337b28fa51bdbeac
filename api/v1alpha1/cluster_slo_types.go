package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SLOViolationPolicy says what happens when the service level objectives are violated while Machines are rolled.
// +kubebuilder:validation:Enum=Halt;Continue
type SLOViolationPolicy string

const (
	// HaltOnViolation rolls nothing more until a person looked: see countSince.
	HaltOnViolation SLOViolationPolicy = "Halt"
	// ContinueOnViolation only reports.
	ContinueOnViolation SLOViolationPolicy = "Continue"
)

// SLOSpec says how the service level objectives of KEP-2395 are judged.
type SLOSpec struct {
	// onViolation is Halt (default), nothing more is rolled until countSince is set, or Continue, it is only reported.
	// +optional
	OnViolation SLOViolationPolicy `json:"onViolation,omitempty"`

	// minimumSamples is how many samples an indicator needs before it can be Met. Default is 20.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MinimumSamples *int32 `json:"minimumSamples,omitempty"`

	// unattendedSeconds is how long no manager may run the cloud loops before Ready is False and an event warns; after twice
	// that time the Cluster is Stalled. Default is 60.
	// +optional
	// +kubebuilder:validation:Minimum=15
	// +kubebuilder:validation:Maximum=3600
	UnattendedSeconds *int32 `json:"unattendedSeconds,omitempty"`

	// countSince is a time; what was measured before it is forgotten. A person sets it to now who looked at a violation and
	// fixed its cause: the roll goes on.
	// +optional
	CountSince *metav1.Time `json:"countSince,omitempty"`
}

// SLOVerdict on an objective.
// +kubebuilder:validation:Enum=Met;Violated;Inconclusive
type SLOVerdict string

// SLOStatus holds the service level numbers of KEP-2395: 99 % of the Nodes and load balancers within 60 s, and less than one
// error in 15 minutes.
type SLOStatus struct {
	// verdict on all indicators: Violated when one is, Met when all are.
	// +optional
	Verdict SLOVerdict `json:"verdict,omitempty"`

	// indicators with their counts. Those of load balancers are there when the cluster has some.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Indicators []SLOIndicator `json:"indicators,omitempty"`

	// since is from when it is counted: when the machine-controller was configured, or spec.slo.countSince.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// until is when counting ended: the soak time after completion.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`

	// countedUntil is the end of the newest sample that is counted, so that none is counted twice.
	// +optional
	CountedUntil *metav1.MicroTime `json:"countedUntil,omitempty"`

	// violatedAt is when the roll was halted; a new spec.slo.countSince takes it away.
	// +optional
	ViolatedAt *metav1.Time `json:"violatedAt,omitempty"`
}

// SLOIndicator is one service level indicator.
type SLOIndicator struct {
	// name: TaintRemoval, InitialNodeSync, LoadBalancerHostUpdate, NodeSync or NodeSyncErrors.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// verdict on it.
	// +required
	Verdict SLOVerdict `json:"verdict,omitempty"`

	// within is the number of samples within 60 s.
	Within int32 `json:"within"`

	// missed is the number of samples that took longer; of NodeSyncErrors, of errors.
	Missed int32 `json:"missed"`

	// unsure is the number of samples that no one looked at closely enough.
	// +optional
	Unsure int32 `json:"unsure,omitempty"`

	// ccm is what the CCM's own metrics say, where they can be read: from when they were read first.
	// +optional
	CCM *SLOCounts `json:"ccm,omitempty"`

	// lastMissedAt is when the newest one missed.
	// +optional
	LastMissedAt *metav1.Time `json:"lastMissedAt,omitempty"`

	// slow are the newest objects that missed, with their least time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:MaxLength=600
	Slow []string `json:"slow,omitempty"`

	// slowObjects are those that slow names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	SlowObjects []ObjectName `json:"slowObjects,omitempty"`
}

// SLOCounts are the counts of an indicator by another source.
type SLOCounts struct {
	// within is the number of samples within 60 s.
	Within int32 `json:"within"`

	// missed is the number of samples that took longer.
	Missed int32 `json:"missed"`

	// unsure is the number of samples in the bucket that has 60 s in it.
	Unsure int32 `json:"unsure"`
}
