package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func (ms *Machines) take(seen observation.Machines, nodes []observation.Node) {
	for _, d := range seen.Deployments {
		webhook := Webhook{Refuses: d.Refusal.Of}
		if d.Refusal.By != "" {
			webhook.RefusesUntil = ms.w.Now.Add(leftAlone)
		}
		ms.Deployments = append(ms.Deployments, &MachineDeployment{
			Name: d.Name, Namespace: d.Namespace, UID: d.UID, Replicas: int(d.Replicas), Paused: d.Paused, Deleting: d.Deleting,
			Restart: d.RestartValue, Generation: 1, Observed: 1, Settled: d.Settled, Surge: int(d.Replicas),
			Guard: Guard{
				MinReady: int(d.MinReadySeconds), Ours: d.MinReadyOurs, Owner: d.MinReadyOwner, Canary: d.Canary,
			},
			Webhook: webhook,
		})
	}
	facts := ms.w.Cluster.Status.Facts
	for i, s := range seen.Sets {
		set := &MachineSet{
			Name: s.Name, namespace: s.Namespace, UID: s.UID, Deployment: s.Deployment, Restart: s.RestartValue,
			Replicas: int(s.Replicas), CreatedAt: s.CreatedAt, ofCanary: ofCanary(seen, s),
			External: facts.RollGeneration != "" && s.RestartValue == facts.RollGeneration ||
				facts.MachineControllerConfiguredAt != nil && s.CreatedAt.After(facts.MachineControllerConfiguredAt.Time),
		}
		if !s.Current {
			set.Revision = -1 - i
		} else if d := ms.deployment(s.Deployment); d != nil {
			set.minReady = d.Guard.MinReady
		}
		ms.Sets = append(ms.Sets, set)
	}
	for _, m := range seen.Machines {
		ms.All = append(ms.All, &Machine{
			Name: m.Name, Namespace: m.Namespace, UID: m.UID, Set: m.Set, Annotation: m.Annotation, External: m.Annotation == "true",
			Node: m.NodeName, CreatedAt: m.CreatedAt, deletedAt: m.DeletingSince, GoesFirst: m.GoesFirst,
		})
	}
	for _, n := range nodes {
		ms.w.Nodes.Add(ms.w.Nodes.from(n))
	}
	ms.w.Nodes.link()
}

// ofCanary also knows a MachineSet whose MachineDeployment went before it.
func ofCanary(seen observation.Machines, s observation.MachineSet) bool {
	return slices.ContainsFunc(
		seen.Deployments, func(d observation.MachineDeployment) bool { return d.Canary && d.UID == s.Deployment },
	) || slices.ContainsFunc(seen.Machines, func(m observation.Machine) bool { return m.OfCanary && m.Set == s.UID })
}

// link: one that was registered and that no Machine names yet is of a Machine that waits for its Node.
func (ns *Nodes) link() {
	for _, n := range ns.All {
		at := slices.IndexFunc(ns.w.Machines.All, func(m *Machine) bool {
			return m.Node == "" && ns.Of(m) == nil && !m.Deleting() && !n.CreatedAt.Before(m.CreatedAt)
		})
		if n.Machine == "" && n.Tainted && at >= 0 {
			n.Machine, n.External = ns.w.Machines.All[at].UID, ns.w.Machines.All[at].External
			ns.joined[n.Machine] = n
		}
	}
}

// from is a real Node. One that is not Ready stays so: no one is there to repair it.
func (ns *Nodes) from(seen observation.Node) *Node {
	n := &Node{
		Name: seen.Name, UID: seen.UID, ProviderID: seen.ProviderID, Ready: seen.Ready, Tainted: seen.Uninitialized, instance: true,
		CreatedAt: seen.CreatedAt, labeled: seen.Ready, readyChangedAt: seen.ReadyChangedAt, CSI: ns.registers(seen), seen: &seen,
	}
	if !seen.Ready {
		n.NotReadyUntil = ns.w.Now.Add(leftAlone)
	}
	for _, m := range ns.w.Machines.All {
		if m.Node == seen.Name {
			n.Machine, n.External = m.UID, m.External
		}
	}
	return n
}

