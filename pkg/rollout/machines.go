package rollout

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// machineView answers questions about the Machines of one cluster: what is seen of them, against what is wanted.
type machineView struct {
	seenMachines
	// guarded are the UIDs of the MachineDeployments whose minReadySeconds was taken.
	guarded []string
	// joining says by the UID of a MachineDeployment since when its new Machines have had no Node, as it was noted before.
	joining      map[string]time.Time
	generation   string
	rolled       []string
	configuredAt time.Time
	// rollback turns the view round: wanted and up-to-date is what is in-tree. startedAt is then when the migration started,
	// before which nothing of it was external, and external the forceRestart value that it rolled by.
	rollback  bool
	startedAt time.Time
	external  string
	// canaryDue says that a canary Machine is to be proven before anything is rolled.
	canaryDue bool
}

// viewOf has the facts as they are now; what is seen does not change within a pass.
func viewOf(in input) machineView {
	if in.seen.machines == nil {
		seen := look(in.o, in.now)
		in.seen.machines = &seen
	}
	v := machineView{
		seenMachines: *in.seen.machines, generation: in.facts.RollGeneration, rolled: in.facts.RolledMachineDeployments,
		canaryDue: canaryDue(in),
	}
	if breaker := in.o.Cluster.Status.Breaker; breaker != nil {
		v.guarded = breaker.Guarded // Not what this pass is about to take.
		v.joining = map[string]time.Time{}
		for _, joining := range breaker.Joining {
			v.joining[joining.UID] = joining.Since.Time
		}
	}
	if in.back() {
		return turnedRound(v, in.facts)
	}
	if in.facts.MachineControllerConfiguredAt != nil {
		v.configuredAt = in.facts.MachineControllerConfiguredAt.Time
	}
	return v
}

func turnedRound(v machineView, facts ucv1.Facts) machineView {
	v.rollback, v.startedAt, v.external = true, facts.StartedAt.Time, facts.RollGeneration
	v.generation, v.rolled = facts.Rollback.RollGeneration, facts.Rollback.RolledMachineDeployments
	if facts.Rollback.MachineControllerRevertedAt != nil {
		v.configuredAt = facts.Rollback.MachineControllerRevertedAt.Time
	}
	return v
}

// wanted says whether a MachineSet makes external kubelets: its template carries our forceRestart value, or it was made
// after the machine-controller's flags were in place, so that its operating system configuration was too.
// The comparison is strict: creation times have whole seconds. In a rollback no time says that a MachineSet of the migration's
// own forceRestart value is in-tree: it may have been made a moment before, by another clock.
func (v machineView) wanted(set observation.MachineSet) bool {
	if v.external != "" && set.RestartValue == v.external {
		return false
	}
	if v.generation != "" && set.RestartValue == v.generation {
		return true
	}
	if !v.configuredAt.IsZero() && set.CreatedAt.After(v.configuredAt) {
		return true
	}
	return v.rollback && v.neverExternal(set)
}

// neverExternal: made before the migration started, and so were all its Machines.
func (v machineView) neverExternal(set observation.MachineSet) bool {
	return set.CreatedAt.Before(v.startedAt) && !v.joined[set.UID]
}

// upToDate needs both: the MachineSet says which kubelet its Machines get, the annotation alone proves nothing
// (the webhook stamps it from its own flag, whatever the operating-system-manager rendered).
func (v machineView) upToDate(machine observation.Machine) bool {
	if (machine.Annotation == "true") == v.rollback {
		return false
	}
	if set, owned := v.setOf(machine); owned {
		return v.wanted(set)
	}
	if v.rollback {
		return machine.Set == ""
	}
	// A Machine that stands alone has no revision; it was made after the flags, or it is outdated.
	return machine.Set == "" && !v.configuredAt.IsZero() && machine.CreatedAt.After(v.configuredAt)
}

// proven says whether a Machine's Node is what the migration promises.
func (v machineView) proven(machine observation.Machine) bool {
	node, found := v.nodes[machine.NodeName]
	return machine.NodeName != "" && found && v.initialized(node) && v.kubeletLacks(node, machine) == ""
}

// late says that a Machine missed its deadline: to get an initialized Node, or to go. A Node that was initialized and is
// NotReady is not late. One whose object was made again has the time of a new one.
func (v machineView) late(machine observation.Machine) bool {
	since, node := machine.CreatedAt, v.nodes[machine.NodeName]
	switch {
	case machine.Deleting:
		since = machine.DeletingSince
	case !v.upToDate(machine) || machine.NodeName != "" && v.served(node):
		return false
	case node.CreatedAt.After(since):
		since = node.CreatedAt
	}
	return v.now.Sub(since) > v.deadline
}

// lastMoved is when a MachineDeployment last got a revision or a Machine, or a Machine of it began to go.
// Without a current revision of the wanted kind it did not begin yet: for a while after its flags were changed, no
// machine-controller works, and what a rollback finds then is a revision of before the migration.
func lastMoved(v machineView, deployment observation.MachineDeployment) time.Time {
	var last time.Time
	for _, set := range v.setsOf(deployment) {
		if v.wanted(set) && set.Current && set.CreatedAt.After(last) {
			last = set.CreatedAt
		}
	}
	if last.IsZero() {
		return v.now
	}
	for _, machine := range v.machinesOf(deployment) {
		for _, moved := range []time.Time{machine.CreatedAt, machine.DeletingSince} {
			if moved.After(last) {
				last = moved
			}
		}
	}
	return last
}

// lacks says that Machines are still to be made.
func (v machineView) lacks(deployment observation.MachineDeployment) bool {
	return v.renewed(deployment) < int(deployment.Replicas)
}

// renewed is how many of its Machines are up-to-date.
func (v machineView) renewed(deployment observation.MachineDeployment) int {
	wanted := 0
	for _, machine := range v.machinesOf(deployment) {
		if !machine.Deleting && v.upToDate(machine) {
			wanted++
		}
	}
	return wanted
}

// countReplaced is how many Machines it has of which the old one is gone: a new one beside it, or one that stays, replaces
// nothing.
func (v machineView) countReplaced(d observation.MachineDeployment) int {
	old := 0
	for _, machine := range v.machinesOf(d) {
		if !v.upToDate(machine) {
			old++
		}
	}
	return max(0, min(v.renewed(d), int(d.Replicas)-old))
}

// orphans are outdated Machines that no MachineDeployment can replace.
func orphans(v machineView) []observation.Machine {
	var orphans []observation.Machine
	for _, machine := range v.machines.Machines {
		set, owned := v.setOf(machine)
		if (!owned || !v.hasDeployment(set)) && !v.upToDate(machine) && !machine.Deleting {
			orphans = append(orphans, machine)
		}
	}
	return orphans
}

// Irreplaceable are the Machines that are or may become external and that no MachineDeployment can replace.
func Irreplaceable(in In) []observation.Ref {
	view := viewOf(inputOf(in))
	var refs []observation.Ref
	for _, machine := range view.machines.Machines {
		set, owned := view.setOf(machine)
		replaceable := owned && view.hasDeployment(set)
		if !replaceable && !machine.Deleting &&
			(machine.Annotation == "true" || view.upToDate(machine) || (owned && view.wanted(set))) {
			refs = append(refs, machine.Ref)
		}
	}
	return refs
}
