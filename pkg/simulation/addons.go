package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Addons are the objects in the user cluster that the controller applies.
type Addons struct {
	w *World

	ccm, csi, probe addonSet
	agents          []observation.Ref
	// obsolete are objects of earlier addons that are not wanted any more.
	obsolete []observation.Ref
}

// addonSet is the CCM's or the CSI driver's objects in the user cluster.
type addonSet struct {
	name    outcome.AddonSetName
	wanted  []observation.Ref
	present map[observation.Ref]bool
	// stale ones of a real set are there and are not as they are wanted.
	stale   map[observation.Ref]bool
	foreign []string
	// seen is what was observed of a real one besides its objects.
	seen observation.AddonSet
}

// newAddonSet has one object of each kind.
func newAddonSet(name outcome.AddonSetName, kinds ...string) addonSet {
	set := addonSet{name: name, present: map[observation.Ref]bool{}, stale: map[observation.Ref]bool{}}
	for _, kind := range kinds {
		set.wanted = append(set.wanted, observation.Ref{Kind: kind, Namespace: machineNamespace, Name: "simcloud-" + string(name)})
	}
	return set
}

func isWorkload(kind string) bool { return kind == "Deployment" || kind == "DaemonSet" }

func (a *addonSet) missing() []observation.Ref {
	var refs []observation.Ref
	for _, object := range a.wanted {
		if !a.present[object] || a.stale[object] {
			refs = append(refs, object)
		}
	}
	return refs
}

// workloads that are there.
func (a *addonSet) workloads() []observation.Ref {
	var refs []observation.Ref
	for _, object := range a.wanted {
		if isWorkload(object.Kind) && a.present[object] {
			refs = append(refs, object)
		}
	}
	return refs
}

func (a *addonSet) wants(kind string) bool {
	return slices.ContainsFunc(a.wanted, func(object observation.Ref) bool { return object.Kind == kind })
}

func (a *addonSet) has(kind string) bool {
	return slices.ContainsFunc(a.wanted, func(object observation.Ref) bool { return object.Kind == kind && a.present[object] })
}

// serves says that the driver's pods are on the Nodes: ours, or someone else's.
func (a *addonSet) serves() bool { return a.has("DaemonSet") || a.seen.SatisfiedBy != "" }

func (a *addonSet) drop(kind string) {
	for _, object := range a.wanted {
		if object.Kind == kind {
			delete(a.present, object)
		}
	}
}

// adopted: what was someone else's in a real set is ours after it was applied.
func (a *addonSet) adopted() {
	if len(a.seen.Takeovers) > 0 {
		a.foreign, a.seen.Takeovers = nil, nil
	}
}
