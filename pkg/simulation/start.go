package simulation

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Start is a real cluster as it was observed: a world can go on from it.
type Start struct {
	Observation observation.Observation
	// Objects of each set that is wanted, with the CCM's agents on the Nodes apart: the observation has only those that differ.
	Objects    map[outcome.AddonSetName][]observation.Ref
	NodeAgents []observation.Ref
	// Differing are those of them that exist and are not as they are wanted.
	Differing []observation.Ref
	// Now is when it was observed.
	Now time.Time
}

// StartOf is what a controller that has just started observes of a world, with the objects that the catalogue would have.
func StartOf(w *World) Start {
	addons := w.addons.observe()
	return Start{
		Observation: NewController(w).Observe(), Now: w.now,
		Objects: map[outcome.AddonSetName][]observation.Ref{
			outcome.CCMSet: w.addons.ccm.wanted, outcome.CSISet: w.addons.csi.wanted, outcome.ProbeSet: w.addons.probe.wanted,
		},
		Differing: slices.DeleteFunc(slices.Concat(addons.CCM.Drifted, addons.CSI.Drifted), func(object observation.Ref) bool {
			return !w.addons.ccm.present[object] && !w.addons.csi.present[object]
		}),
	}
}

// complete lays the model over what was observed. What could not be looked at is not known any better in a model, and what is not
// modelled stays as it was.
func (s *Start) complete(o *observation.Observation) {
	seen := s.Observation
	o.Contenders, o.CloudConfig, o.Connection, o.Plan = seen.Contenders, seen.CloudConfig, seen.Connection,
		observation.Absent[observation.ForeseenPlan]()
	o.Provider = seen.Provider
	unseen(&o.Record, seen.Record)
	unseen(&o.Keeper, seen.Keeper)
	unseen(&o.ControlPlane, seen.ControlPlane)
	unseen(&o.MachineController, seen.MachineController)
	unseen(&o.Addons, seen.Addons)
	unseen(&o.Fence, seen.Fence)
	unseen(&o.Machines, seen.Machines)
	unseen(&o.Nodes, seen.Nodes)
	unseen(&o.Inventory, seen.Inventory)
	unseen(&o.Gone, seen.Gone)
	needs := migration.NeedsOf(seen.Cluster, seen.Provider.Value(), s.Now)
	if needs.RegisteredVolumes && seen.Registered.IsUnknown() {
		o.Registered = seen.Registered
	}
	unseen(&o.ForeignCCMs, seen.ForeignCCMs)
	unseen(&o.StorageClasses, seen.StorageClasses)
	unseen(&o.Canary, seen.Canary)
	if needs.Undo {
		unseen(&o.CCMPods, seen.CCMPods)
		unseen(&o.Attachments, seen.Attachments)
	}
	o.Findings = withoutBlocking(seen.Findings)
	if seen.KCMLease.IsUnknown() {
		o.KCMLease = seen.KCMLease
	}
	if seen.CCMLease.IsUnknown() {
		o.CCMLease = seen.CCMLease
	}
}

// unseen leaves a fact that could not be looked at, or that is certain to be absent, as it was.
func unseen[T any](fact *observation.Observed[T], seen observation.Observed[T]) {
	if !seen.IsKnown() {
		*fact = seen
	}
}

// withoutBlocking: what a person has to fix or to accept is not waited for.
func withoutBlocking(seen observation.Observed[[]observation.Finding]) observation.Observed[[]observation.Finding] {
	findings, known := seen.Get()
	if !known {
		return seen
	}
	return observation.Known(
		slices.DeleteFunc(slices.Clone(findings), func(f observation.Finding) bool { return f.Severity == observation.Blocking }),
	)
}

