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

	Deployments []*MachineDeployment
	Sets        []*MachineSet
	All         []*Machine
	// Bootless: no new Machine gets a Node.
	Bootless bool
	// worker is the machine-controller that looked at everything last, at listedAt; events are those of Nodes that it has seen.
	worker   string
	listedAt time.Time
	events   int
}

// Nodes of the user cluster.
type Nodes struct {
	w *World

	All []*Node
	// joined are the Nodes by the UID of their Machine.
	joined map[string]*Node
	// events counts what happened to Nodes that no Machine names: that they came, and that Ready changed.
	events int
}

// MachineDeployment with the machine-controller's semantics: a Deployment's, with its traps.
type MachineDeployment struct {
	Name, Namespace, UID string
	Replicas             int
	Paused, Deleting     bool
	// Annotated says that an annotation of it changed, which its MachineSet does not have yet.
	Annotated bool
	// Foreground says that it is deleted after what it has, and not before.
	Foreground bool
	deletedAt  time.Time
	// cleaned says that the operating-system-manager took its finalizer away.
	cleaned              bool
	Restart              string
	Revision             int
	Generation, Observed int
	Settled              bool
	// Surge and unavailable bound its rollout.
	Surge, Unavailable int
	Guard              Guard
	Webhook            Webhook
}

// MachineSet is one revision. External is what its operating system configuration was rendered with.
type MachineSet struct {
	Name, UID, Deployment string
	namespace             string
	Restart               string
	Revision              int
	Replicas              int
	// minReady is its own minReadySeconds; desired and most are the replicas, and replicas with surge, of its MachineDeployment when
	// it was last scaled.
	minReady, desired, most int
	External                bool
	ofCanary                bool
	CreatedAt               time.Time
	// available and ready are its status, which is as old as the last look at it.
	available, ready int
	seen             wakes
	lookAt           time.Time
}

// Machine with the truth about its kubelet, which no field of the API object shows.
type Machine struct {
	Name, Namespace, UID, Set string
	Annotation                string
	External                  bool
	Node                      string
	CreatedAt, deletedAt      time.Time
	Stuck                     bool
	// GoesFirst is the annotation that has it deleted before others of its MachineSet, SkipsEviction that of its Node by which
	// nothing is drained.
	GoesFirst, SkipsEviction bool
	// readied says that it has the condition Ready, and followed when its Node's Ready changed last that was looked at.
	readied  bool
	followed time.Time
	// lookAt is when it is looked at again.
	lookAt time.Time
}

// Node of the user cluster.
type Node struct {
	Name, UID, ProviderID string
	Ready, Tainted        bool
	// Initialized says that the CCM once took its taint away.
	Initialized   bool
	initializedAt time.Time
	External      bool
	CSI           bool
	instance      bool
	// labeled says that it has what its Machine wants of it.
	labeled bool
	// rewritten says that it shows the addresses that the CCM sees, and not those that its kubelet does.
	rewritten bool
	// seen is a real one as it was observed.
	seen           *observation.Node
	CreatedAt      time.Time
	NotReadyUntil  time.Time
	readyChangedAt time.Time
	Machine        string
}

// Deleting says that it goes.
func (m *Machine) Deleting() bool { return !m.deletedAt.IsZero() }

// CreateSet makes the MachineSet of the present revision, without Machines.
func (ms *Machines) CreateSet(d *MachineDeployment) *MachineSet {
	external, running := ms.w.ControlPlane.Runs("operating-system-manager", "external-cloud-provider")
	set := &MachineSet{
		Name:       ms.w.ID(d.Name),
		UID:        ms.w.ID("ms"),
		Deployment: d.UID,
		namespace:  d.Namespace,
		Restart:    d.Restart,
		Revision:   d.Revision,
		External: external && running &&
			!ms.w.Bootstraps.profiled(d),
		ofCanary: d.Guard.Canary, CreatedAt: ms.w.Now,
		minReady: d.Guard.MinReady,
		desired:  d.Replicas,
		most:     d.Replicas + d.Surge,
	}
	ms.Sets = append(ms.Sets, set)
	return set
}

