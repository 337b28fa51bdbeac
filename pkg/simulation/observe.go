package simulation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// Controller is the controller's process in the world: what it remembers is lost when it is killed.
type Controller struct {
	world   *World
	leases  map[string]watched
	nodes   map[string]watched
	pending *pass
	// seen is the inventory of the last look.
	seen      observation.Inventory
	passes    int
	downUntil time.Time
	// watcher of new Nodes.
	watcher slo.Watcher
	// former are the processes that a watch of pods showed, by the ID of their container.
	former map[string]observation.Process
	// kubelets are the proofs that were seen, by the UID of their Node.
	kubelets map[string]observation.Proof
}

// watched is what a watch of an object that is renewed tells on our clock.
type watched struct {
	// since we have been looking, value was last seen to change, and has been renewed without a gap since steady.
	since, value, changed, steady time.Time
	// version was seen last, holder since held; zero: since before we look.
	version, holder string
	held            time.Time
}

// kubeletGap is how long a kubelet may be silent without counting as having been away.
const kubeletGap = 10 * time.Second

// NewController that has just started.
func NewController(w *World) *Controller {
	return &Controller{
		world:    w,
		leases:   map[string]watched{},
		nodes:    map[string]watched{},
		kubelets: map[string]observation.Proof{},
		former:   map[string]observation.Process{},
	}
}

// Observe reads the world as the controllers do, three-valued; by chance it cannot look at something.
func (c *Controller) Observe() observation.Observation {
	o := c.modelled()
	w := c.world
	if w.real != nil {
		w.real.complete(&o)
	}
	w.hooks.Looks(&o)
	o.Nodes = baseline.WithProofs(o.Nodes, o.Proofs)
	if handover := o.Cluster.Status.Handover.DeepCopy(); handover != nil {
		o.Processes = handover.Processes
	}
	if controlPlane, known := o.ControlPlane.Get(); known {
		o.InTree = observation.Known(controlPlane.KCM)
		c.seeEnds(o.Processes)
	}
	c.seen = o.Inventory.Value()
	return o
}

// modelled is what the model has of everything.
func (c *Controller) modelled() observation.Observation {
	w := c.world
	cluster := *w.cluster
	o := observation.Observation{
		Cluster:    &cluster,
		Contenders: observation.Absent[[]string](),
		Record:     w.observeRecord(),
		Keeper:     observation.Known(w.keeper()),

		NamespaceTerminating: observation.Known(false),

		Provider:          observation.Known(w.provider()),
		CloudConfig:       observation.Known(observation.CloudConfig{Version: w.ccm.cloudConfig}),
		Connection:        observation.Connection{Reachable: true, Reason: ucv1.ReachableReason},
		MachineController: observation.Known(w.controlPlane.observeMachineController()),
		ControlPlane:      observation.Known(c.observeControlPlane()),
		Addons:            observation.Known(w.addons.observe()),
		Probe:             c.observeProbe(),
		Fence:             observation.Known(w.leases.observeFence()),
		KCMLease:          c.observeLease(kcmName, w.leases.kcm),
		CCMLease:          c.observeLease(ccmLeaseName, w.leases.ccm),
		KCMLeaseRight:     w.leases.observeRight(),
		CCMProcesses:      observation.Known(c.observeCCMProcesses()),
		Lock:              c.observeLock(),
		Machines:          w.machines.observe(),
		Nodes:             observation.Known(c.observeNodes()),
		Inventory:         w.storage.observeInventory(),
		Baseline:          observation.Absent[observation.Inventory](),
		Proofs:            observation.Absent[observation.KeptProofs](),
		ForeignCCMs:       observation.Known(w.ccm.observeOthers()),
		StorageClasses:    observation.Known(w.storage.observeClasses()),
		Findings:          observation.Known(w.observeFindings()),
		Canary:            observation.Known(w.canary.observe()),
		Drains:            observation.Known(w.machines.observeDrains()),
		Measured:          c.measure(),
	}
	if migration.NeedsOf(&cluster, w.provider(), w.now).Undo {
		o.CCMPods, o.Attachments = observation.Known(w.ccm.observePods()), observation.Known(w.storage.attachments)
	}
	if w.baseline != nil {
		o.Baseline, o.Proofs = observation.Known(*w.baseline), observation.Known(w.observeProofs())
	}
	o.Bootstraps = w.bootstraps.observe(rollout.BootstrapsOf(o, w.now))
	o.Registered = observation.Known(w.storage.observeRegistered(o.Inventory.Value()))
	o.Gone = observation.Known(w.storage.observeGone(baseline.MissingOf(o.Baseline, o.Inventory)))
	return o
}

