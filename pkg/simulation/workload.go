package simulation

import (
	"maps"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

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

func (w *World) makeControlPlane() {
	for _, name := range []string{"management-1", "management-2", "management-3"} {
		w.managementNodes = append(w.managementNodes, &managementNode{name: name, bootID: w.id("boot"), renewed: w.now})
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
	w.addWorkload(kcmName, "", replicas, arguments)
	w.makeBeside()
	if w.traits.WithoutMachineController {
		return
	}
	w.addWorkload("machine-controller", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	w.addWorkload("machine-controller-webhook", "-node-external-cloud-provider", 1, map[string]string{"v": "2"})
	if !w.traits.WithoutOperatingSystemManager {
		w.addWorkload("operating-system-manager", "-external-cloud-provider", 1, map[string]string{"v": "2"})
	}
}

func (w *World) addWorkload(name, flag string, replicas int, arguments map[string]string) {
	w.workloads = append(w.workloads, &workload{
		name: name, container: name, uid: w.id("deployment"), flag: flag, replicas: replicas, arguments: arguments, generation: 1,
	})
}

func (w *World) workload(name string) *workload {
	at := slices.IndexFunc(w.workloads, func(d *workload) bool { return d.name == name })
	if at < 0 {
		return nil
	}
	return w.workloads[at]
}

func (w *World) kcm() *workload { return w.workload(kcmName) }

// runs says whether some process of the workload that still runs has the flag on: during a rollout any may answer.
func (w *World) runs(name, flag string) (on, running bool) {
	d := w.workload(name)
	if d == nil {
		// Where a real cluster has Machines, someone reconciles them whom we do not see.
		return w.real != nil, w.real != nil
	}
	alive := slices.DeleteFunc(slices.Clone(d.pods), func(p *pod) bool { return !p.process.alive() })
	if len(alive) == 0 {
		return false, false
	}
	chosen := alive[w.rng.IntN(len(alive))]
	return chosen.arguments[flag] == "true", true
}

// stepWorkload is the Deployment controller: RollingUpdate with one surge pod and none unavailable. An old ReplicaSet
// replaces its own pods until it is scaled down, so pods with the old template may appear after the change.
func (w *World) stepWorkload(d *workload) {
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
		w.createPod(d, d.generation, d.arguments)
	case len(old) == 0 && len(serving) > d.replicas:
		w.deletePod(d, serving[len(serving)-1])
	case len(old) > 0 && len(serving) == d.replicas:
		w.createPod(d, d.generation, d.arguments)
	case len(old) > 0 && ready > d.replicas:
		if cheap := slices.DeleteFunc(slices.Clone(old), func(p *pod) bool { return p.cost != "" }); len(cheap) > 0 {
			old = cheap
		}
		w.deletePod(d, old[w.rng.IntN(len(old))])
	}
}

func (w *World) keepLeader(uid string) {
	for _, p := range w.kcm().pods {
		if p.uid == uid {
			p.cost = "1000"
		}
	}
}

func (w *World) createPod(d *workload, generation int, arguments map[string]string) {
	node := w.managementNodes[w.rng.IntN(len(w.managementNodes))]
	p := &pod{
		name:       w.id(d.name),
		uid:        w.id("pod"),
		node:       node.name,
		generation: generation,
		arguments:  maps.Clone(arguments),
		createdAt:  w.now,
	}
	d.pods = append(d.pods, p)
}

func (w *World) deletePod(d *workload, p *pod) {
	p.deletedAt = w.now
	if p.process == nil {
		d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	}
}

// stepKubelet starts and ends processes on one management node, and ends those whose pod is gone.
func (w *World) stepKubelet(n *managementNode) {
	if w.now.Before(n.downUntil) {
		return
	}
	n.renewed = w.now
	for _, d := range w.workloads {
		for _, p := range slices.Clone(d.pods) {
			if p.node == n.name {
				w.syncPod(d, p)
			}
		}
	}
	for _, p := range slices.Clone(w.processes) {
		if p.node == n.name && !w.hasPod(p.podUID) {
			w.endOrphan(p)
		}
	}
}

// endOrphan is what a live kubelet does with containers whose pod is gone from the API: within the grace period.
func (w *World) endOrphan(p *process) {
	if p.orphanedAt.IsZero() {
		p.orphanedAt = w.now
	}
	if w.now.Sub(p.orphanedAt) >= gracePeriod || w.chance(0.2) {
		w.end(p)
	}
}

func (w *World) syncPod(d *workload, p *pod) {
	switch {
	case p.terminating() && p.process.alive():
		if w.now.Sub(p.deletedAt) >= gracePeriod || w.chance(0.4) {
			w.end(p.process)
		}
	case p.terminating():
		// The status with the end is out; the object goes one round later.
		if p.process == nil || w.now.Sub(p.process.endedAt) >= 3*tick {
			d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
		}
	case !p.process.alive():
		p.process = &process{
			id: w.id("container"), podName: p.name, podUID: p.uid, node: p.node, arguments: p.arguments, startedAt: w.now,
			elects: d.name == kcmName,
		}
		if p.process.elects {
			p.process.loops = observation.Arguments{Flags: p.arguments}.CloudLoops()
			p.process.armed = p.arguments["enable-leader-migration"] == "true"
		}
		w.processes = append(w.processes, p.process)
	}
}

func (w *World) end(p *process) {
	p.endedAt = w.now
	p.leading, p.locking = false, false
	w.processes = slices.DeleteFunc(w.processes, func(other *process) bool { return other == p })
}

func (w *World) hasPod(uid string) bool {
	return slices.ContainsFunc(w.workloads, func(d *workload) bool {
		return slices.ContainsFunc(d.pods, func(p *pod) bool { return p.uid == uid })
	})
}
