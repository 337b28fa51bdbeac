package rollout

import (
	"cmp"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// machineIndex says which Machines, MachineSets, MachineDeployments and Nodes belong together: each question about a
// MachineDeployment would otherwise go through all Machines of the cluster.
type machineIndex struct {
	machines observation.Machines
	nodes    map[string]observation.Node
	// sets by UID; deployed are the Machines, and revisions the MachineSets, by the UID of their MachineDeployment.
	sets      map[string]observation.MachineSet
	deployed  map[string][]observation.Machine
	revisions map[string][]observation.MachineSet
	// members are the Machines by the UID of their MachineSet.
	members map[string][]observation.Machine
	// joined says of a MachineSet that Machines of it are external.
	joined map[string]bool
}

func indexOf(machines observation.Machines, nodes []observation.Node) machineIndex {
	x := machineIndex{
		machines: machines,
		nodes:    map[string]observation.Node{},
		sets:     map[string]observation.MachineSet{}, deployed: map[string][]observation.Machine{},
		revisions: map[string][]observation.MachineSet{},
		members:   map[string][]observation.Machine{},
		joined:    map[string]bool{},
	}
	for _, node := range nodes {
		x.nodes[node.Name] = node
	}
	for _, set := range machines.Sets {
		x.sets[set.UID] = set
		x.revisions[set.Deployment] = append(x.revisions[set.Deployment], set)
	}
	for _, sets := range x.revisions {
		slices.SortFunc(sets, func(a, b observation.MachineSet) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, machine := range machines.Machines {
		x.joined[machine.Set] = x.joined[machine.Set] || machine.Annotation == "true"
		if set, owned := x.setOf(machine); owned {
			x.deployed[set.Deployment] = append(x.deployed[set.Deployment], machine)
			x.members[set.UID] = append(x.members[set.UID], machine)
		}
	}
	return x
}

func (x machineIndex) setOf(machine observation.Machine) (observation.MachineSet, bool) {
	set, found := x.sets[machine.Set]
	return set, found && machine.Set != ""
}

func (x machineIndex) machinesOf(deployment observation.MachineDeployment) []observation.Machine {
	return x.deployed[deployment.UID]
}

func (x machineIndex) setsOf(deployment observation.MachineDeployment) []observation.MachineSet {
	return x.revisions[deployment.UID]
}

// hasDeployment says that the MachineSet's MachineDeployment exists; one that was deleted can roll nothing.
func (x machineIndex) hasDeployment(set observation.MachineSet) bool {
	return slices.ContainsFunc(x.machines.Deployments, func(d observation.MachineDeployment) bool { return d.UID == set.Deployment })
}

// only are a MachineSet's Machines of which something holds, but for those that are going.
func (x machineIndex) only(set observation.MachineSet, holds func(observation.Machine) bool) []observation.Machine {
	return slices.DeleteFunc(slices.Clone(x.members[set.UID]), func(m observation.Machine) bool { return m.Deleting || !holds(m) })
}
