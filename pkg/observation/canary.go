package observation

import (
	"slices"
	"time"
)

// CanaryWorkload is what runs on the canary's Node.
type CanaryWorkload struct {
	// Objects of it that exist, without its MachineDeployment.
	Objects []CanaryObject
	// PodNode is the Node that its pod is on; PodReady says that it runs there, PodProblem what it says when it does not.
	PodNode    string
	PodReady   bool
	PodProblem string
	// Volume is the PersistentVolume of its claim; Attached says that it is attached to the Node, or that its driver attaches none.
	Volume   string
	Attached bool
	// Ingress addresses of its Service.
	Ingress []string
}

// Has says that an object of that kind exists.
func (w CanaryWorkload) Has(kind string) bool {
	return slices.ContainsFunc(w.Objects, func(object CanaryObject) bool { return object.Kind == kind })
}

// CanaryObject is one object of the canary's workload.
type CanaryObject struct {
	Ref
	// DeletingSince is zero unless it is being deleted.
	DeletingSince time.Time
}
