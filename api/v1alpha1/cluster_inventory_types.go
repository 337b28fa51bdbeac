package v1alpha1

// InventoryStatus says how the cluster differs from the baseline. The baseline itself is in a Secret.
type InventoryStatus struct {
	// explained is the number of differences that are as they should be, such as Nodes that were replaced.
	Explained int32 `json:"explained"`

	// unexplained is the number of those that no one knows a reason for. They block step Verify.
	Unexplained int32 `json:"unexplained"`

	// differences are the first of the unexplained ones; the command inventory --diff shows all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=1024
	Differences []string `json:"differences,omitempty"`

	// warnings are the first of the explained ones that a person should look at: load balancers and volumes that went together
	// with their Service or claim.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=1024
	Warnings []string `json:"warnings,omitempty"`

	// afterSteps is how it differed when a step was over, for people; nothing reads it back.
	// +optional
	// +listType=map
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=20
	AfterSteps []InventoryAfterStep `json:"afterSteps,omitempty"`
}

// InventoryAfterStep is how the cluster differed from the baseline when a step was over.
type InventoryAfterStep struct {
	// step that was over.
	// +required
	Step Step `json:"step,omitempty"`

	// explained is the number of explained differences then.
	Explained int32 `json:"explained"`

	// unexplained is the number of unexplained differences then.
	Unexplained int32 `json:"unexplained"`
}
