package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Machines are the machine-controller's objects, and what it does with MachineSets and Machines.
type Machines struct {
	w *World

	deployments []*machineDeployment
	sets        []*machineSet
	all         []*machine
	// bootless: no new Machine gets a Node.
	bootless bool
}

// Nodes of the user cluster.
type Nodes struct {
	w *World

	all []*node
	// joined are the Nodes by the UID of their Machine.
	joined map[string]*node
}

// machineDeployment with the machine-controller's semantics: a Deployment's, with its traps.
type machineDeployment struct {
	name, namespace, uid string
	replicas             int
	paused, deleting     bool
	restart              string
	revision             int
	generation, observed int
	settled              bool
	// surge and unavailable bound its rollout.
	surge, unavailable int
	guard              guard
}

// machineSet is one revision. external is what its operating system configuration was rendered with when it was made;
// it is never rendered again.
type machineSet struct {
	name, uid, deployment string
	restart               string
	revision              int
	replicas              int
	// minReady is its own minReadySeconds; desired and most are the replicas, and replicas with surge, of its MachineDeployment when
	// it was last scaled.
	minReady, desired, most int
	external                bool
	createdAt               time.Time
}

// machine with the truth about its kubelet, which no field of the API object shows.
type machine struct {
	name, namespace, uid, set string
	annotation                string
	external                  bool
	node                      string
	createdAt, deletedAt      time.Time
	stuck                     bool
	// goesFirst is the annotation that has it deleted before others of its MachineSet.
	goesFirst bool
}

// node of the user cluster.
type node struct {
	name, uid, providerID string
	ready, tainted        bool
	// initialized says that the CCM once took its taint away.
	initialized   bool
	initializedAt time.Time
	external      bool
	csi           bool
	instance      bool
	// rewritten says that it shows the addresses that the CCM sees, and not those that its kubelet does.
	rewritten bool
	// seen is a real one as it was observed.
	seen           *observation.Node
	createdAt      time.Time
	notReadyUntil  time.Time
	readyChangedAt time.Time
	machine        string
}

func (m *machine) deleting() bool { return !m.deletedAt.IsZero() }

func makeMachines(w *World) {
	for _, p := range w.scenario.Pools {
		addDeployment(w, p)
	}
	for _, name := range w.scenario.Standalone {
		m := &machine{name: name, namespace: machineNamespace, uid: w.id("machine"), annotation: "false", createdAt: w.now}
		w.machines.all = append(w.machines.all, m)
		w.machines.join(m)
	}
	for _, name := range w.scenario.Strangers {
		w.nodes.add(&node{name: name, uid: w.id("node"), ready: true, providerID: providerIDPrefix + name, createdAt: w.now})
	}
	for _, n := range w.nodes.all {
		n.ready, n.tainted = true, false
	}
}

// addDeployment with all its Machines up: the steady state before the run.
func addDeployment(w *World, p Pool) *machineDeployment {
	namespace := p.Namespace
	if namespace == "" {
		namespace = machineNamespace
	}
	d := &machineDeployment{
		name:        p.Name,
		namespace:   namespace,
		uid:         w.id("md"),
		replicas:    p.Replicas,
		paused:      p.Paused,
		generation:  1,
		observed:    1,
		settled:     true,
		surge:       p.surge(),
		unavailable: p.Unavailable,
	}
	w.machines.deployments = append(w.machines.deployments, d)
	set := w.machines.createSet(d)
	set.replicas = d.replicas
	for range d.replicas {
		w.machines.join(w.machines.create(d, set))
	}
	return d
}

func (ms *Machines) createSet(d *machineDeployment) *machineSet {
	external, running := ms.w.controlPlane.runs("operating-system-manager", "external-cloud-provider")
	set := &machineSet{
		name:       ms.w.id(d.name),
		uid:        ms.w.id("ms"),
		deployment: d.uid,
		restart:    d.restart,
		revision:   d.revision,
		external: external && running &&
			!ms.w.bootstraps.profiled(d),
		createdAt: ms.w.now,
		minReady:  d.guard.minReady,
		desired:   d.replicas,
		most:      d.replicas + d.surge,
	}
	ms.sets = append(ms.sets, set)
	return set
}

