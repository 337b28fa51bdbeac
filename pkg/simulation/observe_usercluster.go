package simulation

import (
	"maps"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// observeMachineController names those that are not found, too, as the reader of real ones does.
func (cp *ControlPlane) observeMachineController() []observation.MachineControllerDeployment {
	var deployments []observation.MachineControllerDeployment
	for _, d := range cp.Workloads {
		if d.Flag != "" && !slices.Contains(cp.w.Traits.Hidden, d.Name) {
			deployments = append(deployments, observation.MachineControllerDeployment{
				Component:     cp.observe(d),
				Program:       observation.MachineControllerProgram(d.Name),
				Flag:          d.Flag,
				InUserCluster: d.inUserCluster,
			})
		}
	}
	return append(deployments, cp.missingMachineController()...)
}

func (cp *ControlPlane) missingMachineController() []observation.MachineControllerDeployment {
	if cp.w.real != nil {
		return slices.DeleteFunc(
			slices.Clone(cp.w.real.Observation.MachineController.Value()),
			func(d observation.MachineControllerDeployment) bool { return !d.Missing },
		)
	}
	var missing []observation.MachineControllerDeployment
	for _, program := range []observation.MachineControllerProgram{observation.MachineController, observation.MachineWebhook,
		observation.OperatingSystemManager} {
		none := program == observation.OperatingSystemManager &&
			cp.w.Cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
		if hidden := slices.Contains(cp.w.Traits.Hidden, string(program)); !none && (hidden || cp.Workload(string(program)) == nil) {
			missing = append(
				missing,
				observation.MachineControllerDeployment{Program: program, Missing: true, Component: observation.Component{
					Ref: observation.Ref{Kind: "Deployment", Namespace: cp.w.Cluster.Namespace, Name: string(program)},
				}},
			)
		}
	}
	return missing
}

// Observe both sets, as far as they are wanted.
func (as *Addons) Observe() observation.Addons {
	addons := observation.Addons{CCM: as.observeSet(&as.CCM), CSI: as.observeSet(&as.CSI), Obsolete: as.Obsolete}
	if as.w.needs().WithdrawAddons {
		return withdrawn(as.w)
	}
	if !as.w.needs().WithholdWorkload {
		return addons
	}
	addons.CCM.WorkloadWithheld, addons.CCM.Unhealthy = true, nil
	addons.CCM.Drifted = slices.DeleteFunc(addons.CCM.Drifted, func(ref observation.Ref) bool { return IsWorkload(ref.Kind) })
	addons.Obsolete = slices.Concat(as.Obsolete, as.CCM.workloads())
	return addons
}

// withdrawn is what is left when no addon is wanted: drivers stay for good.
func withdrawn(w *World) observation.Addons {
	set := observation.AddonSet{Withdrawn: true, WorkloadWithheld: true}
	addons := observation.Addons{CCM: set, CSI: set}
	for _, a := range []*AddonSet{&w.Addons.CCM, &w.Addons.CSI} {
		for _, object := range a.Wanted {
			if a.Present[object] && object.Kind != "CSIDriver" {
				addons.Obsolete = append(addons.Obsolete, object)
			}
		}
	}
	return addons
}

func (ccm *CCM) observePods() []string {
	var names []string
	for _, p := range ccm.Processes {
		if !p.PodGone {
			names = append(names, p.PodName)
		}
	}
	return names
}

func (as *Addons) observeSet(a *AddonSet) observation.AddonSet {
	set := a.seen
	set.Drifted, set.Foreign, set.Unschedulable = as.wantedOf(a), a.Foreign, len(as.w.Nodes.All) == 0
	if stale := a.Name == outcome.CCMSet &&
		(as.w.CCM.armed != as.w.needs().Lock || as.w.CCM.CloudNode != as.w.CCM.WantsCloudNode()); stale {
		set.Drifted = append(set.Drifted, slices.DeleteFunc(a.workloads(), func(ref observation.Ref) bool { return a.stale[ref] })...)
	}
	if a.Name == outcome.CCMSet && (!slices.ContainsFunc(as.w.CCM.Processes, (*Process).Alive) || as.w.CCM.rolls()) {
		set.Unhealthy = unavailable("Deployment", "simcloud-cloud-controller-manager", " has no available pod")
	}
	csiUp := slices.ContainsFunc(as.w.Nodes.All, func(n *Node) bool { return n.CSI })
	if a.Name == outcome.CSISet && !csiUp && a.wants("DaemonSet") {
		set.Unhealthy = unavailable("DaemonSet", "simcloud-csi", " has no available pod")
	}
	return set
}

func unavailable(kind, name, how string) []observation.Text {
	return []observation.Text{observation.Say(observation.Ref{Kind: kind, Namespace: MachineNamespace, Name: name}, how)}
}

func (c *Controller) observeProbe() observation.Observed[observation.Probe] {
	w := c.world
	if w.needs().Probe {
		probe := observation.Probe{Set: w.Addons.observeSet(&w.Addons.Probe), Lease: c.observeLease("probe", w.Leases.probe).Value()}
		if w.Traits.ProbeDies {
			probe.Set.Unhealthy = unavailable("Deployment", "simcloud-probe", ": container ccm: CrashLoopBackOff, last exit code 1 Error")
		}
		return observation.Known(probe)
	}
	probe := observation.Probe{}
	for _, object := range w.Addons.Probe.Wanted {
		if w.Addons.Probe.Present[object] {
			probe.Left = append(probe.Left, object)
		}
	}
	return observation.Known(probe)
}

// ObserveFence is what the API server answers for the CCM's identity.
func (ls *Leases) ObserveFence() observation.Fence {
	fence := observation.Fence{
		Open:     ls.FenceOpen,
		Identity: "system:serviceaccount:kube-system:cloud-controller-manager",
		Lease:    "kube-system/cloud-controller-manager",
	}
	if ls.w.real != nil {
		seen := ls.w.real.Observation.Fence.Value()
		fence.Identity, fence.Lease = seen.Identity, seen.Lease
	}
	if ls.FenceOpen || ls.w.Traits.LeasesAreFree {
		fence.Allowed = []string{"create", "update"}
	}
	return fence
}

func (ms *Machines) observe() observation.Observed[observation.Machines] {
	if ms.w.Traits.WithoutMachineController {
		return observation.Absent[observation.Machines]()
	}
	var seen observation.Machines
	for _, d := range ms.Deployments {
		seen.Deployments = append(seen.Deployments, observation.MachineDeployment{
			Ref: d.ref(), Paused: d.Paused, Deleting: d.Deleting, RestartValue: d.Restart, Replicas: int32(d.Replicas),
			Version: d.version(), Generation: int64(d.Generation), MaxSurge: int32(d.Surge), MaxUnavailable: int32(d.MayBeUnavailable()),
			Settled: d.Settled && d.Observed == d.Generation, Guard: d.observeGuard(),
			DeletingSince: d.deletedAt, Finalizers: d.finalizers(),
		})
	}
	for _, s := range ms.Sets {
		d := ms.deploymentOf(s)
		seen.Sets = append(seen.Sets, observation.MachineSet{
			Ref:          observation.Ref{Kind: "MachineSet", Namespace: s.namespace, Name: s.Name, UID: s.UID},
			Deployment:   s.Deployment,
			RestartValue: s.Restart,
			CreatedAt:    s.CreatedAt,
			Replicas:     int32(s.Replicas),
			Current:      d != nil && d.Current(s),
			Version:      s.version(),
			Revision:     s.UID,
		})
	}
	for _, m := range ms.All {
		seen.Machines = append(seen.Machines, observation.Machine{
			Ref:           observation.Ref{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, UID: m.UID},
			OfCanary:      m.Namespace == MachineNamespace && ms.w.Canary.Has(m),
			GoesFirst:     m.GoesFirst,
			Set:           m.Set,
			Annotation:    m.Annotation,
			NodeName:      m.Node,
			CreatedAt:     m.CreatedAt,
			Deleting:      m.Deleting(),
			DeletingSince: m.deletedAt,
		})
	}
	return observation.Known(seen)
}

func (ns *Nodes) observe() []observation.Node {
	nodes, labels := make([]observation.Node, 0, len(ns.All)), ns.cloudLabels()
	for _, n := range ns.All {
		seen := observation.Node{
			Name: n.Name, UID: n.UID, ProviderID: n.ProviderID, Ready: n.Ready, ReadyChangedAt: n.readyChangedAt,
			Uninitialized: n.Tainted, CreatedAt: n.CreatedAt,
			Addresses: n.addresses(), Labels: labels,
		}
		if n.seen != nil {
			seen.Kubelet, seen.Labels, seen.PodCIDRs, seen.Routed = n.seen.Kubelet, n.seen.Labels, n.seen.PodCIDRs, n.seen.Routed
		}
		if n.CSI {
			seen.CSIDrivers = ns.w.Provider().CSIDrivers
		}
		nodes = append(nodes, seen)
	}
	return nodes
}

// cloudLabels are what a Node that joins a real cluster gets: whatever the Nodes that are there have.
func (ns *Nodes) cloudLabels() map[string]string {
	if ns.w.real == nil {
		return nil
	}
	labels := map[string]string{}
	for _, node := range ns.w.real.Observation.Nodes.Value() {
		maps.Copy(labels, node.Labels)
	}
	return labels
}

// observeGone: in the model a Service and a claim go with what they have.
func (st *Storage) observeGone(missing baseline.Missing) map[string]observation.Gone {
	if st.w.real != nil {
		return st.w.real.Observation.Gone.Value()
	}
	gone := map[string]observation.Gone{}
	for _, balancer := range missing.LoadBalancers {
		gone[balancer.UID] = observation.Gone{Seen: "its owner deleted it"}
	}
	for _, volume := range missing.Volumes {
		gone[volume.UID] = observation.Gone{Seen: "its owner deleted it"}
	}
	return gone
}

func (st *Storage) observeInventory() observation.Observed[observation.Inventory] {
	if st.w.real != nil {
		inventory := st.w.real.Observation.Inventory.Value()
		inventory.Nodes, inventory.Volumes = nil, st.awaitRegistration(inventory.Volumes)
		return baseline.WithNodes(observation.Known(inventory), observation.Known(st.w.Nodes.observe()), st.w.Machines.observe())
	}
	inventory := observation.Inventory{
		Volumes: append([]observation.Volume{{Name: "data", UID: "pv-1", Phase: st.Phase, Claim: "default/data"}}, st.Made...),
	}
	if st.w.Traits.RegisteredBy != "" {
		inventory.Volumes[0].Plugin = InTreePlugin
		inventory.Volumes = st.awaitRegistration(inventory.Volumes)
	}
	for _, s := range st.w.Cloud.Services {
		inventory.LoadBalancers = append(inventory.LoadBalancers, observation.LoadBalancer{
			Namespace: "default", Name: s.Name, UID: s.UID, Ingress: slices.Clone(s.ingress),
		})
	}
	for _, class := range st.observeClasses() {
		inventory.StorageClasses = append(inventory.StorageClasses,
			observation.ClassRecord{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	return baseline.WithNodes(observation.Known(inventory), observation.Known(st.w.Nodes.observe()), st.w.Machines.observe())
}