// WorldOf builds the world that was observed. People are absent from it, and everybody else acts at once.
func WorldOf(start Start) *World {
	// Nothing is left to chance, but the model draws lots between equals: the same ones every time. What it makes has other names
	// than what was made by a model before.
	w := newWorld(start.Now, rand.New(rand.NewPCG(1, 1)))
	w.ids, w.real, w.hasty = 1<<20, &start, true
	o := start.Observation
	w.traits = Traits{
		WithoutMachineController: o.Machines.IsAbsent(),
		LeasesAreFree:            !o.Fence.Value().Open && len(o.Fence.Value().Allowed) > 0,
	}
	w.leases.fenceOpen = o.Fence.Value().Open
	w.takeCluster(o)
	w.controlPlane.takeAll(o)
	w.controlPlane.takeMachineController(o)
	w.machines.take(o.Machines.Value(), o.Nodes.Value())
	w.addons.take(start)
	w.leases.takeAll(o)
	w.storage.takeClasses(o.StorageClasses.Value())
	w.canary.take(o.Canary.Value())
	for _, other := range o.ForeignCCMs.Value() {
		w.ccm.others = append(w.ccm.others, &otherManager{seen: other})
	}
	if baseline, known := o.Baseline.Get(); known {
		w.baseline = &baseline
	}
	w.storage.attachments, w.leases.mayFreeKCM = o.Attachments.Value(), o.KCMLeaseRight.Value().There
	return w
}

// takeCluster switches the feature on where that was not done yet, as a person does with the webhook. What only waits for a
// person, or for time to go by, is not waited for.
func (w *World) takeCluster(o observation.Observation) {
	w.cluster = o.Cluster.DeepCopy()
	spec := &w.cluster.Spec
	if !w.cluster.ExternalCloudProvider() && w.cluster.DeletionTimestamp.IsZero() {
		w.cluster.Status.Origin = ucv1.OriginInTree
		w.flip(true)
	}
	spec.Paused, spec.Mode, spec.Approval, spec.Handover.PauseBeforePointOfNoReturn = false, "", ucv1.ApprovalSpec{}, false
	spec.Rollout.SoakSeconds = new(int32(0))
	if seconds := spec.Rollout.NodeDeadlineSeconds; seconds != nil && *seconds < patience {
		spec.Rollout.NodeDeadlineSeconds = nil
	}
	if retry := spec.Handover.RetryAfter; retry != nil && retry.After(w.now) {
		spec.Handover.RetryAfter = new(metav1.NewTime(w.now))
	}
	if inherited := w.cluster.Status.Inherited; inherited != nil {
		w.ccm.inherited = *inherited
	}
}

func (cp *ControlPlane) takeAll(o observation.Observation) {
	controlPlane, known := o.ControlPlane.Get()
	for _, name := range slices.Sorted(maps.Keys(controlPlane.ManagementNodes)) {
		cp.hosts = append(
			cp.hosts,
			&managementNode{name: name, bootID: controlPlane.ManagementNodes[name].BootID, renewed: cp.w.now},
		)
	}
	if !known {
		return
	}
	cp.take(kcmName, "", controlPlane.KCM)
	for _, component := range controlPlane.Others {
		name := component.Container
		if !strings.HasPrefix(name, "kube-") {
			name = "kube-" + name
		}
		cp.take(name, "", component)
	}
}

// takeMachineController: what does not exist runs nowhere.
func (cp *ControlPlane) takeMachineController(o observation.Observation) {
	cp.w.traits.WithoutOperatingSystemManager = true
	for _, deployment := range o.MachineController.Value() {
		if deployment.Missing {
			continue
		}
		if deployment.Program == observation.OperatingSystemManager {
			cp.w.traits.WithoutOperatingSystemManager = false
		}
		cp.take(string(deployment.Program), deployment.Flag, deployment.Component).inUserCluster = deployment.InUserCluster
	}
}

