package simulation

import "slices"

// stepSets makes and deletes Machines, one a set and step.
func (ms *Machines) stepSets() {
	if !ms.w.controlPlane.machineControllerRuns() {
		return
	}
	for _, s := range ms.sets {
		at := slices.IndexFunc(ms.deployments, func(d *machineDeployment) bool { return d.uid == s.deployment })
		if at < 0 {
			continue
		}
		machines := ms.of(s)
		switch {
		case len(machines) < s.replicas:
			if _, running := ms.w.controlPlane.runs("machine-controller-webhook", "node-external-cloud-provider"); running && !ms.w.cloud.webhookRefuses() {
				for range ms.w.atOnce(1, s.replicas-len(machines)) {
					m := ms.create(ms.deployments[at], s)
					ms.w.say("machine-controller: creates Machine %s", m.name)
				}
			}
		case len(machines) > s.replicas:
			ms.expendableFirst(machines)
			for _, m := range machines[:ms.w.atOnce(1, len(machines)-s.replicas)] {
				ms.delete(m)
				ms.w.hooks.Replaced(m, s)
			}
		}
	}
}

// expendableFirst (randomDeletePolicy): those that are marked, then any.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
func (ms *Machines) expendableFirst(machines []*machine) {
	if !ms.w.hasty {
		ms.w.rng.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
	}
	slices.SortStableFunc(machines, func(a, b *machine) int {
		switch {
		case a.goesFirst == b.goesFirst:
			return 0
		case a.goesFirst:
			return -1
		}
		return 1
	})
}

// boots says that there is a bootstrap configuration for it: that of a MachineDeployment's former revision is gone.
func (ms *Machines) boots(m *machine) bool {
	s := ms.setOf(m)
	if s == nil {
		return true
	}
	at := slices.IndexFunc(ms.deployments, func(d *machineDeployment) bool { return d.uid == s.deployment })
	return at < 0 || ms.deployments[at].current(s) && ms.w.bootstraps.written(s)
}

func (ms *Machines) delete(m *machine) {
	m.deletedAt = ms.w.now
	ms.w.say("machine-controller: deletes Machine %s", m.name)
}

// step provisions, reports the Node's name, and lets deleted ones go with their Node.
func (ms *Machines) step() {
	if !ms.w.controlPlane.machineControllerRuns() {
		return
	}
	for _, m := range slices.Clone(ms.all) {
		n := ms.w.nodes.of(m)
		switch {
		case m.deleting():
			ms.letGo(m)
		case m.node != "" && n != nil:
		case n != nil && ms.links(n):
			m.node = n.name
			ms.ownProviderID(n)
		case ms.joinsTooLate(m):
			ms.delete(m)
		case n == nil:
			ms.boot(m)
		}
	}
}

// links says that the machine-controller finds the Machine of a Node: by its providerID or an address, at once where it comes
// with one.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L1064 (getNode)
func (ms *Machines) links(n *node) bool {
	return !ms.w.traits.LinksLate || !n.external || n.providerID != "" && (ms.w.hasty || ms.w.chance(0.1))
}

// unlinked says that a Machine will soon be found to be that of a Node.
func (ms *Machines) unlinked() bool {
	return slices.ContainsFunc(ms.all, func(m *machine) bool {
		n := ms.w.nodes.of(m)
		return n != nil && m.node == "" && !m.deleting() && (!n.tainted || !n.external)
	})
}

// joinsTooLate: a Machine of a MachineSet that has no Node after -join-cluster-timeout is made again.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L956 (joinClusterTimeout)
func (ms *Machines) joinsTooLate(m *machine) bool {
	return ms.w.traits.JoinTimeout > 0 && m.set != "" && ms.w.now.Sub(m.createdAt) > ms.w.traits.JoinTimeout
}

func (ms *Machines) letGo(m *machine) {
	if !m.stuck && ms.w.chance(0.5) {
		ms.w.nodes.deleteOf(m)
		ms.all = slices.DeleteFunc(ms.all, func(other *machine) bool { return other == m })
	}
}

func (ms *Machines) boot(m *machine) {
	if !m.stuck && !ms.bootless && ms.boots(m) && ms.w.chance(0.5) {
		if s := ms.setOf(m); s != nil && !ms.w.traits.WithoutOperatingSystemManager {
			m.external = s.external
		}
		ms.join(m)
		m.node = ""
	}
}

// ownProviderID is a trap of the machine-controller: without its flag it writes a providerID of its own, which is
// immutable, so that no CCM can ever initialize that Node in place.
func (ms *Machines) ownProviderID(n *node) {
	if on, running := ms.w.controlPlane.runs("machine-controller", "node-external-cloud-provider"); running && !on && n.providerID == "" {
		n.providerID = "kubermatic://simcloud/" + n.machine
	}
}

// step are the kubelets of the user cluster and the CSI driver's DaemonSet.
func (ns *Nodes) step() {
	for at, n := range ns.all {
		ns.reportAddresses(at, n)
		before := n.ready
		n.ready = !ns.w.now.Before(n.notReadyUntil) && ns.w.now.Sub(n.createdAt) >= tick
		if n.ready != before || n.readyChangedAt.IsZero() {
			n.readyChangedAt = ns.w.now
		}
		if !n.csi && n.ready && ns.w.addons.csi.serves() && ns.w.chance(0.7) {
			n.csi = true
		}
	}
}
