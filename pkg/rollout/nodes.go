package rollout

import (
	"cmp"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Unproven sorts the Nodes that lack something into those that are young and those that a person must look at.
func Unproven(in In) (young, overdue []string) {
	r := evaluate(in)
	return r.unprovenNodes(r.fleet())
}

// unprovenNodes sorts the Nodes that lack something into those that are young and those that a person must look at.
func (r *roll) unprovenNodes(view machineView) (young, overdue []string) {
	machineOf := map[string]observation.Machine{}
	for _, machine := range view.machines.Machines {
		if machine.NodeName != "" {
			machineOf[machine.NodeName] = machine
		}
	}
	for _, node := range r.o.Nodes.Value() {
		if slices.Contains(r.o.Cluster.Spec.Rollout.AcceptNodes, node.Name) {
			continue
		}
		machine, owned := machineOf[node.Name]
		lacks := r.lacks(view, node, machine, owned)
		switch {
		case lacks == "":
		case r.now.Sub(node.CreatedAt) <= view.deadline && owned:
			young = append(young, node.Name+" "+lacks)
		default:
			overdue = append(overdue, node.Name+" "+lacks)
		}
	}
	return young, overdue
}

func (r *roll) lacks(view machineView, node observation.Node, machine observation.Machine, owned bool) string {
	switch {
	case !owned:
		return "has no Machine (accept it in spec.rollout.acceptNodes or delete it)"
	case !view.upToDate(machine):
		return "belongs to outdated Machine " + machine.Namespace + "/" + machine.Name
	}
	return r.nodeLacks(view, node, machine)
}

// nodeLacks is what a Node of an up-to-date Machine does not show yet.
func (r *roll) nodeLacks(view machineView, node observation.Node, machine observation.Machine) string {
	switch {
	case node.Uninitialized:
		return "still has taint node.cloudprovider.kubernetes.io/uninitialized"
	case !view.identifies(node):
		return "has no providerID of the form " + cmp.Or(r.o.Provider.Value().ProviderIDForm, r.o.Provider.Value().ProviderIDPrefix)
	case !node.Ready:
		return "is not Ready"
	}
	for _, driver := range r.o.Provider.Value().CSIDrivers {
		if !slices.Contains(node.CSIDrivers, driver) {
			return "does not register CSI driver " + driver
		}
	}
	return view.kubeletLacks(node, machine)
}
