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
	world  *World
	leases map[string]watched
	nodes  map[string]watched
	// seen is the inventory of the last look.
	seen observation.Inventory
	// watcher of new Nodes.
	watcher slo.Watcher
	// former are the processes that a watch of pods showed, by the ID of their container.
	former map[string]observation.Process
	// kubelets are the proofs that were seen, by the UID of their Node.
	kubelets map[string]observation.Proof
	// refusals of writes, by the UID of the MachineDeployment that they are about.
	refusals map[string]refusal
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
		refusals: map[string]refusal{},
	}
}

// Observe reads the world as the controllers do, three-valued; what cannot be looked at is for a test to say.
func (c *Controller) Observe() observation.Observation {
	o := c.modelled()
	w := c.world
	if w.real != nil {
		w.real.complete(&o)
	}
	w.Hooks.Fate.Looks(&o)
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
	cluster := *w.Cluster
	o := observation.Observation{
		Turn:       observation.Absent[observation.Turn](),
		Cluster:    &cluster,
		Contenders: observation.Absent[[]string](),
		Record:     w.observeRecord(),
		Keeper:     observation.Known(w.keeper()),

		NamespaceTerminating: observation.Known(false),

		Provider:          observation.Known(w.Provider()),
		CloudConfig:       observation.Known(observation.CloudConfig{Version: w.CCM.CloudConfig}),
		Connection:        observation.Connection{Reachable: true, Reason: ucv1.ReachableReason},
		MachineController: observation.Known(w.ControlPlane.observeMachineController()),
		ControlPlane:      observation.Known(c.observeControlPlane()),
		Addons:            observation.Known(w.Addons.Observe()),
		Probe:             c.observeProbe(),
		Fence:             observation.Known(w.Leases.ObserveFence()),
		KCMLease:          c.observeLease(KCMName, w.Leases.KCM),
		CCMLease:          c.observeLease(ccmLeaseName, w.Leases.CCM),
		KCMLeaseRight:     w.Leases.observeRight(),
		CCMProcesses:      observation.Known(c.observeCCMProcesses()),
		Lock:              c.observeLock(),
		Machines:          c.observeMachines(),
		Nodes:             observation.Known(c.observeNodes()),
		Inventory:         w.Storage.observeInventory(),
		Baseline:          observation.Absent[observation.Inventory](),
		Proofs:            observation.Absent[observation.KeptProofs](),
		ForeignCCMs:       observation.Known(w.CCM.observeOthers()),
		StorageClasses:    observation.Known(w.Storage.observeClasses()),
		Findings:          observation.Known(w.observeFindings()),
		Canary:            observation.Known(w.Canary.observe()),
		Drains:            observation.Known(w.Machines.observeDrains()),
		Measured:          c.measure(),
		ServerVersion:     w.APIServers.observeVersion(),
	}
	if migration.NeedsOf(&cluster, w.Provider(), w.Now).Rollback {
		o.CCMPods, o.Attachments = observation.Known(w.CCM.observePods()), observation.Known(w.Storage.Attachments)
	}
	if w.Baseline != nil {
		o.Baseline, o.Proofs = observation.Known(*w.Baseline), observation.Known(w.observeProofs())
	}
	o.OldLoadBalancers = w.Cloud.OldNames.observe(w, o)
	o.Bootstraps = w.Bootstraps.observe(rollout.BootstrapsOf(o, w.Now))
	o.Registered = observation.Known(w.Storage.observeRegistered(o.Inventory.Value()))
	o.Gone = observation.Known(w.Storage.observeGone(baseline.MissingOf(o.Baseline, o.Inventory)))
	return o
}

// Provider is the catalogue's.
func (w *World) Provider() observation.Provider {
	if w.real != nil {
		return w.real.Observation.Provider.Value()
	}
	provider := observation.Provider{
		Name:                    "simcloud",
		CanMigrate:              true,
		LastInTreeMinor:         30,
		InTreeName:              "simcloud",
		ProviderIDPrefix:        ProviderIDPrefix,
		CSIDrivers:              []string{CSIDriver},
		MigrationGates:          w.Traits.Gates,
		SharesLoadBalancerNames: true,
		CloudNodeLater:          w.Traits.CloudNodeLater,
		RegisteredBy:            w.Traits.RegisteredBy,
		DefaultClass:            observation.DefaultClass{Name: CSIClass, Plugin: InTreePlugin},
	}
	if w.Traits.OldLoadBalancers {
		provider.SharesLoadBalancerNames, provider.LoadBalancerNames = false, balancerNames
	}
	return provider
}