// take a Deployment, or the static pods of a component, with its pods and processes.
func (cp *ControlPlane) take(name, flag string, seen observation.Component) *workload {
	d := &workload{
		name:       name,
		container:  seen.Container,
		uid:        seen.UID,
		flag:       flag,
		replicas:   int(seen.Replicas),
		arguments:  maps.Clone(seen.Arguments.Flags),
		generation: 1,
		observed:   1,
		fieldOwner: seen.FieldOwner,
		real:       &seen,
	}
	cp.workloads = append(cp.workloads, d)
	static := 0
	for _, process := range seen.Pods {
		p := &pod{
			name:      process.PodName,
			uid:       process.PodUID,
			node:      process.NodeName,
			arguments: process.Arguments.Flags,
			createdAt: process.StartedAt,
			cost:      process.DeletionCost,
			real:      &process,
		}
		if seen.RolledOut || maps.Equal(p.arguments, d.arguments) || process.ConfigHash != "" {
			p.generation = d.generation
		}
		if process.ConfigHash != "" {
			static++
		}
		if process.Terminating {
			p.deletedAt = cp.w.now
		}
		cp.takeHost(p.node, process.BootID)
		cp.takeProcess(d, p)
		d.pods = append(d.pods, p)
	}
	if static > 0 {
		d.replicas = static
	}
	cp.takeHost("", "")
	return d
}

// takeHost makes the Node of a pod, and one without a name where there is none at all.
func (cp *ControlPlane) takeHost(name, bootID string) {
	known := slices.ContainsFunc(cp.hosts, func(n *managementNode) bool { return n.name == name })
	if !known && (name != "" || len(cp.hosts) == 0) {
		cp.hosts = append(cp.hosts, &managementNode{name: name, bootID: bootID, renewed: cp.w.now})
	}
}

func (cp *ControlPlane) takeProcess(d *workload, p *pod) {
	seen := p.real
	if !seen.Started {
		return
	}
	p.process = &process{
		id: seen.ContainerID, podName: p.name, podUID: p.uid, node: p.node, arguments: p.arguments, startedAt: seen.StartedAt,
		elects: d.name == kcmName && seen.Arguments.True("leader-elect", true), loops: seen.Arguments.CloudLoops(),
		armed: p.arguments["enable-leader-migration"] == "true",
	}
	if seen.Ended || seen.Finished {
		p.process.endedAt = cp.w.now
		return
	}
	cp.processes = append(cp.processes, p.process)
}

// takeAll: who holds one and runs goes on holding it.
func (ls *Leases) takeAll(o observation.Observation) {
	ls.kcm = ls.take(o.KCMLease.Value())
	for _, p := range ls.w.controlPlane.processes {
		if p.elects && ls.kcm.holder != "" && strings.HasPrefix(ls.kcm.holder, cmp.Or(ls.w.controlPlane.hostname(p), p.podName)+"_") {
			ls.kcm.holder, p.leading, p.renewed = p.identity(), true, ls.w.now
			if ls.kcm.acquired.Before(p.startedAt) {
				ls.kcm.acquired = ls.w.now // The container before it held the Lease; this one takes it soon.
			}
		}
	}
	ls.ccm = ls.take(o.CCMLease.Value())
	if ls.ccm.holder != "" && len(ls.w.ccm.processes) > 0 && ls.fenceOpen {
		ls.ccm.holder, ls.w.ccm.processes[0].leading, ls.w.ccm.processes[0].renewed = ls.w.ccm.processes[0].identity(), true, ls.w.now
	}
	if seen, known := o.Lock.Get(); known {
		ls.lock = lock{lease: ls.take(seen.Lease), granted: seen.Granted, file: len(seen.Left) > 0}
	}
}

func (ls *Leases) take(seen observation.Lease) lease {
	return lease{holder: seen.Holder, acquired: seen.AcquireTime, renewed: ls.w.now}
}

// hostname that a static pod takes part in elections under; empty for every other pod.
func (cp *ControlPlane) hostname(p *process) string {
	for _, pod := range cp.kcm().pods {
		if pod.uid == p.podUID && pod.real != nil {
			return pod.real.Hostname
		}
	}
	return ""
}

func (ls *Leases) ref(name string) observation.Ref {
	if ls.w.real != nil {
		o := ls.w.real.Observation
		seen := map[string]observation.Ref{kcmName: o.KCMLease.Value().Ref, "cloud-controller-manager": o.CCMLease.Value().Ref}[name]
		if seen.Name != "" {
			return seen
		}
	}
	return observation.Ref{Kind: "Lease", Namespace: machineNamespace, Name: name}
}
