package simulation

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func (w *World) takeMachines(seen observation.Machines, nodes []observation.Node) {
	for _, d := range seen.Deployments {
		w.deployments = append(w.deployments, &machineDeployment{
			name: d.Name, namespace: d.Namespace, uid: d.UID, replicas: int(d.Replicas), paused: d.Paused, deleting: d.Deleting,
			restart: d.RestartValue, generation: 1, observed: 1, settled: d.Settled, surge: int(d.Replicas),
			guard: guard{
				minReady: int(d.MinReadySeconds), ours: d.MinReadyOurs, owner: d.MinReadyOwner, canary: d.Canary,
			},
		})
	}
	facts := w.cluster.Status.Facts
	for i, s := range seen.Sets {
		set := &machineSet{
			name: s.Name, uid: s.UID, deployment: s.Deployment, restart: s.RestartValue, replicas: int(s.Replicas), createdAt: s.CreatedAt,
			external: facts.RollGeneration != "" && s.RestartValue == facts.RollGeneration ||
				facts.MachineControllerConfiguredAt != nil && s.CreatedAt.After(facts.MachineControllerConfiguredAt.Time),
		}
		if !s.Current {
			set.revision = -1 - i
		} else if at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == s.Deployment }); at >= 0 {
			set.minReady = w.deployments[at].guard.minReady
		}
		w.sets = append(w.sets, set)
	}
	for _, m := range seen.Machines {
		w.machines = append(w.machines, &machine{
			name: m.Name, namespace: m.Namespace, uid: m.UID, set: m.Set, annotation: m.Annotation, external: m.Annotation == "true",
			node: m.NodeName, createdAt: m.CreatedAt, deletedAt: m.DeletingSince, goesFirst: m.GoesFirst,
		})
	}
	for _, n := range nodes {
		w.addNode(w.nodeFrom(n))
	}
	w.linkNodes()
}

// linkNodes: one that was registered and that no Machine names yet is of a Machine that waits for its Node.
func (w *World) linkNodes() {
	for _, n := range w.nodes {
		at := slices.IndexFunc(w.machines, func(m *machine) bool {
			return m.node == "" && w.nodeOf(m) == nil && !m.deleting() && !n.createdAt.Before(m.createdAt)
		})
		if n.machine == "" && n.tainted && at >= 0 {
			n.machine, n.external = w.machines[at].uid, w.machines[at].external
			w.joined[n.machine] = n
		}
	}
}

// nodeFrom is a real Node. One that is not Ready stays so: no one is there to repair it.
func (w *World) nodeFrom(seen observation.Node) *node {
	n := &node{
		name: seen.Name, uid: seen.UID, providerID: seen.ProviderID, ready: seen.Ready, tainted: seen.Uninitialized, instance: true,
		createdAt: seen.CreatedAt, readyChangedAt: seen.ReadyChangedAt, csi: w.registers(seen), seen: &seen,
	}
	if !seen.Ready {
		n.notReadyUntil = w.now.Add(leftAlone)
	}
	for _, m := range w.machines {
		if m.node == seen.Name {
			n.machine, n.external = m.uid, m.external
		}
	}
	return n
}

func (w *World) registers(seen observation.Node) bool {
	drivers := w.provider().CSIDrivers
	return len(drivers) > 0 &&
		!slices.ContainsFunc(drivers, func(driver string) bool { return !slices.Contains(seen.CSIDrivers, driver) })
}

func (w *World) takeCanary(seen observation.CanaryWorkload) {
	for _, object := range seen.Objects {
		w.canary.objects = append(w.canary.objects, canaryObject{kind: object.Kind, uid: object.UID, deletedAt: object.DeletingSince})
	}
}

// takeAddons: what does not differ is there. Pods of a CCM that is there run.
func (w *World) takeAddons(start Start) {
	addons, probe := start.Observation.Addons.Value(), start.Observation.Probe.Value()
	w.ccm = setFrom(outcome.CCMSet, start, addons.CCM, addons.Obsolete)
	w.csi = setFrom(outcome.CSISet, start, addons.CSI, addons.Obsolete)
	w.probe = setFrom(outcome.ProbeSet, start, probe.Set, nil)
	if !w.needs().Probe {
		w.probe.present = map[observation.Ref]bool{}
		for _, left := range probe.Left {
			w.probe.present[left] = true
		}
	}
	w.agents = start.NodeAgents
	w.obsolete = slices.DeleteFunc(
		slices.Clone(addons.Obsolete),
		func(object observation.Ref) bool { return w.ccm.present[object] || w.csi.present[object] },
	)
	for _, agent := range w.agents {
		if w.wantsAgents() && !slices.Contains(addons.CCM.Drifted, agent) {
			w.ccm.present[agent] = true
		}
	}
	w.ccmArmed, w.ccmCloudNode = w.needs().Lock, w.wantsCloudNode()
	if len(w.ccm.workloads()) == 0 {
		return
	}
	for range 2 {
		w.replicas = append(w.replicas, &process{
			id:        w.id("container"),
			podName:   w.id("cloud-controller-manager"),
			startedAt: w.now,
			armed:     w.ccmArmed,
			cloudNode: w.ccmCloudNode,
		})
	}
}

// setFrom: what is not wanted now does not differ, and is there when it is obsolete.
func setFrom(name outcome.AddonSetName, start Start, seen observation.AddonSet, obsolete []observation.Ref) addonSet {
	set := newAddonSet(name)
	set.wanted, set.foreign, set.seen = start.Objects[name], seen.Foreign, seen
	for _, object := range set.wanted {
		theirs := slices.ContainsFunc(
			seen.Foreign,
			func(foreign string) bool { return strings.HasPrefix(foreign+" ", object.String()+" ") },
		)
		unwanted := seen.Withdrawn || seen.WorkloadWithheld && isWorkload(object.Kind)
		differs := slices.Contains(seen.Drifted, object)
		if !theirs && unwanted == slices.Contains(obsolete, object) && (!differs || slices.Contains(start.Differing, object)) {
			set.present[object], set.stale[object] = true, differs
		}
	}
	set.seen.Unhealthy, set.seen.WorkloadWithheld, set.seen.Withdrawn = nil, false, false
	return set
}

func (w *World) wantsAgents() bool { return w.needs().NodeAgents }

// wantedOf is what is missing of a set, with the CCM's agents on the Nodes while they are wanted.
func (w *World) wantedOf(a *addonSet) []observation.Ref {
	missing := a.missing()
	if a.name != outcome.CCMSet || !w.wantsAgents() {
		return missing
	}
	for _, agent := range w.agents {
		if !a.present[agent] {
			missing = append(missing, agent)
		}
	}
	return missing
}

// takeClasses: that of the catalogue comes with the CSI driver's objects, unless it is there.
func (w *World) takeClasses(seen []observation.StorageClass) {
	for _, class := range seen {
		w.classes = append(w.classes, &Class{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	ours := w.provider().DefaultClass.Name
	if ours == "" || w.class(ours) != nil || len(w.provider().CSIDrivers) == 0 {
		return
	}
	w.ourClass = ours
	w.classes = append(w.classes, &Class{Name: ours, Provisioner: w.provider().CSIDrivers[0]})
}