func (c *Controller) observeControlPlane() observation.ControlPlane {
	w := c.world
	if w.ControlPlane.KCM() == nil {
		return observation.ControlPlane{}
	}
	controlPlane := observation.ControlPlane{
		KCM:             w.ControlPlane.observe(w.ControlPlane.KCM()),
		ManagementNodes: map[string]observation.ManagementNode{},
	}
	c.seeKCM(&controlPlane.KCM)
	w.ControlPlane.observeBeside(&controlPlane)
	for _, n := range w.ControlPlane.Hosts {
		seen := watch(c.nodes, n.Name, n.Renewed, w.Now)
		controlPlane.ManagementNodes[n.Name] = observation.ManagementNode{BootID: n.BootID, LeaseRenewed: seen.changed}
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
		at := slices.IndexFunc(w.ControlPlane.KCM().Pods, func(other *Pod) bool { return other.UID == p.PodUID })
		switch {
		case at >= 0 && w.ControlPlane.KCM().Pods[at].ended():
			p.EndedAt, p.EndedBecause = w.micro(), "its container terminated"
		case at >= 0:
		case p.VanishedAt == nil:
			p.VanishedAt = w.micro()
		case c.outlived(p):
			p.EndedAt, p.EndedBecause = w.micro(), "its kubelet outlived it"
		case slices.Contains(w.Cluster.Spec.Handover.AcceptLostManagers, p.PodName):
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
	at := slices.IndexFunc(c.world.ControlPlane.Hosts, func(n *ManagementNode) bool { return n.Name == p.NodeName })
	return at >= 0 && c.world.ControlPlane.Hosts[at].BootID == p.BootID && !seen.steady.IsZero() && seen.changed.Sub(from) >= wait
}

func (w *World) micro() *metav1.MicroTime {
	t := metav1.NewMicroTime(w.Now)
	return &t
}

func (cp *ControlPlane) observe(d *Workload) observation.Component {
	component := observation.Component{
		Ref:        observation.Ref{Kind: "Deployment", Namespace: cp.w.Cluster.Namespace, Name: d.Name, UID: d.UID},
		Container:  d.container,
		Arguments:  observation.Arguments{Flags: d.Arguments},
		Replicas:   int32(d.replicas),
		FieldOwner: d.FieldOwner,
	}
	if d.real != nil {
		component = *d.real
		component.Arguments.Flags, component.Pods = d.Arguments, nil
	}
	serving, old := 0, 0
	for _, p := range d.Pods {
		component.Pods = append(component.Pods, cp.observePod(p))
		if p.Generation != d.Generation {
			old++
		}
		if p.ready() {
			serving++
		}
	}
	component.RolledOut = d.observed == d.Generation && old == 0 && serving >= d.replicas
	return component
}

func (cp *ControlPlane) observePod(p *Pod) observation.Process {
	process := observation.Process{
		PodName: p.Name, PodUID: p.UID, NodeName: p.Node, Arguments: observation.Arguments{Flags: p.Arguments},
		GracePeriodSeconds: int64(gracePeriod / time.Second),
	}
	if p.real != nil {
		process = *p.real
	}
	process.Terminating, process.Ready, process.Ended, process.DeletionCost = p.Terminating(), p.ready(), p.ended(), p.cost
	for _, n := range cp.Hosts {
		if n.Name == p.Node {
			process.BootID = n.BootID
		}
	}
	if p.Process != nil {
		process.ContainerID, process.StartedAt, process.Started = p.Process.id, p.Process.startedAt, true
	}
	return process
}

func (c *Controller) observeLease(name string, l Lease) observation.Observed[observation.Lease] {
	if l == (Lease{}) {
		return observation.Absent[observation.Lease]()
	}
	w := c.world
	before, looked := c.leases[name]
	seen := watch(c.leases, name, l.Renewed, w.Now)
	if looked && before.version != l.Version() {
		seen.changed = w.Now
	}
	if looked && before.holder != l.Holder {
		seen.held = w.Now
	}
	seen.version, seen.holder = l.Version(), l.Holder
	c.leases[name] = seen
	return observation.Known(observation.Lease{
		Ref:    w.Leases.ref(name),
		Holder: l.Holder, DurationSeconds: int32(LeaseDuration / time.Second), AcquireTime: l.Acquired, RenewTime: l.Renewed,
		ChangedAt: seen.changed, WatchedAt: seen.since, RenewedBy: l.Renewed,
		HeldSince: seen.held, Version: seen.version,
	})
}