// FactNames are the facts of an observation that can be unknown.
func FactNames() []string {
	return []string{
		"Contenders",
		"Record",
		"Keeper",
		"NamespaceTerminating",
		"Provider",
		"CloudConfig",
		"ControlPlane",
		"MachineController",
		"Addons",
		"Probe",
		"Fence",
		"KCMLease",
		"CCMLease",
		"CCMProcesses",
		"KCMLeaseRight",
		"Lock",
		"Machines",
		"Nodes",
		"Inventory",
		"Baseline",
		"Proofs",
		"CCMPods",
		"Attachments",
		"OtherManagers",
		"StorageClasses",
		"Findings",
		"Canary",
		"Drains",
		"Measured",
		"Gone",
		"Bootstraps",
	}
}

// Forget makes a fact one that could not be looked at.
func Forget(o *observation.Observation, fact string) {
	forget := map[string]func(){
		"Contenders":        func() { blank(&o.Contenders) },
		"Record":            func() { blank(&o.Record) },
		"Keeper":            func() { blank(&o.Keeper) },
		"Provider":          func() { blank(&o.Provider) },
		"CloudConfig":       func() { blank(&o.CloudConfig) },
		"ControlPlane":      func() { blank(&o.ControlPlane) },
		"MachineController": func() { blank(&o.MachineController) },
		"Addons":            func() { blank(&o.Addons) },
		"Probe":             func() { blank(&o.Probe) },
		"Fence":             func() { blank(&o.Fence) },
		"KCMLease":          func() { blank(&o.KCMLease) },
		"CCMLease":          func() { blank(&o.CCMLease) },
		"CCMProcesses":      func() { blank(&o.CCMProcesses) },
		"KCMLeaseRight":     func() { blank(&o.KCMLeaseRight) },
		"Lock":              func() { blank(&o.Lock) },
		"Machines":          func() { blank(&o.Machines) },
		"Nodes":             func() { blank(&o.Nodes) },
		"Inventory":         func() { blank(&o.Inventory) },
		"Baseline":          func() { blank(&o.Baseline) },
		"Proofs":            func() { blank(&o.Proofs) },
		"CCMPods":           func() { blank(&o.CCMPods) },
		"Attachments":       func() { blank(&o.Attachments) },
		"OtherManagers":     func() { blank(&o.ForeignCCMs) },
		"StorageClasses":    func() { blank(&o.StorageClasses) },
		"Findings":          func() { blank(&o.Findings) },
		"Canary":            func() { blank(&o.Canary) },
		"Drains":            func() { blank(&o.Drains) },
		"Measured":          func() { blank(&o.Measured) },
		"Gone":              func() { blank(&o.Gone) },
		"Bootstraps":        func() { blank(&o.Bootstraps) },

		"NamespaceTerminating": func() { blank(&o.NamespaceTerminating) },
	}
	forget[fact]()
}

func blank[T any](fact *observation.Observed[T]) { *fact = observation.Unknown[T]("timeout") }

func (w *World) provider() observation.Provider {
	if w.real != nil {
		return w.real.Observation.Provider.Value()
	}
	return observation.Provider{
		Name:                    "simcloud",
		CanMigrate:              true,
		LastInTreeMinor:         30,
		InTreeName:              "simcloud",
		ProviderIDPrefix:        providerIDPrefix,
		CSIDrivers:              []string{csiDriver},
		MigrationGates:          w.traits.Gates,
		SharesLoadBalancerNames: true,
		CloudNodeLater:          w.traits.CloudNodeLater,
		RegisteredBy:            w.traits.RegisteredBy,
		DefaultClass:            observation.DefaultClass{Name: csiClass, Plugin: InTreePlugin},
	}
}

func (c *Controller) observeControlPlane() observation.ControlPlane {
	w := c.world
	if w.controlPlane.kcm() == nil {
		return observation.ControlPlane{}
	}
	controlPlane := observation.ControlPlane{
		KCM:             w.controlPlane.observe(w.controlPlane.kcm()),
		ManagementNodes: map[string]observation.ManagementNode{},
	}
	c.seeKCM(&controlPlane.KCM)
	w.controlPlane.observeBeside(&controlPlane)
	for _, n := range w.controlPlane.hosts {
		seen := watch(c.nodes, n.name, n.renewed, w.now)
		controlPlane.ManagementNodes[n.name] = observation.ManagementNode{BootID: n.bootID, LeaseRenewed: seen.changed}
	}
	return controlPlane
}

