package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// machineDeployment with the machine-controller's semantics: a Deployment's, with its traps.
type machineDeployment struct {
	name, namespace, uid string
	replicas             int
	paused, deleting     bool
	restart              string
	revision             int
	generation, observed int
	complete             bool
}

// machineSet is one revision. external is what its operating system configuration was rendered with when it was made;
// it is never rendered again.
type machineSet struct {
	name, uid, deployment string
	restart               string
	revision              int
	replicas              int
	external              bool
	createdAt             time.Time
}

// machine with the truth about its kubelet, which no field of the API object shows.
type machine struct {
	name, namespace, uid, set string
	annotation                string
	external                  bool
	node                      string
	createdAt, deletedAt      time.Time
	stuck                     bool
}

// node of the user cluster.
type node struct {
	name, uid, providerID string
	ready, tainted        bool
	external              bool
	csi                   bool
	instance              bool
	// rewritten says that it shows the addresses that the CCM sees, and not those that its kubelet does.
	rewritten     bool
	createdAt     time.Time
	notReadyUntil time.Time
	machine       string
}

func (m *machine) deleting() bool { return !m.deletedAt.IsZero() }

func (w *World) makeMachines() {
	for _, p := range w.scenario.Pools {
		w.addDeployment(p)
	}
	for _, name := range w.scenario.Standalone {
		m := &machine{name: name, namespace: machineNamespace, uid: w.id("machine"), annotation: "false", createdAt: w.now}
		w.machines = append(w.machines, m)
		w.join(m)
	}
	for _, name := range w.scenario.Strangers {
		w.nodes = append(w.nodes, &node{name: name, uid: w.id("node"), ready: true, providerID: providerIDPrefix + name, createdAt: w.now})
	}
	for _, n := range w.nodes {
		n.ready, n.tainted = true, false
	}
}

// addDeployment with all its Machines up: the steady state before the run.
func (w *World) addDeployment(p Pool) *machineDeployment {
	namespace := p.Namespace
	if namespace == "" {
		namespace = machineNamespace
	}
	d := &machineDeployment{
		name: p.Name, namespace: namespace, uid: w.id("md"), replicas: p.Replicas, paused: p.Paused, generation: 1, observed: 1, complete: true,
	}
	w.deployments = append(w.deployments, d)
	set := w.createSet(d)
	set.replicas = d.replicas
	for range d.replicas {
		w.join(w.createMachine(d, set))
	}
	return d
}

func (w *World) createSet(d *machineDeployment) *machineSet {
	external, running := w.runs("operating-system-manager", "external-cloud-provider")
	set := &machineSet{
		name: w.id(d.name), uid: w.id("ms"), deployment: d.uid, restart: d.restart, revision: d.revision,
		external: external && running, createdAt: w.now,
	}
	w.sets = append(w.sets, set)
	return set
}

func (w *World) createMachine(d *machineDeployment, set *machineSet) *machine {
	stamped, _ := w.runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &machine{
		name: w.id(set.name), namespace: d.namespace, uid: w.id("machine"), set: set.uid, createdAt: w.now,
		annotation: strconv.FormatBool(stamped), external: set.external,
	}
	if w.scenario.WithoutOperatingSystemManager {
		m.external = stamped
	}
	w.machines = append(w.machines, m)
	return m
}

// join registers the Node of a Machine: an external kubelet comes with the taint and without a providerID, an in-tree
// one asks the cloud itself.
func (w *World) join(m *machine) {
	n := &node{
		name: "node-" + m.name, uid: w.id("node"), tainted: m.external, external: m.external, instance: true,
		createdAt: w.now, machine: m.uid,
	}
	if !m.external {
		n.providerID = providerIDPrefix + n.name
	}
	w.nodes = append(w.nodes, n)
	m.node = n.name
}

func (w *World) nodeOf(m *machine) *node {
	at := slices.IndexFunc(w.nodes, func(n *node) bool { return n.machine == m.uid })
	if at < 0 {
		return nil
	}
	return w.nodes[at]
}

func (w *World) setOf(m *machine) *machineSet {
	at := slices.IndexFunc(w.sets, func(s *machineSet) bool { return m.set != "" && s.uid == m.set })
	if at < 0 {
		return nil
	}
	return w.sets[at]
}

func (w *World) setsOf(d *machineDeployment) []*machineSet {
	return slices.DeleteFunc(slices.Clone(w.sets), func(s *machineSet) bool { return s.deployment != d.uid })
}