func (ms *Machines) create(d *machineDeployment, set *machineSet) *machine {
	stamped, _ := ms.w.controlPlane.runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &machine{
		name: ms.w.id(set.name), namespace: d.namespace, uid: ms.w.id("machine"), set: set.uid, createdAt: ms.w.now,
		annotation: strconv.FormatBool(stamped), external: set.external,
	}
	if ms.w.traits.WithoutOperatingSystemManager {
		m.external = stamped
	}
	ms.all = append(ms.all, m)
	return m
}

// join registers the Node of a Machine: an external kubelet comes with the taint and without a providerID, an in-tree
// one asks the cloud itself.
func (ms *Machines) join(m *machine) {
	n := &node{
		name: "node-" + m.name, uid: ms.w.id("node"), tainted: m.external, external: m.external, instance: true,
		createdAt: ms.w.now, machine: m.uid,
	}
	if !m.external {
		n.providerID = ms.w.provider().ProviderIDPrefix + n.name
	}
	ms.w.nodes.add(n)
	m.node = n.name
}

func (ns *Nodes) add(n *node) {
	ns.all = append(ns.all, n)
	if n.machine != "" {
		ns.joined[n.machine] = n
	}
}

// of is asked of every Machine in every second of the model.
func (ns *Nodes) of(m *machine) *node { return ns.joined[m.uid] }

func (ns *Nodes) deleteOf(m *machine) {
	ns.all = slices.DeleteFunc(ns.all, func(n *node) bool { return n.machine == m.uid })
	delete(ns.joined, m.uid)
}

func (ms *Machines) setOf(m *machine) *machineSet {
	at := slices.IndexFunc(ms.sets, func(s *machineSet) bool { return m.set != "" && s.uid == m.set })
	if at < 0 {
		return nil
	}
	return ms.sets[at]
}

func (ms *Machines) setsOf(d *machineDeployment) []*machineSet {
	return slices.DeleteFunc(slices.Clone(ms.sets), func(s *machineSet) bool { return s.deployment != d.uid })
}

// of are a set's Machines that are not being deleted: that is how the machine-controller counts.
func (ms *Machines) of(s *machineSet) []*machine {
	var machines []*machine
	for _, m := range ms.all {
		if m.set == s.uid && !m.deleting() {
			machines = append(machines, m)
		}
	}
	return machines
}

// available is the machine-controller's notion: a Node that has been Ready for minReadySeconds, whatever taint it carries. A
// hasty world waits for nothing.
func (ms *Machines) available(s *machineSet) int {
	count := 0
	wait := time.Duration(s.minReady) * time.Second
	if ms.w.hasty && s.minReady != rollout.EndlessMinReadySeconds {
		wait = 0
	}
	for _, m := range ms.of(s) {
		if n := ms.w.nodes.of(m); n != nil && n.ready && m.node != "" && ms.w.now.Sub(n.readyChangedAt) >= wait {
			count++
		}
	}
	return count
}

func (d *machineDeployment) current(s *machineSet) bool {
	return s.restart == d.restart && s.revision == d.revision
}

// machineControllerRuns says whether someone reconciles Machines now.
func (cp *ControlPlane) machineControllerRuns() bool {
	_, running := cp.runs("machine-controller", "node-external-cloud-provider")
	return running
}

// version stands for the resourceVersion: whatever is written changes it.
func (d *machineDeployment) version() string { return strconv.Itoa(d.generation) }

func (s *machineSet) version() string { return strconv.Itoa(s.replicas) }

// atOnce is how much of something is done in one step: a hasty world does all of it.
func (w *World) atOnce(few, all int) int {
	if w.hasty {
		return all
	}
	return few
}
