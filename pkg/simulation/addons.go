package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Addons are the objects in the user cluster that the controller applies.
type Addons struct {
	w *World

	CCM, CSI, Probe AddonSet
	agents          []observation.Ref
	// Obsolete are objects of earlier addons that are not wanted any more.
	Obsolete []observation.Ref
}

// AddonSet is the CCM's or the CSI driver's objects in the user cluster.
type AddonSet struct {
	Name    outcome.AddonSetName
	Wanted  []observation.Ref
	Present map[observation.Ref]bool
	// stale ones of a real set are there and are not as they are wanted.
	stale   map[observation.Ref]bool
	Foreign []observation.Text
	// seen is what was observed of a real one besides its objects.
	seen observation.AddonSet
}

// NewAddonSet has one object of each kind.
func NewAddonSet(name outcome.AddonSetName, kinds ...string) AddonSet {
	set := AddonSet{Name: name, Present: map[observation.Ref]bool{}, stale: map[observation.Ref]bool{}}
	for _, kind := range kinds {
		set.Wanted = append(set.Wanted, observation.Ref{Kind: kind, Namespace: MachineNamespace, Name: "simcloud-" + string(name)})
	}
	return set
}

// IsWorkload says that a kind of object has pods.
func IsWorkload(kind string) bool { return kind == "Deployment" || kind == "DaemonSet" }

func (a *AddonSet) missing() []observation.Ref {
	var refs []observation.Ref
	for _, object := range a.Wanted {
		if !a.Present[object] || a.stale[object] {
			refs = append(refs, object)
		}
	}
	return refs
}

// workloads that are there.
func (a *AddonSet) workloads() []observation.Ref {
	var refs []observation.Ref
	for _, object := range a.Wanted {
		if IsWorkload(object.Kind) && a.Present[object] {
			refs = append(refs, object)
		}
	}
	return refs
}

func (a *AddonSet) wants(kind string) bool {
	return slices.ContainsFunc(a.Wanted, func(object observation.Ref) bool { return object.Kind == kind })
}

func (a *AddonSet) has(kind string) bool {
	return slices.ContainsFunc(a.Wanted, func(object observation.Ref) bool { return object.Kind == kind && a.Present[object] })
}

// serves says that the driver's pods are on the Nodes: ours, or someone else's.
func (a *AddonSet) serves() bool { return a.has("DaemonSet") || a.seen.SatisfiedBy != "" }

// Drop every object of a kind.
func (a *AddonSet) Drop(kind string) {
	for _, object := range a.Wanted {
		if object.Kind == kind {
			delete(a.Present, object)
		}
	}
}

// adopted: what was someone else's in a real set is ours after it was applied.
func (a *AddonSet) adopted() {
	if len(a.seen.Takeovers) > 0 {
		a.Foreign, a.seen.Takeovers = nil, nil
	}
}
