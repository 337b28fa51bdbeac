package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MigrationMode says whether a migration may start by itself.
// +kubebuilder:validation:Enum=Migrate;PlanOnly
type MigrationMode string

const (
	// MigrateMode means that a migration starts when nothing stands against it.
	MigrateMode MigrationMode = "Migrate"
	// PlanOnlyMode means that a migration starts only when its plan was approved.
	PlanOnlyMode MigrationMode = "PlanOnly"
)

// ApprovalSpec says what a person approved.
type ApprovalSpec struct {
	// planDigest is the digest of the plan that a person read, as status.plan.digest and the command plan have it. The
	// migration starts only while the plan is that one. Once it is started, nothing is asked any more.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	// +kubebuilder:validation:MaxLength=64
	PlanDigest string `json:"planDigest,omitempty"`
}

// PlanStatus is the plan of a migration that did not start, or the one that it started with.
type PlanStatus struct {
	// digest of the plan: sha256 in hex. It has no times, versions of objects and names of Machines and pods in it, so
	// that it stays as it is while nothing of importance changes.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest,omitempty"`

	// summary of the plan in a few sentences; the command plan prints the whole of it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Summary string `json:"summary,omitempty"`

	// madeAt is since when the plan has been this one.
	// +optional
	MadeAt *metav1.Time `json:"madeAt,omitempty"`
}
