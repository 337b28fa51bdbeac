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
func (w *World) observeMachineController() []observation.MachineControllerDeployment {
	var deployments []observation.MachineControllerDeployment
	for _, d := range w.workloads {
		if d.flag != "" && !slices.Contains(w.traits.Hidden, d.name) {
			deployments = append(deployments, observation.MachineControllerDeployment{
				Component:     w.observeWorkload(d),
				Program:       observation.MachineControllerProgram(d.name),
				Flag:          d.flag,
				InUserCluster: d.inUserCluster,
			})
		}
	}
	return append(deployments, w.missingMachineController()...)
}

func (w *World) missingMachineController() []observation.MachineControllerDeployment {
	if w.real != nil {
		return slices.DeleteFunc(
			slices.Clone(w.real.Observation.MachineController.Value()),
			func(d observation.MachineControllerDeployment) bool { return !d.Missing },
		)
	}
	var missing []observation.MachineControllerDeployment
	for _, program := range []observation.MachineControllerProgram{observation.MachineController, observation.MachineWebhook,
		observation.OperatingSystemManager} {
		none := program == observation.OperatingSystemManager &&
			w.cluster.Spec.MachineController.OperatingSystemManager.Mode == ucv1.OperatingSystemManagerNone
		if hidden := slices.Contains(w.traits.Hidden, string(program)); !none && (hidden || w.workload(string(program)) == nil) {
			missing = append(
				missing,
				observation.MachineControllerDeployment{Program: program, Missing: true, Component: observation.Component{
					Ref: observation.Ref{Kind: "Deployment", Namespace: w.cluster.Namespace, Name: string(program)},
				}},
			)
		}
	}
	return missing
}

func (w *World) observeAddons() observation.Addons {
	addons := observation.Addons{CCM: w.observeAddonSet(&w.ccm), CSI: w.observeAddonSet(&w.csi), Obsolete: w.obsolete}
	if w.needs().WithdrawAddons {
		return withdrawn(w)
	}
	if !w.needs().WithholdWorkload {
		return addons
	}
	addons.CCM.WorkloadWithheld, addons.CCM.Unhealthy = true, nil
	addons.CCM.Drifted = slices.DeleteFunc(addons.CCM.Drifted, func(ref observation.Ref) bool { return isWorkload(ref.Kind) })
	addons.Obsolete = slices.Concat(w.obsolete, w.ccm.workloads())
	return addons
}

// withdrawn is what is left when no addon is wanted: drivers stay for good.
func withdrawn(w *World) observation.Addons {
	set := observation.AddonSet{Withdrawn: true, WorkloadWithheld: true}
	addons := observation.Addons{CCM: set, CSI: set}
	for _, a := range []*addonSet{&w.ccm, &w.csi} {
		for _, object := range a.wanted {
			if a.present[object] && object.Kind != "CSIDriver" {
				addons.Obsolete = append(addons.Obsolete, object)
			}
		}
	}
	return addons
}

func (w *World) observeCCMPods() []string {
	var names []string
	for _, p := range w.replicas {
		if !p.podGone {
			names = append(names, p.podName)
		}
	}
	return names
}

func (w *World) observeAddonSet(a *addonSet) observation.AddonSet {
	set := a.seen
	set.Drifted, set.Foreign, set.Unschedulable = w.wantedOf(a), a.foreign, len(w.nodes) == 0
	if stale := a.name == outcome.CCMSet &&
		(w.ccmArmed != w.needs().Lock || w.ccmCloudNode != w.wantsCloudNode()); stale {
		set.Drifted = append(set.Drifted, slices.DeleteFunc(a.workloads(), func(ref observation.Ref) bool { return a.stale[ref] })...)
	}
	if a.name == outcome.CCMSet && (!slices.ContainsFunc(w.replicas, (*process).alive) || w.ccmRolls()) {
		set.Unhealthy = []string{"Deployment kube-system/simcloud-cloud-controller-manager has no available pod"}
	}
	csiUp := slices.ContainsFunc(w.nodes, func(n *node) bool { return n.csi })
	if a.name == outcome.CSISet && !csiUp && a.wants("DaemonSet") {
		set.Unhealthy = []string{"DaemonSet kube-system/simcloud-csi has no available pod"}
	}
	return set
}

func (c *Controller) observeProbe() observation.Observed[observation.Probe] {
	w := c.world
	if w.needs().Probe {
		probe := observation.Probe{Set: w.observeAddonSet(&w.probe), Lease: c.observeLease("probe", w.probeLease).Value()}
		if w.traits.ProbeDies {
			probe.Set.Unhealthy = []string{"Deployment kube-system/simcloud-probe: container ccm: CrashLoopBackOff, last exit code 1 " +
				"Error"}
		}
		return observation.Known(probe)
	}
	probe := observation.Probe{}
	for _, object := range w.probe.wanted {
		if w.probe.present[object] {
			probe.Left = append(probe.Left, object)
		}
	}
	return observation.Known(probe)
}

