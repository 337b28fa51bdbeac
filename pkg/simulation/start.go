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
	if needs.OldLoadBalancers {
		unseen(&o.OldLoadBalancers, seen.OldLoadBalancers)
	}
	unseen(&o.ForeignCCMs, seen.ForeignCCMs)
	unseen(&o.StorageClasses, seen.StorageClasses)
	unseen(&o.Canary, seen.Canary)
	if needs.Rollback {
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
	w := NewWorld(start.Now, rand.New(rand.NewPCG(1, 1)))
	w.ids, w.real, w.hasty = 1<<20, &start, true
	o := start.Observation
	w.Traits = Traits{
		WithoutMachineController: o.Machines.IsAbsent(),
		LeasesAreFree:            !o.Fence.Value().Open && len(o.Fence.Value().Allowed) > 0,
	}
	w.Leases.FenceOpen = o.Fence.Value().Open
	w.takeCluster(o)
	w.ControlPlane.takeAll(o)
	w.ControlPlane.takeMachineController(o)
	w.Machines.take(o.Machines.Value(), o.Nodes.Value())
	w.Addons.take(start)
	w.Leases.takeAll(o)
	w.Storage.takeClasses(o.StorageClasses.Value())
	w.Canary.take(o.Canary.Value())
	for _, other := range o.ForeignCCMs.Value() {
		w.CCM.Others = append(w.CCM.Others, &OtherManager{Seen: other})
	}
	if baseline, known := o.Baseline.Get(); known {
		w.Baseline = &baseline
	}
	w.Storage.Attachments, w.Leases.MayFreeKCM = o.Attachments.Value(), o.KCMLeaseRight.Value().There
	return w
}

// takeCluster switches the feature on where that was not done yet, as a person does with the webhook. What only waits for a
// person, or for time to go by, is not waited for.
func (w *World) takeCluster(o observation.Observation) {
	w.Cluster = o.Cluster.DeepCopy()
	spec := &w.Cluster.Spec
	if !w.Cluster.ExternalCloudProvider() && w.Cluster.DeletionTimestamp.IsZero() {
		w.Cluster.Status.Origin = ucv1.OriginInTree
		w.Flip(true)
	}
	spec.Paused, spec.Mode, spec.Approval, spec.Handover.PauseBeforePointOfNoReturn = false, "", ucv1.ApprovalSpec{}, false
	spec.Rollout.SoakSeconds = new(int32(0))
	if seconds := spec.Rollout.NodeDeadlineSeconds; seconds != nil && *seconds < patience {
		spec.Rollout.NodeDeadlineSeconds = nil
	}
	if retry := spec.Handover.RetryAfter; retry != nil && retry.After(w.Now) {
		spec.Handover.RetryAfter = new(metav1.NewTime(w.Now))
	}
	if inherited := w.Cluster.Status.Inherited; inherited != nil {
		w.CCM.Inherited = *inherited
	}
}

func (cp *ControlPlane) takeAll(o observation.Observation) {
	controlPlane, known := o.ControlPlane.Get()
	for _, name := range slices.Sorted(maps.Keys(controlPlane.ManagementNodes)) {
		cp.Hosts = append(
			cp.Hosts,
			&ManagementNode{Name: name, BootID: controlPlane.ManagementNodes[name].BootID, Renewed: cp.w.Now},
		)
	}
	if !known {
		return
	}
	cp.take(KCMName, "", controlPlane.KCM)
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
	cp.w.Traits.WithoutOperatingSystemManager = true
	for _, deployment := range o.MachineController.Value() {
		if deployment.Missing {
			continue
		}
		if deployment.Program == observation.OperatingSystemManager {
			cp.w.Traits.WithoutOperatingSystemManager = false
		}
		cp.take(string(deployment.Program), deployment.Flag, deployment.Component).inUserCluster = deployment.InUserCluster
	}
}

