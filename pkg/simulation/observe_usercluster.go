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
	for _, d := range cp.workloads {
		if d.flag != "" && !slices.Contains(cp.w.traits.Hidden, d.name) {
			deployments = append(deployments, observation.MachineControllerDeployment{
				Component:     cp.observe(d),
				Program:       observation.MachineControllerProgram(d.name),
				Flag:          d.flag,
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
			cp.w.cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
		if hidden := slices.Contains(cp.w.traits.Hidden, string(program)); !none && (hidden || cp.workload(string(program)) == nil) {
			missing = append(
				missing,
				observation.MachineControllerDeployment{Program: program, Missing: true, Component: observation.Component{
					Ref: observation.Ref{Kind: "Deployment", Namespace: cp.w.cluster.Namespace, Name: string(program)},
				}},
			)
		}
	}
	return missing
}

func (as *Addons) observe() observation.Addons {
	addons := observation.Addons{CCM: as.observeSet(&as.ccm), CSI: as.observeSet(&as.csi), Obsolete: as.obsolete}
	if as.w.needs().WithdrawAddons {
		return withdrawn(as.w)
	}
	if !as.w.needs().WithholdWorkload {
		return addons
	}
	addons.CCM.WorkloadWithheld, addons.CCM.Unhealthy = true, nil
	addons.CCM.Drifted = slices.DeleteFunc(addons.CCM.Drifted, func(ref observation.Ref) bool { return isWorkload(ref.Kind) })
	addons.Obsolete = slices.Concat(as.obsolete, as.ccm.workloads())
	return addons
}

// withdrawn is what is left when no addon is wanted: drivers stay for good.
func withdrawn(w *World) observation.Addons {
	set := observation.AddonSet{Withdrawn: true, WorkloadWithheld: true}
	addons := observation.Addons{CCM: set, CSI: set}
	for _, a := range []*addonSet{&w.addons.ccm, &w.addons.csi} {
		for _, object := range a.wanted {
			if a.present[object] && object.Kind != "CSIDriver" {
				addons.Obsolete = append(addons.Obsolete, object)
			}
		}
	}
	return addons
}

func (ccm *CCM) observePods() []string {
	var names []string
	for _, p := range ccm.processes {
		if !p.podGone {
			names = append(names, p.podName)
		}
	}
	return names
}

func (as *Addons) observeSet(a *addonSet) observation.AddonSet {
	set := a.seen
	set.Drifted, set.Foreign, set.Unschedulable = as.wantedOf(a), a.foreign, len(as.w.nodes.all) == 0
	if stale := a.name == outcome.CCMSet &&
		(as.w.ccm.armed != as.w.needs().Lock || as.w.ccm.cloudNode != as.w.ccm.wantsCloudNode()); stale {
		set.Drifted = append(set.Drifted, slices.DeleteFunc(a.workloads(), func(ref observation.Ref) bool { return a.stale[ref] })...)
	}
	if a.name == outcome.CCMSet && (!slices.ContainsFunc(as.w.ccm.processes, (*process).alive) || as.w.ccm.rolls()) {
		set.Unhealthy = []string{"Deployment kube-system/simcloud-cloud-controller-manager has no available pod"}
	}
	csiUp := slices.ContainsFunc(as.w.nodes.all, func(n *node) bool { return n.csi })
	if a.name == outcome.CSISet && !csiUp && a.wants("DaemonSet") {
		set.Unhealthy = []string{"DaemonSet kube-system/simcloud-csi has no available pod"}
	}
	return set
}

func (c *Controller) observeProbe() observation.Observed[observation.Probe] {
	w := c.world
	if w.needs().Probe {
		probe := observation.Probe{Set: w.addons.observeSet(&w.addons.probe), Lease: c.observeLease("probe", w.leases.probe).Value()}
		if w.traits.ProbeDies {
			probe.Set.Unhealthy = []string{"Deployment kube-system/simcloud-probe: container ccm: CrashLoopBackOff, last exit code 1 " +
				"Error"}
		}
		return observation.Known(probe)
	}
	probe := observation.Probe{}
	for _, object := range w.addons.probe.wanted {
		if w.addons.probe.present[object] {
			probe.Left = append(probe.Left, object)
		}
	}
	return observation.Known(probe)
}

func (ls *Leases) observeFence() observation.Fence {
	fence := observation.Fence{
		Open:     ls.fenceOpen,
		Identity: "system:serviceaccount:kube-system:cloud-controller-manager",
		Lease:    "kube-system/cloud-controller-manager",
	}
	if ls.w.real != nil {
		seen := ls.w.real.Observation.Fence.Value()
		fence.Identity, fence.Lease = seen.Identity, seen.Lease
	}
	if ls.fenceOpen || ls.w.traits.LeasesAreFree {
		fence.Allowed = []string{"create", "update"}
	}
	return fence
}

func (ms *Machines) observe() observation.Observed[observation.Machines] {
	if ms.w.traits.WithoutMachineController {
		return observation.Absent[observation.Machines]()
	}
	var seen observation.Machines
	for _, d := range ms.deployments {
		seen.Deployments = append(seen.Deployments, observation.MachineDeployment{
			Ref: d.ref(), Paused: d.paused, Deleting: d.deleting, RestartValue: d.restart, Replicas: int32(d.replicas),
			Version: d.version(), Generation: int64(d.generation), MaxSurge: int32(d.surge), MaxUnavailable: int32(d.mayBeUnavailable()),
			Settled: d.settled && d.observed == d.generation, Guard: d.observeGuard(),
		})
		for _, s := range ms.setsOf(d) {
			seen.Sets = append(seen.Sets, observation.MachineSet{
				Ref:          observation.Ref{Kind: "MachineSet", Namespace: d.namespace, Name: s.name, UID: s.uid},
				Deployment:   d.uid,
				RestartValue: s.restart,
				CreatedAt:    s.createdAt,
				Replicas:     int32(s.replicas),
				Current:      d.current(s),
				Version:      s.version(),
				Revision:     s.uid,
			})
		}
	}
	for _, m := range ms.all {
		seen.Machines = append(seen.Machines, observation.Machine{
			Ref:           observation.Ref{Kind: "Machine", Namespace: m.namespace, Name: m.name, UID: m.uid},
			OfCanary:      m.namespace == machineNamespace && ms.w.canary.has(m),
			GoesFirst:     m.goesFirst,
			Set:           m.set,
			Annotation:    m.annotation,
			NodeName:      m.node,
			CreatedAt:     m.createdAt,
			Deleting:      m.deleting(),
			DeletingSince: m.deletedAt,
		})
	}
	return observation.Known(seen)
}

func (ns *Nodes) observe() []observation.Node {
	nodes, labels := make([]observation.Node, 0, len(ns.all)), ns.cloudLabels()
	for _, n := range ns.all {
		seen := observation.Node{
			Name: n.name, UID: n.uid, ProviderID: n.providerID, Ready: n.ready, ReadyChangedAt: n.readyChangedAt,
			Uninitialized: n.tainted, CreatedAt: n.createdAt,
			Addresses: n.addresses(), Labels: labels,
		}
		if n.seen != nil {
			seen.Kubelet, seen.Labels, seen.PodCIDRs, seen.Routed = n.seen.Kubelet, n.seen.Labels, n.seen.PodCIDRs, n.seen.Routed
		}
		if n.csi {
			seen.CSIDrivers = ns.w.provider().CSIDrivers
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
		return baseline.WithNodes(observation.Known(inventory), observation.Known(st.w.nodes.observe()), st.w.machines.observe())
	}
	inventory := observation.Inventory{
		Volumes: append([]observation.Volume{{Name: "data", UID: "pv-1", Phase: st.phase, Claim: "default/data"}}, st.made...),
	}
	if st.w.traits.RegisteredBy != "" {
		inventory.Volumes[0].Plugin = InTreePlugin
		inventory.Volumes = st.awaitRegistration(inventory.Volumes)
	}
	for _, s := range st.w.cloud.services {
		inventory.LoadBalancers = append(inventory.LoadBalancers, observation.LoadBalancer{
			Namespace: "default", Name: s.name, UID: s.uid, Ingress: slices.Clone(s.ingress),
		})
	}
	for _, class := range st.observeClasses() {
		inventory.StorageClasses = append(inventory.StorageClasses,
			observation.ClassRecord{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	return baseline.WithNodes(observation.Known(inventory), observation.Known(st.w.nodes.observe()), st.w.machines.observe())
}