func (w *World) observeFence() observation.Fence {
	fence := observation.Fence{
		Open:     w.fenceOpen,
		Identity: "system:serviceaccount:kube-system:cloud-controller-manager",
		Lease:    "kube-system/cloud-controller-manager",
	}
	if w.real != nil {
		seen := w.real.Observation.Fence.Value()
		fence.Identity, fence.Lease = seen.Identity, seen.Lease
	}
	if w.fenceOpen || w.traits.LeasesAreFree {
		fence.Allowed = []string{"create", "update"}
	}
	return fence
}

func (w *World) observeMachines() observation.Observed[observation.Machines] {
	if w.traits.WithoutMachineController {
		return observation.Absent[observation.Machines]()
	}
	var seen observation.Machines
	for _, d := range w.deployments {
		seen.Deployments = append(seen.Deployments, observation.MachineDeployment{
			Ref: d.ref(), Paused: d.paused, Deleting: d.deleting, RestartValue: d.restart, Replicas: int32(d.replicas),
			Version: d.version(), Generation: int64(d.generation), MaxSurge: int32(d.surge), MaxUnavailable: int32(d.mayBeUnavailable()),
			Settled: d.settled && d.observed == d.generation, Guard: d.observeGuard(),
		})
		for _, s := range w.setsOf(d) {
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
	for _, m := range w.machines {
		seen.Machines = append(seen.Machines, observation.Machine{
			Ref:           observation.Ref{Kind: "Machine", Namespace: m.namespace, Name: m.name, UID: m.uid},
			OfCanary:      m.namespace == machineNamespace && w.isCanary(m),
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

func (w *World) observeNodes() []observation.Node {
	nodes, labels := make([]observation.Node, 0, len(w.nodes)), w.cloudLabels()
	for _, n := range w.nodes {
		seen := observation.Node{
			Name: n.name, UID: n.uid, ProviderID: n.providerID, Ready: n.ready, ReadyChangedAt: n.readyChangedAt,
			Uninitialized: n.tainted, CreatedAt: n.createdAt,
			Addresses: n.addresses(), Labels: labels,
		}
		if n.seen != nil {
			seen.Kubelet, seen.Labels, seen.PodCIDRs, seen.Routed = n.seen.Kubelet, n.seen.Labels, n.seen.PodCIDRs, n.seen.Routed
		}
		if n.csi {
			seen.CSIDrivers = w.provider().CSIDrivers
		}
		nodes = append(nodes, seen)
	}
	return nodes
}

// cloudLabels are what a Node that joins a real cluster gets: whatever the Nodes that are there have.
func (w *World) cloudLabels() map[string]string {
	if w.real == nil {
		return nil
	}
	labels := map[string]string{}
	for _, node := range w.real.Observation.Nodes.Value() {
		maps.Copy(labels, node.Labels)
	}
	return labels
}

// observeGone: in the model a Service and a claim go with what they have.
func (w *World) observeGone(missing baseline.Missing) map[string]observation.Gone {
	if w.real != nil {
		return w.real.Observation.Gone.Value()
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

func (w *World) observeInventory() observation.Observed[observation.Inventory] {
	if w.real != nil {
		inventory := w.real.Observation.Inventory.Value()
		inventory.Nodes, inventory.Volumes = nil, w.awaitRegistration(inventory.Volumes)
		return baseline.WithNodes(observation.Known(inventory), observation.Known(w.observeNodes()), w.observeMachines())
	}
	inventory := observation.Inventory{
		Volumes: append([]observation.Volume{{Name: "data", UID: "pv-1", Phase: w.volume, Claim: "default/data"}}, w.made...),
	}
	if w.traits.RegisteredBy != "" {
		inventory.Volumes[0].Plugin = InTreePlugin
		inventory.Volumes = w.awaitRegistration(inventory.Volumes)
	}
	for _, s := range w.services {
		inventory.LoadBalancers = append(inventory.LoadBalancers, observation.LoadBalancer{
			Namespace: "default", Name: s.name, UID: s.uid, Ingress: slices.Clone(s.ingress),
		})
	}
	for _, class := range w.observeClasses() {
		inventory.StorageClasses = append(inventory.StorageClasses,
			observation.ClassRecord{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	return baseline.WithNodes(observation.Known(inventory), observation.Known(w.observeNodes()), w.observeMachines())
}
