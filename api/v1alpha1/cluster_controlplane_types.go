package v1alpha1

// ComponentOwnership says who changes a component of the control plane.
// +kubebuilder:validation:Enum=Ours;Foreign
type ComponentOwnership string

const (
	// OursComponent means that it is changed with the rest of the control plane, as spec.controlPlane.change says.
	OursComponent ComponentOwnership = "Ours"
	// ForeignComponent means that its owner changes it. It is looked at, and what still has in-tree flags is waited for.
	ForeignComponent ComponentOwnership = "Foreign"
)

// ControlPlaneComponent is kube-apiserver or kube-scheduler.
type ControlPlaneComponent struct {
	DeploymentReference `json:",inline"`

	// ownership is Ours, or Foreign when another owner changes it: then it is looked at and never changed. Default is Ours.
	// +optional
	Ownership ComponentOwnership `json:"ownership,omitempty"`
}
