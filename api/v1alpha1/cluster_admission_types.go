package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AdmissionState says whether a FleetMigration let a Cluster start.
// +kubebuilder:validation:Enum=Queued;Admitted
type AdmissionState string

const (
	// AdmissionQueued waits for its turn.
	AdmissionQueued AdmissionState = "Queued"
	// AdmissionAdmitted may start.
	AdmissionAdmitted AdmissionState = "Admitted"
)

// FleetDirective is what a FleetMigration wants of a Cluster that migrates.
// +kubebuilder:validation:Enum=Proceed;HoldRoll;Rollback
type FleetDirective string

const (
	// DirectiveProceed wants nothing special.
	DirectiveProceed FleetDirective = "Proceed"
	// DirectiveHoldRoll wants no further MachineDeployment to begin.
	DirectiveHoldRoll FleetDirective = "HoldRoll"
	// DirectiveRollback wants it rolled back, where it is before its point of no return.
	DirectiveRollback FleetDirective = "Rollback"
)

// AdmissionStatus is the claim of a FleetMigration to a Cluster. Only the fleet's own field manager writes it. It stays when
// the FleetMigration goes or selects the Cluster no longer, so that nothing that is deleted or relabeled starts a Cluster.
type AdmissionStatus struct {
	// fleetMigration is its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	FleetMigration string `json:"fleetMigration,omitempty"`

	// uid of the FleetMigration.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`

	// wave that it started in; while it is queued, that it was in last.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Wave string `json:"wave,omitempty"`

	// state is Queued or Admitted.
	// +required
	State AdmissionState `json:"state,omitempty"`

	// admittedAt is when it was admitted.
	// +optional
	AdmittedAt *metav1.Time `json:"admittedAt,omitempty"`

	// directive is what is wanted of it now; default is Proceed.
	// +optional
	Directive FleetDirective `json:"directive,omitempty"`

	// heldSince is since when its roll has been held (directive HoldRoll).
	// +optional
	HeldSince *metav1.Time `json:"heldSince,omitempty"`

	// heldSeconds is for how long its roll was held before that: a time in which it could not go on does not count to its deadline.
	// +optional
	// +kubebuilder:validation:Minimum=0
	HeldSeconds int64 `json:"heldSeconds,omitempty"`
}

// ClusterAdmission says who lets a Cluster start.
// +kubebuilder:validation:Enum=Fleet;Immediate
type ClusterAdmission string

const (
	// FleetClusterAdmission means the FleetMigration that selects it, if one does.
	FleetClusterAdmission ClusterAdmission = "Fleet"
	// ImmediateClusterAdmission means that it starts whatever a FleetMigration says. Budgets count it.
	ImmediateClusterAdmission ClusterAdmission = "Immediate"
)

// ClusterMaintenance says when the owner of a Cluster lets it start.
type ClusterMaintenance struct {
	// windows in which a FleetMigration may let it start, besides the fleet's own, which have to be open, too. When there are none,
	// only the fleet's count.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Windows []MaintenanceWindow `json:"windows,omitempty"`
}

// Immediate says that a Cluster starts whatever a FleetMigration says.
func (c *Cluster) Immediate() bool { return c.Spec.Admission == ImmediateClusterAdmission }

// Directed says that the FleetMigration which admitted a Cluster wants this of it.
func (c *Cluster) Directed(directive FleetDirective) bool {
	admission := c.Status.Admission
	return admission != nil && admission.State == AdmissionAdmitted && admission.Directive == directive
}
