package rollout

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// machineView answers questions about the Machines of one cluster from one observation.
type machineView struct {
	machines observation.Machines
	nodes    map[string]observation.Node
	// sets by UID; deployed are the Machines, and revisions the MachineSets, by the UID of their MachineDeployment.
	sets      map[string]observation.MachineSet
	deployed  map[string][]observation.Machine
	revisions map[string][]observation.MachineSet
	// members are the Machines by the UID of their MachineSet.
	members map[string][]observation.Machine
	// guarded are the UIDs of the MachineDeployments whose minReadySeconds was taken.
	guarded []string
	// joining says by the UID of a MachineDeployment since when its new Machines have had no Node, as it was noted before.
	joining map[string]time.Time
	// joined says of a MachineSet that Machines of it are external.
	joined       map[string]bool
	generation   string
	rolled       []string
	configuredAt time.Time
	// providerID is the form by which the CCM knows a Node.
	providerID *regexp.Regexp
	deadline   time.Duration
	now        time.Time
	// accepted are Nodes that a person vouches for.
	accepted []string
	// initialization is the deadline of a Node, from its registration.
	initialization time.Duration
	// proofsSeen says that what was kept of kubelets could be looked at, or nothing was.
	proofsSeen bool
	// rollback turns the view round: wanted and up-to-date is what is in-tree. startedAt is then when the migration started,
	// before which nothing of it was external, and external the forceRestart value that it rolled by.
	rollback  bool
	startedAt time.Time
	external  string
}

// fleet has the facts as they are now; what is seen does not change within a pass.
func (r *roll) fleet() machineView {
	if r.seen.view == nil {
		r.seen.view = look(r.o, r.now)
	}
	v := *r.seen.view
	v.generation, v.rolled = r.facts.RollGeneration, r.facts.RolledMachineDeployments
	if breaker := r.o.Cluster.Status.Breaker; breaker != nil {
		v.guarded = breaker.Guarded // Not what this pass is about to take.
		v.joining = map[string]time.Time{}
		for _, joining := range breaker.Joining {
			v.joining[joining.UID] = joining.Since.Time
		}
	}
	if r.back() {
		v.turnRound(r.facts)
	} else if r.facts.MachineControllerConfiguredAt != nil {
		v.configuredAt = r.facts.MachineControllerConfiguredAt.Time
	}
	return v
}

func look(o observation.Observation, now time.Time) *machineView {
	machines, _ := o.Machines.Value().Split()
	v := &machineView{
		machines:       machines,
		initialization: observation.InitializationDeadline(o.Cluster),
		nodes:          map[string]observation.Node{},
		accepted:       o.Cluster.Spec.Rollout.AcceptNodes,
		providerID:     o.Provider.Value().ProviderID(),
		deadline:       observation.NodeDeadline(o.Cluster),
		now:            now,
		proofsSeen:     !o.Proofs.IsUnknown(),
	}
	for _, node := range o.Nodes.Value() {
		v.nodes[node.Name] = node
	}
	v.index()
	return v
}

// index: each question about a MachineDeployment would otherwise go through all Machines of the cluster.
func (v *machineView) index() {
	v.sets, v.deployed, v.revisions = map[string]observation.MachineSet{}, map[string][]observation.Machine{},
		map[string][]observation.MachineSet{}
	v.joined, v.members = map[string]bool{}, map[string][]observation.Machine{}
	for _, set := range v.machines.Sets {
		v.sets[set.UID] = set
		v.revisions[set.Deployment] = append(v.revisions[set.Deployment], set)
	}
	for _, sets := range v.revisions {
		slices.SortFunc(sets, func(a, b observation.MachineSet) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, machine := range v.machines.Machines {
		v.joined[machine.Set] = v.joined[machine.Set] || machine.Annotation == "true"
		if set, owned := v.setOf(machine); owned {
			v.deployed[set.Deployment] = append(v.deployed[set.Deployment], machine)
			v.members[set.UID] = append(v.members[set.UID], machine)
		}
	}
}

func (v *machineView) turnRound(facts ucv1.Facts) {
	v.rollback, v.startedAt, v.external = true, facts.StartedAt.Time, facts.RollGeneration
	v.generation, v.rolled = facts.Rollback.RollGeneration, facts.Rollback.RolledMachineDeployments
	if facts.Rollback.MachineControllerRevertedAt != nil {
		v.configuredAt = facts.Rollback.MachineControllerRevertedAt.Time
	}
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

func (v machineView) setOf(machine observation.Machine) (observation.MachineSet, bool) {
	set, found := v.sets[machine.Set]
	return set, found && machine.Set != ""
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

// serves says whether pods can run on a Machine's Node, whatever kubelet it has.
func (v machineView) serves(machine observation.Machine) bool {
	node, found := v.nodes[machine.NodeName]
	return machine.NodeName != "" && found && node.Ready && !node.Uninitialized
}

func (v machineView) initialized(node observation.Node) bool {
	return node.Ready && !node.Uninitialized && v.identifies(node)
}

// identifies says that the CCM can ask the cloud for the machine of a Node.
func (v machineView) identifies(node observation.Node) bool {
	return v.providerID.MatchString(node.ProviderID)
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

// lost is a Node that was initialized and is not Ready any more for longer than a new one may take.
func (v machineView) lost(node observation.Node) bool {
	return v.served(node) && !node.Ready && !node.ReadyChangedAt.IsZero() && v.now.Sub(node.ReadyChangedAt) > v.deadline
}

func (v machineView) machinesOf(deployment observation.MachineDeployment) []observation.Machine {
	return v.deployed[deployment.UID]
}

func (v machineView) setsOf(deployment observation.MachineDeployment) []observation.MachineSet {
	return v.revisions[deployment.UID]
}

// lastMoved is when a MachineDeployment last got a revision or a Machine, or a Machine of it began to go.
// Without a revision of the wanted kind it did not begin yet.
func (v machineView) lastMoved(deployment observation.MachineDeployment) time.Time {
	var last time.Time
	for _, set := range v.setsOf(deployment) {
		if v.wanted(set) && set.CreatedAt.After(last) {
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
	wanted := 0
	for _, machine := range v.machinesOf(deployment) {
		if !machine.Deleting && v.upToDate(machine) {
			wanted++
		}
	}
	return wanted < int(deployment.Replicas)
}

// orphans are outdated Machines that no MachineDeployment can replace.
func (v machineView) orphans() []observation.Machine {
	var orphans []observation.Machine
	for _, machine := range v.machines.Machines {
		set, owned := v.setOf(machine)
		if (!owned || !v.hasDeployment(set)) && !v.upToDate(machine) && !machine.Deleting {
			orphans = append(orphans, machine)
		}
	}
	return orphans
}

// hasDeployment says that the MachineSet's MachineDeployment exists; one that was deleted can roll nothing.
func (v machineView) hasDeployment(set observation.MachineSet) bool {
	return slices.ContainsFunc(v.machines.Deployments, func(d observation.MachineDeployment) bool { return d.UID == set.Deployment })
}

// Irreplaceable are the Machines that are or may become external and that no MachineDeployment can replace.
func Irreplaceable(in In) []observation.Ref {
	view := evaluate(in).fleet()
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
