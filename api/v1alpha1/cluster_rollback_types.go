package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PointOfNoReturnState says whether the migration can still be rolled back.
// +kubebuilder:validation:Enum=Ahead;Passed;Unknown
type PointOfNoReturnState string

// The states of the point of no return.
const (
	// PointOfNoReturnAhead means that the migration can be rolled back.
	PointOfNoReturnAhead PointOfNoReturnState = "Ahead"
	// PointOfNoReturnPassed means that it cannot.
	PointOfNoReturnPassed PointOfNoReturnState = "Passed"
	// PointOfNoReturnUnknown means that it could not be looked at.
	PointOfNoReturnUnknown PointOfNoReturnState = "Unknown"
)

// PointOfNoReturnStatus is how the point of no return stands.
type PointOfNoReturnStatus struct {
	// state is Ahead while the migration can be rolled back, Passed when it cannot, Unknown when that could not be looked at.
	// +required
	State PointOfNoReturnState `json:"state,omitempty"`

	// reason names what passed it, or what could not be looked at.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`

	// next says what would pass it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Next string `json:"next,omitempty"`
}

// OriginalArguments are the flags of a control-plane Deployment as they were before it was changed. One that was not
// given is absent.
type OriginalArguments struct {
	// deployment in the namespace of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Deployment string `json:"deployment,omitempty"`

	// controllers is the value of --controllers.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Controllers *string `json:"controllers,omitempty"`

	// featureGates is the value of --feature-gates.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	FeatureGates *string `json:"featureGates,omitempty"`
}

// RollbackStatus is how far a rollback is. While it runs it goes to its end, whatever spec.handover.rollback says then.
type RollbackStatus struct {
	// startedAt is when the rollback was found to be possible and began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// machineControllerRevertedAt is when all Deployments of the machine-controller were without their flags and had no
	// old pod: MachineSets made later are in-tree by themselves.
	// +optional
	MachineControllerRevertedAt *metav1.Time `json:"machineControllerRevertedAt,omitempty"`

	// rollGeneration is the forceRestart value of the rollback, made once: nothing is rolled back twice.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RollGeneration string `json:"rollGeneration,omitempty"`

	// rolledMachineDeployments are the UIDs of those that were given that value. The oldest are dropped.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=63
	RolledMachineDeployments []string `json:"rolledMachineDeployments,omitempty"`

	// workloadWithdrawnAt is from when the CCM's workload is not wanted any more.
	// +optional
	WorkloadWithdrawnAt *metav1.Time `json:"workloadWithdrawnAt,omitempty"`

	// workloadGoneAt is when no pod of the CCM was left behind the closed fence; its Lease is waited for from then on.
	// +optional
	WorkloadGoneAt *metav1.MicroTime `json:"workloadGoneAt,omitempty"`

	// loopsOnAt is when KCM was given its cloud loops back; off again, someone else did it.
	// +optional
	LoopsOnAt *metav1.Time `json:"loopsOnAt,omitempty"`

	// addonsWithdrawnAt is from when no addon is wanted any more.
	// +optional
	AddonsWithdrawnAt *metav1.Time `json:"addonsWithdrawnAt,omitempty"`

	// finishedAt is when KCM was seen leading with its cloud loops. Everything else that the migration had recorded is
	// forgotten then, and this when spec.handover.retryAfter starts the migration again.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
}