// machinesOf are a set's Machines that are not being deleted: that is how the machine-controller counts.
func (w *World) machinesOf(s *machineSet) []*machine {
	return slices.DeleteFunc(slices.Clone(w.machines), func(m *machine) bool { return m.set != s.uid || m.deleting() })
}

// available is the machine-controller's notion: a Ready Node, whatever taint it carries.
func (w *World) available(s *machineSet) int {
	count := 0
	for _, m := range w.machinesOf(s) {
		if n := w.nodeOf(m); n != nil && n.ready && m.node != "" {
			count++
		}
	}
	return count
}

func (d *machineDeployment) current(s *machineSet) bool {
	return s.restart == d.restart && s.revision == d.revision
}

// machineControllerRuns says whether somebody reconciles Machines now.
func (w *World) machineControllerRuns() bool {
	_, running := w.runs("machine-controller", "node-external-cloud-provider")
	return running
}

// stepMachineDeployments rolls: one surge Machine, none unavailable.
func (w *World) stepMachineDeployments() {
	if !w.machineControllerRuns() {
		return
	}
	for _, d := range slices.Clone(w.deployments) {
		d.observed = d.generation
		switch {
		case d.deleting:
			w.deleteDeployment(d)
		case d.paused:
			w.scalePaused(d)
		default:
			w.rollDeployment(d)
		}
		w.reportDeployment(d)
	}
}

func (w *World) deleteDeployment(d *machineDeployment) {
	left := 0
	for _, s := range w.setsOf(d) {
		s.replicas = 0
		left += len(slices.DeleteFunc(slices.Clone(w.machines), func(m *machine) bool { return m.set != s.uid }))
	}
	if left == 0 {
		w.sets = slices.DeleteFunc(w.sets, func(s *machineSet) bool { return s.deployment == d.uid })
		w.deployments = slices.DeleteFunc(w.deployments, func(other *machineDeployment) bool { return other == d })
	}
}

// scalePaused changes the newest set only: a paused MachineDeployment that is scaled up makes Machines of the old one.
func (w *World) scalePaused(d *machineDeployment) {
	sets := w.setsOf(d)
	newest := sets[len(sets)-1]
	total := 0
	for _, s := range sets {
		total += s.replicas
	}
	newest.replicas = max(0, newest.replicas+d.replicas-total)
}

func (w *World) rollDeployment(d *machineDeployment) {
	sets := w.setsOf(d)
	at := slices.IndexFunc(sets, d.current)
	if at < 0 {
		// Without operating-system-manager there is no bootstrap configuration, and the machine-controller waits for it.
		if _, running := w.runs("operating-system-manager", "external-cloud-provider"); running || w.scenario.WithoutOperatingSystemManager {
			w.createSet(d)
		}
		return
	}
	set := sets[at]
	total, available := 0, 0
	for _, s := range sets {
		total += s.replicas
		available += w.available(s)
	}
	switch {
	case set.replicas < d.replicas && total <= d.replicas:
		set.replicas += max(1, d.replicas-total)
	case set.replicas > d.replicas:
		set.replicas = d.replicas
	case total > d.replicas && available > d.replicas:
		w.scaleDownOld(sets, set)
	}
	w.pruneSets(sets, set)
}

func (w *World) scaleDownOld(sets []*machineSet, keep *machineSet) {
	for _, s := range sets {
		if s != keep && s.replicas > 0 {
			s.replicas--
			return
		}
	}
}

// pruneSets keeps one old revision, as revisionHistoryLimit does by default.
func (w *World) pruneSets(sets []*machineSet, keep *machineSet) {
	old := slices.DeleteFunc(slices.Clone(sets), func(s *machineSet) bool {
		return s == keep || slices.ContainsFunc(w.machines, func(m *machine) bool { return m.set == s.uid })
	})
	if len(old) > 1 {
		w.sets = slices.DeleteFunc(w.sets, func(s *machineSet) bool { return s == old[0] })
	}
}

// reportDeployment writes the status, which does not count Machines that are being deleted.
func (w *World) reportDeployment(d *machineDeployment) {
	updated, total, available := 0, 0, 0
	for _, s := range w.setsOf(d) {
		count := len(w.machinesOf(s))
		total += count
		available += w.available(s)
		if d.current(s) {
			updated += count
		}
	}
	d.complete = updated == d.replicas && total == d.replicas && available == d.replicas
}

func (d *machineDeployment) ref() migration.Ref {
	return migration.Ref{Kind: "MachineDeployment", Namespace: d.namespace, Name: d.name, UID: d.uid}
}