func (ns *Nodes) registers(seen observation.Node) bool {
	drivers := ns.w.Provider().CSIDrivers
	return len(drivers) > 0 &&
		!slices.ContainsFunc(drivers, func(driver string) bool { return !slices.Contains(seen.CSIDrivers, driver) })
}

func (ca *Canary) take(seen observation.CanaryWorkload) {
	for _, object := range seen.Objects {
		ca.Objects = append(ca.Objects, CanaryObject{Kind: object.Kind, uid: object.UID, DeletedAt: object.DeletingSince})
	}
}

// take: what does not differ is there. Pods of a CCM that is there run.
func (as *Addons) take(start Start) {
	addons, probe := start.Observation.Addons.Value(), start.Observation.Probe.Value()
	as.CCM = setFrom(outcome.CCMSet, start, addons.CCM, addons.Obsolete)
	as.CSI = setFrom(outcome.CSISet, start, addons.CSI, addons.Obsolete)
	as.Probe = setFrom(outcome.ProbeSet, start, probe.Set, nil)
	if !as.w.needs().Probe {
		as.Probe.Present = map[observation.Ref]bool{}
		for _, left := range probe.Left {
			as.Probe.Present[left] = true
		}
	}
	as.agents = start.NodeAgents
	as.Obsolete = slices.DeleteFunc(
		slices.Clone(addons.Obsolete),
		func(object observation.Ref) bool { return as.CCM.Present[object] || as.CSI.Present[object] },
	)
	for _, agent := range as.agents {
		if as.wantsAgents() && !slices.Contains(addons.CCM.Drifted, agent) {
			as.CCM.Present[agent] = true
		}
	}
	as.w.CCM.armed, as.w.CCM.CloudNode = as.w.needs().Lock, as.w.CCM.WantsCloudNode()
	if len(as.CCM.workloads()) == 0 {
		return
	}
	for range 2 {
		as.w.CCM.Processes = append(as.w.CCM.Processes, &Process{
			id:        as.w.ID("container"),
			PodName:   as.w.ID("cloud-controller-manager"),
			startedAt: as.w.Now,
			Armed:     as.w.CCM.armed,
			CloudNode: as.w.CCM.CloudNode,
		})
	}
}

// setFrom: what is not wanted now does not differ, and is there when it is obsolete.
func setFrom(name outcome.AddonSetName, start Start, seen observation.AddonSet, obsolete []observation.Ref) AddonSet {
	set := NewAddonSet(name)
	set.Wanted, set.Foreign, set.seen = start.Objects[name], seen.Foreign, seen
	for _, object := range set.Wanted {
		theirs := slices.ContainsFunc(
			seen.Foreign,
			func(foreign observation.Text) bool { return foreign.Names(object) },
		)
		unwanted := seen.Withdrawn || seen.WorkloadWithheld && IsWorkload(object.Kind)
		differs := slices.Contains(seen.Drifted, object)
		if !theirs && unwanted == slices.Contains(obsolete, object) && (!differs || slices.Contains(start.Differing, object)) {
			set.Present[object], set.stale[object] = true, differs
		}
	}
	set.seen.Unhealthy, set.seen.WorkloadWithheld, set.seen.Withdrawn = nil, false, false
	return set
}

func (as *Addons) wantsAgents() bool { return as.w.needs().NodeAgents }

// wantedOf is what is missing of a set, with the CCM's agents on the Nodes while they are wanted.
func (as *Addons) wantedOf(a *AddonSet) []observation.Ref {
	missing := a.missing()
	if a.Name != outcome.CCMSet || !as.wantsAgents() {
		return missing
	}
	for _, agent := range as.agents {
		if !a.Present[agent] {
			missing = append(missing, agent)
		}
	}
	return missing
}

// takeClasses: that of the catalogue comes with the CSI driver's objects, unless it is there.
func (st *Storage) takeClasses(seen []observation.StorageClass) {
	for _, class := range seen {
		st.Classes = append(st.Classes, &Class{Name: class.Name, Provisioner: class.Provisioner, Default: class.Default})
	}
	ours := st.w.Provider().DefaultClass.Name
	if ours == "" || st.Class(ours) != nil || len(st.w.Provider().CSIDrivers) == 0 {
		return
	}
	st.OurClass = ours
	st.Classes = append(st.Classes, &Class{Name: ours, Provisioner: st.w.Provider().CSIDrivers[0]})
}
