package rollout

import (
	"cmp"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Unproven sorts the Nodes that lack something into those that are young and those that a person must look at.
func Unproven(in In) (young, overdue []string) {
	return unprovenNodes(fleetOf(inputOf(in)))
}

// unprovenNodes sorts the Nodes that lack something into those that are young and those that a person must look at.
func unprovenNodes(in fleet) (young, overdue []string) {
	machineOf := map[string]observation.Machine{}
	for _, machine := range in.view.machines.Machines {
		if machine.NodeName != "" {
			machineOf[machine.NodeName] = machine
		}
	}
	for _, node := range in.o.Nodes.Value() {
		if slices.Contains(in.o.Cluster.Spec.Rollout.AcceptNodes, node.Name) {
			continue
		}
		machine, owned := machineOf[node.Name]
		lacks := nodeProblem(in, node, machine, owned)
		switch {
		case lacks == "":
		case in.now.Sub(node.CreatedAt) <= in.view.deadline && owned:
			young = append(young, node.Name+" "+lacks)
		default:
			overdue = append(overdue, node.Name+" "+lacks)
		}
	}
	return young, overdue
}

func nodeProblem(in fleet, node observation.Node, machine observation.Machine, owned bool) string {
	switch {
	case !owned:
		return "has no Machine (accept it in spec.rollout.acceptNodes or delete it)"
	case !in.view.upToDate(machine):
		return "belongs to outdated Machine " + machine.Namespace + "/" + machine.Name
	}
	return nodeLacks(in, node, machine)
}

// nodeLacks is what a Node of an up-to-date Machine does not show yet.
func nodeLacks(in fleet, node observation.Node, machine observation.Machine) string {
	switch {
	case node.Uninitialized:
		return "still has taint node.cloudprovider.kubernetes.io/uninitialized"
	case !in.view.identifies(node):
		return "has no providerID of the form " + cmp.Or(in.o.Provider.Value().ProviderIDForm, in.o.Provider.Value().ProviderIDPrefix)
	case !node.Ready:
		return "is not Ready"
	}
	for _, driver := range in.o.Provider.Value().CSIDrivers {
		if !slices.Contains(node.CSIDrivers, driver) {
			return "does not register CSI driver " + driver
		}
	}
	return in.view.kubeletLacks(node, machine)
}