// Create a Machine, without a Node.
func (ms *Machines) Create(d *MachineDeployment, set *MachineSet) *Machine {
	stamped, _ := ms.w.ControlPlane.Runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &Machine{
		Name: ms.w.ID(set.Name), Namespace: d.Namespace, UID: ms.w.ID("machine"), Set: set.UID, CreatedAt: ms.w.Now,
		Annotation: strconv.FormatBool(stamped), External: set.External,
	}
	if ms.w.Traits.WithoutOperatingSystemManager {
		m.External = stamped
	}
	ms.All = append(ms.All, m)
	return m
}

// Join registers the Node of a Machine: an external kubelet comes with the taint and without a providerID, an in-tree
// one asks the cloud itself.
func (ms *Machines) Join(m *Machine) {
	n := &Node{
		Name: "node-" + m.Name, UID: ms.w.ID("node"), Tainted: m.External, External: m.External, instance: true,
		CreatedAt: ms.w.Now, Machine: m.UID,
	}
	if !m.External {
		n.ProviderID = ms.w.Provider().ProviderIDPrefix + n.Name
	}
	ms.w.Nodes.Add(n)
	m.Node = n.Name
}

// Add a Node.
func (ns *Nodes) Add(n *Node) {
	ns.All, ns.events = append(ns.All, n), ns.events+1
	if n.Machine != "" {
		ns.joined[n.Machine] = n
	}
}

// Of is asked of every Machine in every second of the model.
func (ns *Nodes) Of(m *Machine) *Node { return ns.joined[m.UID] }

func (ns *Nodes) deleteOf(m *Machine) {
	ns.All = slices.DeleteFunc(ns.All, func(n *Node) bool { return n.Machine == m.UID })
	delete(ns.joined, m.UID)
}

// SetOf is nil for a Machine that stands alone.
func (ms *Machines) SetOf(m *Machine) *MachineSet {
	at := slices.IndexFunc(ms.Sets, func(s *MachineSet) bool { return m.Set != "" && s.UID == m.Set })
	if at < 0 {
		return nil
	}
	return ms.Sets[at]
}

// SetsOf are the revisions of a MachineDeployment, the oldest first.
func (ms *Machines) SetsOf(d *MachineDeployment) []*MachineSet {
	return slices.DeleteFunc(slices.Clone(ms.Sets), func(s *MachineSet) bool { return s.Deployment != d.UID })
}

// Of are a set's Machines that are not being deleted: that is how the machine-controller counts.
func (ms *Machines) Of(s *MachineSet) []*Machine {
	var machines []*Machine
	for _, m := range ms.All {
		if m.Set == s.UID && !m.Deleting() {
			machines = append(machines, m)
		}
	}
	return machines
}

// count is the machine-controller's notion: a Node that has been Ready for minReadySeconds is available, whatever its taints are.
// A hasty world waits for nothing.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/status.go#L173 (isNodeAvailable)
func (ms *Machines) count(s *MachineSet) (ready, available int) {
	wait := time.Duration(s.minReady) * time.Second
	if ms.w.hasty && s.minReady != rollout.EndlessMinReadySeconds {
		wait = 0
	}
	for _, m := range ms.Of(s) {
		if n := ms.w.Nodes.Of(m); n != nil && n.Ready && m.Node != "" {
			ready++
			if ms.w.Now.Sub(n.readyChangedAt) >= wait {
				available++
			}
		}
	}
	return ready, available
}

// available is the status of a MachineSet.
func (ms *Machines) available(s *MachineSet) int {
	if ms.w.hasty {
		_, now := ms.count(s)
		return now
	}
	return s.available
}

// Current says that a MachineSet is of its newest template.
func (d *MachineDeployment) Current(s *MachineSet) bool {
	return s.Restart == d.Restart && s.Revision == d.Revision
}

// machineControllerRuns says whether someone reconciles Machines now.
func (cp *ControlPlane) machineControllerRuns() bool {
	_, running := cp.Runs("machine-controller", "node-external-cloud-provider")
	return running
}

// version stands for the resourceVersion: whatever is written changes it.
func (d *MachineDeployment) version() string { return strconv.Itoa(d.Generation) }

func (s *MachineSet) version() string { return strconv.Itoa(s.Replicas) }

// atOnce is how much of something is done in one step: a hasty world does all of it.
func (w *World) atOnce(few, all int) int {
	if w.hasty {
		return all
	}
	return few
}
