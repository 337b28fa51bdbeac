package v1alpha1

// Instruction says what to change in one part of the control plane.
type Instruction struct {
	// order in which to do it, from 1.
	Order int32 `json:"order"`

	// component to change, by its container: kube-controller-manager, for example.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Component string `json:"component,omitempty"`

	// object to change, as Kind namespace/name.
	// +optional
	// +kubebuilder:validation:MaxLength=600
	Object string `json:"object,omitempty"`

	// node whose manifest is to be changed; static pods only.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// set are flags to give these values, as --name=value; one that is there is changed. With nothing to set or remove,
	// and not done, the node cannot be seen: wait for its pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=16384
	Set []string `json:"set,omitempty"`

	// remove are flags to take out, as --name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	Remove []string `json:"remove,omitempty"`

	// files that the component has to read, before its flags are set.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=4
	Files []InstructedFile `json:"files,omitempty"`

	// removeFiles are paths of files that it does not read any more: take the volume out together with the flags.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=253
	RemoveFiles []string `json:"removeFiles,omitempty"`

	// leader says that it holds KCM's Lease, so that it comes last.
	// +optional
	Leader bool `json:"leader,omitempty"`

	// done says that the change was seen, and that what ran before has ended.
	Done bool `json:"done"`
}

// InstructedFile is a file that a part of the control plane has to read.
type InstructedFile struct {
	// path of the file in the container. On a Node of static pods it has the same path, and its folder is mounted.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Path string `json:"path,omitempty"`

	// volume is the name of the volume that mounts its folder, read-only.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Volume string `json:"volume,omitempty"`

	// content of the file, to the letter.
	// +required
	// +kubebuilder:validation:MaxLength=16384
	Content string `json:"content,omitempty"`
}
