package migration

import (
	"cmp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const defaultNodeDeadline = 20 * time.Minute

// fleetView answers questions about the Machines of one cluster from one observation.
type fleetView struct {
	machines     Machines
	nodes        map[string]Node
	generation   string
	configuredAt time.Time
	prefix       string
	deadline     time.Duration
	now          time.Time
}

func (p *pass) fleet() fleetView {
	v := fleetView{
		machines: p.o.Machines.Value(), nodes: map[string]Node{}, generation: p.facts.RollGeneration,
		prefix: p.o.Provider.Value().ProviderIDPrefix, deadline: defaultNodeDeadline, now: p.now,
	}
	if seconds := p.o.Cluster.Spec.Rollout.NodeDeadlineSeconds; seconds != nil {
		v.deadline = time.Duration(*seconds) * time.Second
	}
	if p.facts.MachineControllerConfiguredAt != nil {
		v.configuredAt = p.facts.MachineControllerConfiguredAt.Time
	}
	for _, node := range p.o.Nodes.Value() {
		v.nodes[node.Name] = node
	}
	return v
}

// wanted says whether a MachineSet makes external kubelets: its template carries our forceRestart value, or it was made
// after the machine-controller's flags were in place, so that its operating system configuration was too.
// The comparison is strict: creation times have whole seconds.
func (v fleetView) wanted(set MachineSet) bool {
	if v.generation != "" && set.RestartValue == v.generation {
		return true
	}
	return !v.configuredAt.IsZero() && set.CreatedAt.After(v.configuredAt)
}

func (v fleetView) setOf(machine Machine) (MachineSet, bool) {
	at := slices.IndexFunc(v.machines.Sets, func(s MachineSet) bool { return machine.Set != "" && s.UID == machine.Set })
	if at < 0 {
		return MachineSet{}, false
	}
	return v.machines.Sets[at], true
}

// upToDate needs both: the MachineSet says which kubelet its Machines get, the annotation alone proves nothing
// (the webhook stamps it from its own flag, whatever the operating-system-manager rendered).
func (v fleetView) upToDate(machine Machine) bool {
	if machine.Annotation != "true" {
		return false
	}
	if set, owned := v.setOf(machine); owned {
		return v.wanted(set)
	}
	// A Machine that stands alone has no revision; it was made after the flags, or it is outdated.
	return machine.Set == "" && !v.configuredAt.IsZero() && machine.CreatedAt.After(v.configuredAt)
}

// proven says whether a Machine's Node is what the migration promises.
func (v fleetView) proven(machine Machine) bool {
	node, found := v.nodes[machine.NodeName]
	return machine.NodeName != "" && found && v.initialized(node)
}

// serves says whether pods can run on a Machine's Node, whatever kubelet it has.
func (v fleetView) serves(machine Machine) bool {
	node, found := v.nodes[machine.NodeName]
	return machine.NodeName != "" && found && node.Ready && !node.Uninitialized
}

func (v fleetView) initialized(node Node) bool {
	return node.Ready && !node.Uninitialized && hasProviderID(node, v.prefix)
}

// late says that a Machine missed its deadline: to become a proven Node, or to go.
func (v fleetView) late(machine Machine) bool {
	if machine.Deleting {
		return v.now.Sub(machine.DeletingSince) > v.deadline
	}
	return v.upToDate(machine) && !v.proven(machine) && v.now.Sub(machine.CreatedAt) > v.deadline
}

func (v fleetView) machinesOf(deployment MachineDeployment) []Machine {
	var machines []Machine
	for _, machine := range v.machines.Machines {
		if set, owned := v.setOf(machine); owned && set.Deployment == deployment.UID {
			machines = append(machines, machine)
		}
	}
	return machines
}

func (v fleetView) setsOf(deployment MachineDeployment) []MachineSet {
	var sets []MachineSet
	for _, set := range v.machines.Sets {
		if set.Deployment == deployment.UID {
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b MachineSet) int { return cmp.Compare(a.Name, b.Name) })
	return sets
}

// orphans are outdated Machines that no MachineDeployment can replace.
func (v fleetView) orphans() []Machine {
	var orphans []Machine
	for _, machine := range v.machines.Machines {
		set, owned := v.setOf(machine)
		if (!owned || set.Deployment == "") && !v.upToDate(machine) && !machine.Deleting {
			orphans = append(orphans, machine)
		}
	}
	return orphans
}

// Progress counts Machines and MachineDeployments, for the status.
type Progress struct {
	Machines, MachineDeployments ucv1.ProgressCount
	Nodes                        ucv1.NodeCount
}

// ProgressOf counts from an observation; ok is false when Machines or Nodes could not be looked at.
func ProgressOf(o Observation, now time.Time) (progress Progress, ok bool) {
	if o.Machines.IsUnknown() || !o.Nodes.IsKnown() {
		return Progress{}, false
	}
	p := &pass{o: o, now: now, facts: o.Cluster.Status.Facts}
	view := p.fleet()
	for _, machine := range view.machines.Machines {
		progress.Machines.Total++
		if view.upToDate(machine) && !machine.Deleting {
			progress.Machines.UpToDate++
		}
		if view.late(machine) {
			progress.Machines.Blocked++
		}
	}
	progress.Machines.Blocked += int32(len(view.orphans()))
	for _, pool := range p.pools(view) {
		progress.MachineDeployments.Total++
		switch {
		case pool.blocked != "":
			progress.MachineDeployments.Blocked++
		case pool.done():
			progress.MachineDeployments.UpToDate++
		}
	}
	for _, node := range view.nodes {
		progress.Nodes.Total++
		if view.initialized(node) {
			progress.Nodes.Initialized++
		}
	}
	return progress, true
}
