package rollout

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// A Machine that gets no Node may be gone before its deadline: with -join-cluster-timeout the machine-controller deletes it and
// makes another, without end. So not only a Machine has a deadline, but also the MachineDeployment whose new Machines get no
// Node.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L936-L976
// (ensureNodeOwnerRef)

// joiningSince is since when no new Machine of a MachineDeployment has got a Node, while one waits for it; zero where none does.
// One that waited before still does while it is made again.
func joiningSince(v machineView, d observation.MachineDeployment) time.Time {
	before := v.joining[d.UID]
	first, joined := joins(v, d)
	again := v.remakes(d) && !before.IsZero() && !joined.After(before)
	if first.IsZero() && !again {
		return time.Time{}
	}
	since := observation.Later(observation.Earlier(before, first), joined)
	for _, set := range v.setsOf(d) {
		if v.wanted(set) {
			since = observation.Later(since, set.CreatedAt)
		}
	}
	return since
}

// remakes says that the machine-controller still has to make new Machines. Where all are there and have joined, none waits for a
// Node, however late the last one was found.
func (v machineView) remakes(d observation.MachineDeployment) bool {
	return slices.ContainsFunc(v.setsOf(d), func(set observation.MachineSet) bool {
		all := v.only(set, func(observation.Machine) bool { return true })
		return v.wanted(set) && len(all) < int(set.Replicas)
	})
}

// joins are since when the first of the new Machines waits for its Node, zero where none does, and when the last Node of one
// joined.
func joins(v machineView, d observation.MachineDeployment) (first, joined time.Time) {
	for _, machine := range v.machinesOf(d) {
		switch {
		case !v.upToDate(machine):
		case hasJoined(v, machine):
			joined = observation.Later(joined, v.nodes[machine.NodeName].CreatedAt)
		default:
			first = observation.Earlier(first, machine.CreatedAt)
		}
	}
	return first, joined
}

// hasJoined says that a Machine has a Node. One that is older than it was another machine's, whose address it has now.
func hasJoined(v machineView, machine observation.Machine) bool {
	node, found := v.nodes[machine.NodeName]
	return machine.NodeName != "" && found && !node.CreatedAt.Before(machine.CreatedAt)
}

// noteJoining keeps since when Machines wait, beyond the life of each.
func noteJoining(in fleet) fleet {
	var joining []ucv1.JoiningMachineDeployment
	for _, pool := range in.pools {
		if since := joiningSince(in.view, pool.deployment); pool.state == Rolling && !since.IsZero() && len(joining) < maxGuarded {
			joining = append(joining, ucv1.JoiningMachineDeployment{UID: pool.deployment.UID, Since: metav1.NewTime(since)})
		}
	}
	if in.facts.Breaker == nil && joining == nil {
		return in
	}
	return in.notes(func(facts *ucv1.Facts) {
		if facts.Breaker == nil {
			facts.Breaker = &ucv1.BreakerStatus{}
		}
		facts.Breaker.Joining = joining
		dropEmptyBreaker(facts)
	})
}

// latePools are being rolled, and no new Machine of theirs got a Node within the deadline, although none of those that are there
// now has been there for that long.
func latePools(view machineView, pools []pool) []observation.Text {
	var names []observation.Text
	for _, pool := range pools {
		since := joiningSince(view, pool.deployment)
		told := slices.ContainsFunc(view.machinesOf(pool.deployment), view.late) // That one is named itself.
		if pool.state == Rolling && !told && !since.IsZero() && view.now.Sub(since) > view.deadline {
			names = append(names, observation.Say("the new Machines of ", pool.deployment, " (no Node of one has joined since "+
				since.UTC().Format(time.RFC3339)+")"))
		}
	}
	return names
}

// unlinkedNodes were registered since a new Machine waits for its Node, and are of no Machine. The machine-controller finds the
// Node of a Machine by its providerID or an address, and a Node that waits for the CCM may have neither:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L1064 (getNode)
func unlinkedNodes(v machineView, d observation.MachineDeployment) []observation.Text {
	since := time.Time{}
	for _, machine := range v.machinesOf(d) {
		if machine.NodeName == "" && !machine.Deleting && v.upToDate(machine) {
			since = observation.Earlier(since, machine.CreatedAt)
		}
	}
	var names []observation.Text
	for _, node := range v.nodes {
		late := node.Uninitialized && v.now.Sub(node.CreatedAt) > v.initialization
		if !since.IsZero() && late && !node.CreatedAt.Before(since) && !hasOwner(v, node) {
			names = append(names, observation.Say(node, ", which no Machine names yet"))
		}
	}
	return names
}

// hasOwner also counts whoever vouches for a Node.
func hasOwner(v machineView, node observation.Node) bool {
	return slices.Contains(v.accepted, node.Name) ||
		slices.ContainsFunc(v.machines.Machines, func(machine observation.Machine) bool { return machine.NodeName == node.Name })
}
