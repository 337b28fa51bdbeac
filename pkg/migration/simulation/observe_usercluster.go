package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func (w *World) observeMachineController() []migration.MachineControllerDeployment {
	var deployments []migration.MachineControllerDeployment
	for _, d := range w.workloads {
		if d.flag != "" {
			deployments = append(deployments, migration.MachineControllerDeployment{Component: w.observeWorkload(d), Flag: d.flag})
		}
	}
	return deployments
}

func (w *World) observeAddons() migration.Addons {
	addons := migration.Addons{CCM: w.observeAddonSet(&w.ccm), CSI: w.observeAddonSet(&w.csi)}
	if migration.WithdrawsAddons(w.cluster.Status.Facts) {
		return withdrawn(w)
	}
	if !migration.WithholdsWorkload(w.cluster.Status.Facts) {
		return addons
	}
	workload := func(ref migration.Ref) bool { return ref.Kind == "Deployment" }
	addons.CCM.WorkloadWithheld, addons.CCM.Unhealthy = true, nil
	addons.CCM.Drifted = slices.DeleteFunc(addons.CCM.Drifted, workload)
	if w.ccm.present["Deployment"] {
		addons.Obsolete = []migration.Ref{w.ccm.ref("Deployment")}
	}
	return addons
}

// withdrawn is what is left when no addon is wanted: drivers stay for good.
func withdrawn(w *World) migration.Addons {
	set := migration.AddonSet{Withdrawn: true, WorkloadWithheld: true}
	addons := migration.Addons{CCM: set, CSI: set}
	for _, a := range []*addonSet{&w.ccm, &w.csi} {
		for _, kind := range a.wanted {
			if a.present[kind] && kind != "CSIDriver" {
				addons.Obsolete = append(addons.Obsolete, a.ref(kind))
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

func (w *World) observeAddonSet(a *addonSet) migration.AddonSet {
	set := migration.AddonSet{Drifted: a.missing(), Foreign: a.foreign, Unschedulable: len(w.nodes) == 0}
	if stale := a.name == migration.CCMSet && a.present["Deployment"] &&
		(w.ccmArmed != migration.WantsLock(w.cluster.Status.Facts) || w.ccmCloudNode != w.wantsCloudNode()); stale {
		set.Drifted = append(set.Drifted, a.ref("Deployment"))
	}
	if a.name == migration.CCMSet && (!slices.ContainsFunc(w.replicas, (*process).alive) || w.ccmRolls()) {
		set.Unhealthy = []string{"Deployment kube-system/simcloud-cloud-controller-manager has no available pod"}
	}
	csiUp := slices.ContainsFunc(w.nodes, func(n *node) bool { return n.csi })
	if a.name == migration.CSISet && !csiUp {
		set.Unhealthy = []string{"DaemonSet kube-system/simcloud-csi has no available pod"}
	}
	return set
}

func (c *Controller) observeProbe() migration.Observed[migration.Probe] {
	w := c.world
	if migration.WantsProbe(w.cluster) {
		probe := migration.Probe{Set: w.observeAddonSet(&w.probe), Lease: c.observeLease("probe", w.probeLease).Value()}
		if w.scenario.ProbeDies {
			probe.Set.Unhealthy = []string{"Deployment kube-system/simcloud-probe: container ccm: CrashLoopBackOff, last exit code 1 Error"}
		}
		return migration.Known(probe)
	}
	probe := migration.Probe{}
	for _, kind := range w.probe.wanted {
		if w.probe.present[kind] {
			probe.Left = append(probe.Left, w.probe.ref(kind))
		}
	}
	return migration.Known(probe)
}

func (w *World) observeFence() migration.Fence {
	fence := migration.Fence{
		Open: w.fenceOpen, Identity: "system:serviceaccount:kube-system:cloud-controller-manager", Lease: "kube-system/cloud-controller-manager",
	}
	if w.fenceOpen || w.scenario.LeasesAreFree {
		fence.Allowed = []string{"create", "update"}
	}
	return fence
}

func (w *World) observeMachines() migration.Observed[migration.Machines] {
	if w.scenario.WithoutMachineController {
		return migration.Absent[migration.Machines]()
	}
	var seen migration.Machines
	for _, d := range w.deployments {
		seen.Deployments = append(seen.Deployments, migration.MachineDeployment{
			Ref: d.ref(), Paused: d.paused, Deleting: d.deleting, RestartValue: d.restart, Replicas: int32(d.replicas),
			Complete: d.complete && d.observed == d.generation,
		})
		for _, s := range w.setsOf(d) {
			seen.Sets = append(seen.Sets, migration.MachineSet{
				Ref:        migration.Ref{Kind: "MachineSet", Namespace: d.namespace, Name: s.name, UID: s.uid},
				Deployment: d.uid, RestartValue: s.restart, CreatedAt: s.createdAt, Replicas: int32(s.replicas), Current: d.current(s),
			})
		}
	}
	for _, m := range w.machines {
		seen.Machines = append(seen.Machines, migration.Machine{
			Ref: migration.Ref{Kind: "Machine", Namespace: m.namespace, Name: m.name, UID: m.uid},
			Set: m.set, Annotation: m.annotation, NodeName: m.node, CreatedAt: m.createdAt, Deleting: m.deleting(), DeletingSince: m.deletedAt,
		})
	}
	return migration.Known(seen)
}

func (w *World) observeNodes() []migration.Node {
	nodes := make([]migration.Node, 0, len(w.nodes))
	for _, n := range w.nodes {
		seen := migration.Node{
			Name: n.name, UID: n.uid, ProviderID: n.providerID, Ready: n.ready, Uninitialized: n.tainted, CreatedAt: n.createdAt,
			Addresses: n.addresses(),
		}
		if n.csi {
			seen.CSIDrivers = []string{csiDriver}
		}
		nodes = append(nodes, seen)
	}
	return nodes
}

func (w *World) observeInventory() migration.Observed[migration.Inventory] {
	inventory := migration.Inventory{
		Volumes: append([]migration.Volume{{Name: "data", UID: "pv-1", Phase: w.volume, Claim: "default/data"}}, w.made...),
	}
	for _, s := range w.services {
		inventory.LoadBalancers = append(inventory.LoadBalancers, migration.LoadBalancer{
			Namespace: "default", Name: s.name, UID: s.uid, Ingress: slices.Clone(s.ingress),
		})
	}
	return migration.WithAddresses(migration.Known(inventory), migration.Known(w.observeNodes()), w.provider())
}
