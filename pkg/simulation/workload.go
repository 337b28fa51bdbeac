package simulation

import (
	"maps"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ControlPlane is the management cluster as far as it runs the user cluster: hosts with their kubelets, Deployments with their pods,
// and the processes in them.
type ControlPlane struct {
	w *World

	hosts     []*managementNode
	workloads []*workload
	processes []*process
}

// managementNode is a Node of the management cluster, with its kubelet.
type managementNode struct {
	name      string
	bootID    string
	downUntil time.Time
	renewed   time.Time
}

// workload is a Deployment of the management cluster with its pods.
type workload struct {
	name, container, uid string
	flag                 string
	replicas             int
	arguments            map[string]string
	generation, observed int
	pods                 []*pod
	fieldOwner           string
	// real is what was observed of a real one.
	real          *observation.Component
	inUserCluster bool
}

// pod of a workload. It is gone when its API object is gone; its process may live on.
type pod struct {
	name, uid, node string
	generation      int
	arguments       map[string]string
	createdAt       time.Time
	deletedAt       time.Time
	cost            string
	process         *process
	// real is what was observed of a real one.
	real *observation.Process
}

// process is a container's process, the only thing that can run a cloud loop.
type process struct {
	id, podName, podUID, node string
	arguments                 map[string]string
	startedAt, endedAt        time.Time
	// loops that it runs while it leads; its arguments never change.
	loops   []string
	elects  bool
	leading bool
	// armed processes run the loops only while they hold the migration lock, too.
	armed       bool
	locking     bool
	lockRenewed time.Time
	renewed     time.Time
	hungUntil   time.Time
	orphanedAt  time.Time
	// cloudNode says that a process of the CCM runs that loop while it leads; wroteAt is when it last wrote addresses.
	cloudNode bool
	wroteAt   time.Time
	// podGone says that its pod is deleted from the API, and with it its token.
	podGone bool
	// hostNetwork says that it takes part in elections under the hostname of its Node.
	hostNetwork bool
}

func (p *process) alive() bool { return p != nil && p.endedAt.IsZero() }

func (p *process) identity() string { return p.hostname() + "_" + p.id }

func (p *pod) terminating() bool { return !p.deletedAt.IsZero() }

// ended says what a kubelet reports: its container terminated, and none follows in a pod that is being deleted.
func (p *pod) ended() bool { return p.terminating() && p.process != nil && !p.process.alive() }

func (p *pod) ready() bool { return p.process.alive() && !p.terminating() }

func makeControlPlane(w *World) {
	for _, name := range []string{"management-1", "management-2", "management-3"} {
		w.controlPlane.hosts = append(w.controlPlane.hosts, &managementNode{name: name, bootID: w.id("boot"), renewed: w.now})
	}
	replicas := w.scenario.KCMReplicas
	if replicas == 0 {
		replicas = 2
	}
	arguments := map[string]string{
		"cloud-provider": "simcloud", "cloud-config": "/etc/cloud/cloud.conf", "cluster-name": "prod",
		"allocate-node-cidrs": "true", "cluster-cidr": "10.244.0.0/16", "controllers": "*,bootstrapsigner",
		"feature-gates": "DisableCloudProviders=false,DisableKubeletCloudCredentialProviders=false",
	}
	if w.scenario.KCMExternal {
		arguments = map[string]string{"cluster-name": "prod", "allocate-node-cidrs": "true", "cloud-provider": "external"}
	}
	w.controlPlane.add(kcmName, "", replicas, arguments)
	makeBeside(w)
	if w.traits.WithoutMachineController {
		return
	}
	w.controlPlane.add("machine-controller", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	w.controlPlane.add("machine-controller-webhook", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	if !w.traits.WithoutOperatingSystemManager {
		w.controlPlane.add("operating-system-manager", "-external-cloud-provider", 1, map[string]string{"v": "2"})
	}
}

func (cp *ControlPlane) add(name, flag string, replicas int, arguments map[string]string) {
	cp.workloads = append(cp.workloads, &workload{
		name: name, container: name, uid: cp.w.id("deployment"), flag: flag, replicas: replicas, arguments: arguments, generation: 1,
	})
}

func (cp *ControlPlane) workload(name string) *workload {
	at := slices.IndexFunc(cp.workloads, func(d *workload) bool { return d.name == name })
	if at < 0 {
		return nil
	}
	return cp.workloads[at]
}

func (cp *ControlPlane) kcm() *workload { return cp.workload(kcmName) }

// runs says whether some process of the workload that still runs has the flag on: during a rollout any may answer.
func (cp *ControlPlane) runs(name, flag string) (on, running bool) {
	d := cp.workload(name)
	if d == nil {
		// Where a real cluster has Machines, someone reconciles them whom we do not see.
		return cp.w.real != nil, cp.w.real != nil
	}
	alive := slices.DeleteFunc(slices.Clone(d.pods), func(p *pod) bool { return !p.process.alive() })
	if len(alive) == 0 {
		return false, false
	}
	chosen := alive[cp.w.rng.IntN(len(alive))]
	return chosen.arguments[flag] == "true", true
}

// stepWorkload is the Deployment controller: RollingUpdate with one surge pod and none unavailable. An old ReplicaSet
// replaces its own pods until it is scaled down, so pods with the old template may appear after the change.
func (cp *ControlPlane) stepWorkload(d *workload) {
	d.observed = d.generation
	serving := slices.DeleteFunc(slices.Clone(d.pods), (*pod).terminating)
	old := slices.DeleteFunc(slices.Clone(serving), func(p *pod) bool { return p.generation == d.generation })
	ready := 0
	for _, p := range serving {
		if p.ready() {
			ready++
		}
	}
	switch {
	case len(serving) < d.replicas:
		cp.createPod(d, d.generation, d.arguments)
	case len(old) == 0 && len(serving) > d.replicas:
		cp.deletePod(d, serving[len(serving)-1])
	case len(old) > 0 && len(serving) == d.replicas:
		cp.createPod(d, d.generation, d.arguments)
	case len(old) > 0 && ready > d.replicas:
		if cheap := slices.DeleteFunc(slices.Clone(old), func(p *pod) bool { return p.cost != "" }); len(cheap) > 0 {
			old = cheap
		}
		cp.deletePod(d, old[cp.w.rng.IntN(len(old))])
	}
}

func (cp *ControlPlane) keepLeader(uid string) {
	for _, p := range cp.kcm().pods {
		if p.uid == uid {
			p.cost = "1000"
		}
	}
}

func (cp *ControlPlane) createPod(d *workload, generation int, arguments map[string]string) {
	node := cp.hosts[cp.w.rng.IntN(len(cp.hosts))]
	p := &pod{
		name:       cp.w.id(d.name),
		uid:        cp.w.id("pod"),
		node:       node.name,
		generation: generation,
		arguments:  maps.Clone(arguments),
		createdAt:  cp.w.now,
	}
	d.pods = append(d.pods, p)
}

func (cp *ControlPlane) deletePod(d *workload, p *pod) {
	p.deletedAt = cp.w.now
	if p.process == nil {
		d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	}
}

// stepKubelet starts and ends processes on one management node, and ends those whose pod is gone.
func (cp *ControlPlane) stepKubelet(n *managementNode) {
	if cp.w.now.Before(n.downUntil) {
		return
	}
	n.renewed = cp.w.now
	for _, d := range cp.workloads {
		for _, p := range slices.Clone(d.pods) {
			if p.node == n.name {
				cp.syncPod(d, p)
			}
		}
	}
	for _, p := range slices.Clone(cp.processes) {
		if p.node == n.name && !cp.hasPod(p.podUID) {
			cp.endOrphan(p)
		}
	}
}

// endOrphan is what a live kubelet does with containers whose pod is gone from the API: within the grace period.
func (cp *ControlPlane) endOrphan(p *process) {
	if p.orphanedAt.IsZero() {
		p.orphanedAt = cp.w.now
	}
	if cp.w.now.Sub(p.orphanedAt) >= gracePeriod || cp.w.chance(0.2) {
		cp.end(p)
	}
}

func (cp *ControlPlane) syncPod(d *workload, p *pod) {
	switch {
	case p.terminating() && p.process.alive():
		if cp.w.now.Sub(p.deletedAt) >= gracePeriod || cp.w.chance(0.4) {
			cp.end(p.process)
		}
	case p.terminating():
		// The status with the end is out; the object goes one round later.
		if p.process == nil || cp.w.now.Sub(p.process.endedAt) >= 3*tick {
			d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
		}
	case !p.process.alive():
		p.process = &process{
			id: cp.w.id("container"), podName: p.name, podUID: p.uid, node: p.node, arguments: p.arguments, startedAt: cp.w.now,
			elects: d.name == kcmName,
		}
		if p.process.elects {
			p.process.loops = observation.Arguments{Flags: p.arguments}.CloudLoops()
			p.process.armed = p.arguments["enable-leader-migration"] == "true"
		}
		cp.processes = append(cp.processes, p.process)
	}
}

func (cp *ControlPlane) end(p *process) {
	p.endedAt = cp.w.now
	p.leading, p.locking = false, false
	cp.processes = slices.DeleteFunc(cp.processes, func(other *process) bool { return other == p })
}

func (cp *ControlPlane) hasPod(uid string) bool {
	return slices.ContainsFunc(cp.workloads, func(d *workload) bool {
		return slices.ContainsFunc(d.pods, func(p *pod) bool { return p.uid == uid })
	})
}
