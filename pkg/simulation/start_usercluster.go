package simulation

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func (ms *Machines) take(seen observation.Machines, nodes []observation.Node) {
	for _, d := range seen.Deployments {
		ms.deployments = append(ms.deployments, &machineDeployment{
			name: d.Name, namespace: d.Namespace, uid: d.UID, replicas: int(d.Replicas), paused: d.Paused, deleting: d.Deleting,
			restart: d.RestartValue, generation: 1, observed: 1, settled: d.Settled, surge: int(d.Replicas),
			guard: guard{
				minReady: int(d.MinReadySeconds), ours: d.MinReadyOurs, owner: d.MinReadyOwner, canary: d.Canary,
			},
		})
	}
	facts := ms.w.cluster.Status.Facts
	for i, s := range seen.Sets {
		set := &machineSet{
			name: s.Name, uid: s.UID, deployment: s.Deployment, restart: s.RestartValue, replicas: int(s.Replicas), createdAt: s.CreatedAt,
			external: facts.RollGeneration != "" && s.RestartValue == facts.RollGeneration ||
				facts.MachineControllerConfiguredAt != nil && s.CreatedAt.After(facts.MachineControllerConfiguredAt.Time),
		}
		if !s.Current {
			set.revision = -1 - i
		} else if at := slices.IndexFunc(ms.deployments, func(d *machineDeployment) bool { return d.uid == s.Deployment }); at >= 0 {
			set.minReady = ms.deployments[at].guard.minReady
		}
		ms.sets = append(ms.sets, set)
	}
	for _, m := range seen.Machines {
		ms.all = append(ms.all, &machine{
			name: m.Name, namespace: m.Namespace, uid: m.UID, set: m.Set, annotation: m.Annotation, external: m.Annotation == "true",
			node: m.NodeName, createdAt: m.CreatedAt, deletedAt: m.DeletingSince, goesFirst: m.GoesFirst,
		})
	}
	for _, n := range nodes {
		ms.w.nodes.add(ms.w.nodes.from(n))
	}
	ms.w.nodes.link()
}

// link: one that was registered and that no Machine names yet is of a Machine that waits for its Node.
func (ns *Nodes) link() {
	for _, n := range ns.all {
		at := slices.IndexFunc(ns.w.machines.all, func(m *machine) bool {
			return m.node == "" && ns.of(m) == nil && !m.deleting() && !n.createdAt.Before(m.createdAt)
		})
		if n.machine == "" && n.tainted && at >= 0 {
			n.machine, n.external = ns.w.machines.all[at].uid, ns.w.machines.all[at].external
			ns.joined[n.machine] = n
		}
	}
}

// from is a real Node. One that is not Ready stays so: no one is there to repair it.
func (ns *Nodes) from(seen observation.Node) *node {
	n := &node{
		name: seen.Name, uid: seen.UID, providerID: seen.ProviderID, ready: seen.Ready, tainted: seen.Uninitialized, instance: true,
		createdAt: seen.CreatedAt, readyChangedAt: seen.ReadyChangedAt, csi: ns.registers(seen), seen: &seen,
	}
	if !seen.Ready {
		n.notReadyUntil = ns.w.now.Add(leftAlone)
	}
	for _, m := range ns.w.machines.all {
		if m.node == seen.Name {
			n.machine, n.external = m.uid, m.external
		}
	}
	return n
}

func (ns *Nodes) registers(seen observation.Node) bool {
	drivers := ns.w.provider().CSIDrivers
	return len(drivers) > 0 &&
		!slices.ContainsFunc(drivers, func(driver string) bool { return !slices.Contains(seen.CSIDrivers, driver) })
}

func (ca *Canary) take(seen observation.CanaryWorkload) {
	for _, object := range seen.Objects {
		ca.objects = append(ca.objects, canaryObject{kind: object.Kind, uid: object.UID, deletedAt: object.DeletingSince})
	}
}

// take: what does not differ is there. Pods of a CCM that is there run.
func (as *Addons) take(start Start) {
	addons, probe := start.Observation.Addons.Value(), start.Observation.Probe.Value()
	as.ccm = setFrom(outcome.CCMSet, start, addons.CCM, addons.Obsolete)
	as.csi = setFrom(outcome.CSISet, start, addons.CSI, addons.Obsolete)
	as.probe = setFrom(outcome.ProbeSet, start, probe.Set, nil)
	if !as.w.needs().Probe {
		as.probe.present = map[observation.Ref]bool{}
		for _, left := range probe.Left {
			as.probe.present[left] = true
		}
	}
	as.agents = start.NodeAgents
	as.obsolete = slices.DeleteFunc(
		slices.Clone(addons.Obsolete),
		func(object observation.Ref) bool { return as.ccm.present[object] || as.csi.present[object] },
	)
	for _, agent := range as.agents {
		if as.wantsAgents() && !slices.Contains(addons.CCM.Drifted, agent) {
			as.ccm.present[agent] = true
		}
	}
	as.w.ccm.armed, as.w.ccm.cloudNode = as.w.needs().Lock, as.w.ccm.wantsCloudNode()
	if len(as.ccm.workloads()) == 0 {
		return
	}
	for range 2 {
		as.w.ccm.processes = append(as.w.ccm.processes, &process{
			id:        as.w.id("container"),
			podName:   as.w.id("cloud-controller-manager"),
			startedAt: as.w.now,
			armed:     as.w.ccm.armed,
			cloudNode: as.w.ccm.cloudNode,
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

func (as *Addons) wantsAgents() bool { return as.w.needs().NodeAgents }

// wantedOf is what is missing of a set, with the CCM's agents on the Nodes while they are wanted.
func (as *Addons) wantedOf(a *addonSet) []observation.Ref {
	missing := a.missing()
	if a.name != outcome.CCMSet || !as.wantsAgents() {
		return missing
	}
	for _, agent := range as.agents {
		if !a.present[agent] {
			missing = append(missing, agent)
		}
	}
	return missing
}

// takeClasses: that of the catalogue comes with the CSI driver's objects, unless it is there.
func (st *Storage) takeClasses(seen []observation.StorageClass) {
	for _, class := range seen {
		st.classes = append(st.classes, &Class{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	ours := st.w.provider().DefaultClass.Name
	if ours == "" || st.class(ours) != nil || len(st.w.provider().CSIDrivers) == 0 {
		return
	}
	st.ourClass = ours
	st.classes = append(st.classes, &Class{Name: ours, Provisioner: st.w.provider().CSIDrivers[0]})
}
