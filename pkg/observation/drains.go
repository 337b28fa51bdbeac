package observation

// Drain is what a Machine that is being deleted waits for.
type Drain struct {
	Machine Ref
	Node    string
	// Pods that a drain has to evict and that are still on its Node.
	Pods []DrainedPod
	// Finalizers of the Machine that are not the machine-controller's.
	Finalizers []string
	// Attachments are the VolumeAttachments of its Node.
	Attachments []string
}

// DrainedPod is a pod on a Node that is being drained.
type DrainedPod struct {
	Namespace, Name string
	// Budget is the PodDisruptionBudget that allows no eviction of it now; zero: none does not.
	Budget Ref
	// Going says that it is being deleted; Finalizers that it has then.
	Going      bool
	Finalizers []string
}
