package simulation

import (
	"maps"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ControlPlane is the management cluster as far as it runs the user cluster: hosts with their kubelets, Deployments with their
// pods, and the processes in them.
type ControlPlane struct {
	w *World

	Hosts     []*ManagementNode
	Workloads []*Workload
	Processes []*Process
}

// ManagementNode is a Node of the management cluster, with its kubelet.
type ManagementNode struct {
	Name      string
	BootID    string
	DownUntil time.Time
	Renewed   time.Time
}

// Workload is a Deployment of the management cluster with its pods.
type Workload struct {
	Name, container, UID string
	Flag                 string
	replicas             int
	Arguments            map[string]string
	Generation, observed int
	Pods                 []*Pod
	FieldOwner           string
	// wanted are the arguments that whoever reconciles it writes, at reconciledAt; zero: nothing changed.
	wanted       map[string]string
	reconciledAt time.Time
	// real is what was observed of a real one.
	real          *observation.Component
	inUserCluster bool
	// lease is of one that is elected.
	lease Lease
}

// Pod of a workload. It is gone when its API object is gone; its process may live on.
type Pod struct {
	Name, UID, Node string
	Generation      int
	Arguments       map[string]string
	CreatedAt       time.Time
	deletedAt       time.Time
	cost            string
	Process         *Process
	// real is what was observed of a real one.
	real *observation.Process
}

// Process is a container's process, the only thing that can run a cloud loop.
type Process struct {
	id, PodName, podUID, Node string
	arguments                 map[string]string
	startedAt, endedAt        time.Time
	// Loops that it runs while it leads; its arguments never change.
	Loops   []string
	Elects  bool
	Leading bool
	// Armed processes run the loops only while they hold the migration lock, too.
	Armed       bool
	Locking     bool
	lockRenewed time.Time
	Renewed     time.Time
	HungUntil   time.Time
	OrphanedAt  time.Time
	// Minor of a process of the CCM.
	Minor int
	// CloudNode says that a process of the CCM runs that loop while it leads; wroteAt is when it last wrote addresses.
	CloudNode bool
	wroteAt   time.Time
	// PodGone says that its pod is deleted from the API, and with it its token.
	PodGone bool
	// lease is that of its Deployment, where that is elected.
	lease *Lease
	// hostNetwork says that it takes part in elections under the hostname of its Node.
	hostNetwork bool
}

// Alive says that it runs.
func (p *Process) Alive() bool { return p != nil && p.endedAt.IsZero() }

// Identity is its name in elections.
func (p *Process) Identity() string { return p.hostname() + "_" + p.id }

// Terminating says that it is deleted and still there.
func (p *Pod) Terminating() bool { return !p.deletedAt.IsZero() }

// ended says what a kubelet reports: its container terminated, and none follows in a pod that is being deleted.
func (p *Pod) ended() bool { return p.Terminating() && p.Process != nil && !p.Process.Alive() }

func (p *Pod) ready() bool { return p.Process.Alive() && !p.Terminating() }

// Add a Deployment, whose pods come by themselves.
func (cp *ControlPlane) Add(name, flag string, replicas int, arguments map[string]string) {
	cp.Workloads = append(cp.Workloads, &Workload{
		Name: name, container: name, UID: cp.w.ID("deployment"), Flag: flag, replicas: replicas, Generation: 1,
		Arguments: arguments, wanted: arguments,
	})
}

// Workload is nil where there is none of that name.
func (cp *ControlPlane) Workload(name string) *Workload {
	at := slices.IndexFunc(cp.Workloads, func(d *Workload) bool { return d.Name == name })
	if at < 0 {
		return nil
	}
	return cp.Workloads[at]
}

// KCM is the kube-controller-manager's Deployment.
func (cp *ControlPlane) KCM() *Workload { return cp.Workload(KCMName) }

// Runs says whether the process of the workload that works has the flag on: where none is elected, any may answer in a rollout.
func (cp *ControlPlane) Runs(name, flag string) (on, running bool) {
	d := cp.Workload(name)
	if d == nil {
		// Where a real cluster has Machines, someone reconciles them whom we do not see.
		return cp.w.real != nil, cp.w.real != nil
	}
	if d.elected() {
		p := cp.working(d)
		return p != nil && p.arguments[flag] == "true", p != nil
	}
	alive := slices.DeleteFunc(slices.Clone(d.Pods), func(p *Pod) bool { return !p.Process.Alive() })
	if len(alive) == 0 {
		return false, false
	}
	chosen := alive[cp.w.Rng.IntN(len(alive))]
	return chosen.Arguments[flag] == "true", true
}

// stepWorkload is the Deployment controller: RollingUpdate with one surge pod and none unavailable. An old ReplicaSet
// replaces its own pods until it is scaled down, so pods with the old template may appear after the change.
func (cp *ControlPlane) stepWorkload(d *Workload) {
	d.reconcile(cp.w.Now)
	d.observed = d.Generation
	serving := slices.DeleteFunc(slices.Clone(d.Pods), (*Pod).Terminating)
	old := slices.DeleteFunc(slices.Clone(serving), func(p *Pod) bool { return p.Generation == d.Generation })
	ready := 0
	for _, p := range serving {
		if p.ready() {
			ready++
		}
	}
	switch {
	case len(serving) < d.replicas:
		cp.CreatePod(d, d.Generation, d.Arguments)
	case len(old) == 0 && len(serving) > d.replicas:
		cp.DeletePod(d, serving[len(serving)-1])
	case len(old) > 0 && len(serving) == d.replicas:
		cp.CreatePod(d, d.Generation, d.Arguments)
	case len(old) > 0 && ready > d.replicas:
		if cheap := slices.DeleteFunc(slices.Clone(old), func(p *Pod) bool { return p.cost != "" }); len(cheap) > 0 {
			old = cheap
		}
		cp.DeletePod(d, old[cp.w.Rng.IntN(len(old))])
	}
}

// touched makes a new generation, and tells whoever reconciles KCM's Deployment: events that come before he looks are one.
func (cp *ControlPlane) touched(d *Workload) {
	d.observed = 0
	if cp.w.Traits.ReconciledAfter > 0 && d == cp.KCM() && d.reconciledAt.IsZero() {
		d.reconciledAt = cp.w.Now.Add(cp.w.Traits.ReconciledAfter)
	}
}

// reconcile writes the wanted arguments when it is time.
func (d *Workload) reconcile(now time.Time) {
	if d.reconciledAt.IsZero() || now.Before(d.reconciledAt) {
		return
	}
	d.reconciledAt = time.Time{}
	if !maps.Equal(d.Arguments, d.wanted) {
		d.Arguments, d.FieldOwner = d.wanted, "reconciler"
		d.Generation++
	}
}

func (cp *ControlPlane) keepLeader(uid string) {
	for _, p := range cp.KCM().Pods {
		if p.UID == uid {
			p.cost = "1000"
		}
	}
}

// CreatePod with a template, on any host.
func (cp *ControlPlane) CreatePod(d *Workload, generation int, arguments map[string]string) {
	node := cp.Hosts[cp.w.Rng.IntN(len(cp.Hosts))]
	p := &Pod{
		Name:       cp.w.ID(d.Name),
		UID:        cp.w.ID("pod"),
		Node:       node.Name,
		Generation: generation,
		Arguments:  maps.Clone(arguments),
		CreatedAt:  cp.w.Now,
	}
	d.Pods = append(d.Pods, p)
}

// DeletePod with its grace period.
func (cp *ControlPlane) DeletePod(d *Workload, p *Pod) {
	p.deletedAt = cp.w.Now
	if p.Process == nil {
		d.Pods = slices.DeleteFunc(d.Pods, func(other *Pod) bool { return other == p })
	}
}

// stepKubelet starts and ends processes on one management node, and ends those whose pod is gone.
func (cp *ControlPlane) stepKubelet(n *ManagementNode) {
	if cp.w.Now.Before(n.DownUntil) {
		return
	}
	n.Renewed = cp.w.Now
	for _, d := range cp.Workloads {
		for _, p := range slices.Clone(d.Pods) {
			if p.Node == n.Name {
				cp.syncPod(d, p)
			}
		}
	}
	for _, p := range slices.Clone(cp.Processes) {
		if p.Node == n.Name && !cp.hasPod(p.podUID) {
			cp.endOrphan(p)
		}
	}
}

// endOrphan is what a live kubelet does with containers whose pod is gone from the API: within the grace period.
func (cp *ControlPlane) endOrphan(p *Process) {
	if p.OrphanedAt.IsZero() {
		p.OrphanedAt = cp.w.Now
	}
	if cp.w.Now.Sub(p.OrphanedAt) >= gracePeriod || cp.w.Chance(0.2) {
		cp.End(p)
	}
}

func (cp *ControlPlane) syncPod(d *Workload, p *Pod) {
	switch {
	case p.Terminating() && p.Process.Alive():
		if cp.w.Now.Sub(p.deletedAt) >= gracePeriod || cp.w.Chance(0.4) {
			cp.End(p.Process)
		}
	case p.Terminating():
		// The status with the end is out; the object goes one round later.
		if p.Process == nil || cp.w.Now.Sub(p.Process.endedAt) >= 3*Tick {
			d.Pods = slices.DeleteFunc(d.Pods, func(other *Pod) bool { return other == p })
		}
	case !p.Process.Alive():
		p.Process = &Process{
			id: cp.w.ID("container"), PodName: p.Name, podUID: p.UID, Node: p.Node, arguments: p.Arguments, startedAt: cp.w.Now,
			Elects: d.Name == KCMName, lease: leaseOf(d),
		}
		if p.Process.Elects {
			p.Process.Loops = observation.Arguments{Flags: p.Arguments}.CloudLoops()
			p.Process.Armed = p.Arguments["enable-leader-migration"] == "true"
		}
		cp.Processes = append(cp.Processes, p.Process)
	}
}

// End a process.
func (cp *ControlPlane) End(p *Process) {
	p.endedAt = cp.w.Now
	p.Leading, p.Locking = false, false
	cp.Processes = slices.DeleteFunc(cp.Processes, func(other *Process) bool { return other == p })
}

func (cp *ControlPlane) hasPod(uid string) bool {
	return slices.ContainsFunc(cp.Workloads, func(d *Workload) bool {
		return slices.ContainsFunc(d.Pods, func(p *Pod) bool { return p.UID == uid })
	})
}