// take a Deployment, or the static pods of a component, with its pods and processes.
func (cp *ControlPlane) take(name, flag string, seen observation.Component) *Workload {
	d := &Workload{
		Name:       name,
		container:  seen.Container,
		UID:        seen.UID,
		Flag:       flag,
		replicas:   int(seen.Replicas),
		Arguments:  maps.Clone(seen.Arguments.Flags),
		Generation: 1,
		observed:   1,
		FieldOwner: seen.FieldOwner,
		real:       &seen,
	}
	cp.Workloads = append(cp.Workloads, d)
	static := 0
	for _, process := range seen.Pods {
		p := &Pod{
			Name:      process.PodName,
			UID:       process.PodUID,
			Node:      process.NodeName,
			Arguments: process.Arguments.Flags,
			CreatedAt: process.StartedAt,
			cost:      process.DeletionCost,
			real:      &process,
		}
		if seen.RolledOut || maps.Equal(p.Arguments, d.Arguments) || process.ConfigHash != "" {
			p.Generation = d.Generation
		}
		if process.ConfigHash != "" {
			static++
		}
		if process.Terminating {
			p.deletedAt = cp.w.Now
		}
		cp.takeHost(p.Node, process.BootID)
		cp.takeProcess(d, p)
		d.Pods = append(d.Pods, p)
	}
	if static > 0 {
		d.replicas = static
	}
	cp.takeHost("", "")
	return d
}

// takeHost makes the Node of a pod, and one without a name where there is none at all.
func (cp *ControlPlane) takeHost(name, bootID string) {
	known := slices.ContainsFunc(cp.Hosts, func(n *ManagementNode) bool { return n.Name == name })
	if !known && (name != "" || len(cp.Hosts) == 0) {
		cp.Hosts = append(cp.Hosts, &ManagementNode{Name: name, BootID: bootID, Renewed: cp.w.Now})
	}
}

func (cp *ControlPlane) takeProcess(d *Workload, p *Pod) {
	seen := p.real
	if !seen.Started {
		return
	}
	p.Process = &Process{
		id: seen.ContainerID, PodName: p.Name, podUID: p.UID, Node: p.Node, arguments: p.Arguments, startedAt: seen.StartedAt,
		Elects: d.Name == KCMName && seen.Arguments.True("leader-elect", true), Loops: seen.Arguments.CloudLoops(),
		Armed: p.Arguments["enable-leader-migration"] == "true", lease: leaseOf(d),
	}
	if seen.Ended || seen.Finished {
		p.Process.endedAt = cp.w.Now
		return
	}
	cp.Processes = append(cp.Processes, p.Process)
}

// takeAll: who holds one and runs goes on holding it.
func (ls *Leases) takeAll(o observation.Observation) {
	ls.KCM = ls.take(o.KCMLease.Value())
	for _, p := range ls.w.ControlPlane.Processes {
		if p.Elects && ls.KCM.Holder != "" && strings.HasPrefix(ls.KCM.Holder, cmp.Or(ls.w.ControlPlane.hostname(p), p.PodName)+"_") {
			ls.KCM.Holder, p.Leading, p.Renewed = p.Identity(), true, ls.w.Now
			if ls.KCM.Acquired.Before(p.startedAt) {
				ls.KCM.Acquired = ls.w.Now // The container before it held the Lease; this one takes it soon.
			}
		}
	}
	ls.CCM = ls.take(o.CCMLease.Value())
	if ls.CCM.Holder != "" && len(ls.w.CCM.Processes) > 0 && ls.FenceOpen {
		ls.CCM.Holder, ls.w.CCM.Processes[0].Leading, ls.w.CCM.Processes[0].Renewed = ls.w.CCM.Processes[0].Identity(), true, ls.w.Now
	}
	if seen, known := o.Lock.Get(); known {
		ls.Lock = Lock{Lease: ls.take(seen.Lease), Granted: seen.Granted, File: len(seen.Left) > 0}
	}
}

func (ls *Leases) take(seen observation.Lease) Lease {
	return Lease{Holder: seen.Holder, Acquired: seen.AcquireTime, Renewed: ls.w.Now}
}

// hostname that a static pod takes part in elections under; empty for every other pod.
func (cp *ControlPlane) hostname(p *Process) string {
	for _, pod := range cp.KCM().Pods {
		if pod.UID == p.podUID && pod.real != nil {
			return pod.real.Hostname
		}
	}
	return ""
}

func (ls *Leases) ref(name string) observation.Ref {
	if ls.w.real != nil {
		o := ls.w.real.Observation
		seen := map[string]observation.Ref{KCMName: o.KCMLease.Value().Ref, "cloud-controller-manager": o.CCMLease.Value().Ref}[name]
		if seen.Name != "" {
			return seen
		}
	}
	return observation.Ref{Kind: "Lease", Namespace: MachineNamespace, Name: name}
}