// watch notes on our clock when the value of an object was seen to change.
func watch(memory map[string]watched, name string, value, now time.Time) watched {
	seen, found := memory[name]
	switch {
	case !found:
		seen = watched{since: now, value: value}
	case !seen.value.Equal(value):
		if seen.changed.IsZero() || now.Sub(seen.changed) > kubeletGap {
			seen.steady = now
		}
		seen.value, seen.changed = value, now
	}
	memory[name] = seen
	return seen
}

// seeEnds is what a Hosted control plane shows of a recorded process: its pod's container status, or, for a pod that
// vanished, a kubelet that went on for long enough.
func (c *Controller) seeEnds(processes []ucv1.ManagerProcess) {
	w := c.world
	for i := range processes {
		p := &processes[i]
		if p.EndedAt != nil {
			continue
		}
		at := slices.IndexFunc(w.controlPlane.kcm().pods, func(other *pod) bool { return other.uid == p.PodUID })
		switch {
		case at >= 0 && w.controlPlane.kcm().pods[at].ended():
			p.EndedAt, p.EndedBecause = w.micro(), "its container terminated"
		case at >= 0:
		case p.VanishedAt == nil:
			p.VanishedAt = w.micro()
		case c.outlived(p):
			p.EndedAt, p.EndedBecause = w.micro(), "its kubelet outlived it"
		case slices.Contains(w.cluster.Spec.Handover.AcceptLostManagers, p.PodName):
			p.EndedAt, p.EndedBecause = w.micro(), "accepted by a person"
		}
	}
}

func (c *Controller) outlived(p *ucv1.ManagerProcess) bool {
	seen := c.nodes[p.NodeName]
	from := p.VanishedAt.Time
	if seen.steady.After(from) {
		from = seen.steady
	}
	wait := time.Duration(p.GracePeriodSeconds+30) * time.Second
	at := slices.IndexFunc(c.world.controlPlane.hosts, func(n *managementNode) bool { return n.name == p.NodeName })
	return at >= 0 && c.world.controlPlane.hosts[at].bootID == p.BootID && !seen.steady.IsZero() && seen.changed.Sub(from) >= wait
}

func (w *World) micro() *metav1.MicroTime {
	t := metav1.NewMicroTime(w.now)
	return &t
}

func (cp *ControlPlane) observe(d *workload) observation.Component {
	component := observation.Component{
		Ref:        observation.Ref{Kind: "Deployment", Namespace: cp.w.cluster.Namespace, Name: d.name, UID: d.uid},
		Container:  d.container,
		Arguments:  observation.Arguments{Flags: d.arguments},
		Replicas:   int32(d.replicas),
		FieldOwner: d.fieldOwner,
	}
	if d.real != nil {
		component = *d.real
		component.Arguments.Flags, component.Pods = d.arguments, nil
	}
	serving, old := 0, 0
	for _, p := range d.pods {
		component.Pods = append(component.Pods, cp.observePod(p))
		if p.generation != d.generation {
			old++
		}
		if p.ready() {
			serving++
		}
	}
	component.RolledOut = d.observed == d.generation && old == 0 && serving >= d.replicas
	return component
}

func (cp *ControlPlane) observePod(p *pod) observation.Process {
	process := observation.Process{
		PodName: p.name, PodUID: p.uid, NodeName: p.node, Arguments: observation.Arguments{Flags: p.arguments},
		GracePeriodSeconds: int64(gracePeriod / time.Second),
	}
	if p.real != nil {
		process = *p.real
	}
	process.Terminating, process.Ready, process.Ended, process.DeletionCost = p.terminating(), p.ready(), p.ended(), p.cost
	for _, n := range cp.hosts {
		if n.name == p.node {
			process.BootID = n.bootID
		}
	}
	if p.process != nil {
		process.ContainerID, process.StartedAt, process.Started = p.process.id, p.process.startedAt, true
	}
	return process
}

func (c *Controller) observeLease(name string, l lease) observation.Observed[observation.Lease] {
	if l == (lease{}) {
		return observation.Absent[observation.Lease]()
	}
	w := c.world
	before, looked := c.leases[name]
	seen := watch(c.leases, name, l.renewed, w.now)
	if looked && before.version != l.version() {
		seen.changed = w.now
	}
	if looked && before.holder != l.holder {
		seen.held = w.now
	}
	seen.version, seen.holder = l.version(), l.holder
	c.leases[name] = seen
	return observation.Known(observation.Lease{
		Ref:    w.leases.ref(name),
		Holder: l.holder, DurationSeconds: int32(leaseDuration / time.Second), AcquireTime: l.acquired, RenewTime: l.renewed,
		ChangedAt: seen.changed, WatchedAt: seen.since, RenewedBy: l.renewed,
		HeldSince: seen.held, Version: seen.version,
	})
}
