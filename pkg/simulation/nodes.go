package simulation

import "slices"

// stepMachineSets makes and deletes Machines, one a set and step.
func (w *World) stepMachineSets() {
	if !w.machineControllerRuns() {
		return
	}
	for _, s := range w.sets {
		at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == s.deployment })
		if at < 0 {
			continue
		}
		machines := w.machinesOf(s)
		switch {
		case len(machines) < s.replicas:
			if _, running := w.runs("machine-controller-webhook", "node-external-cloud-provider"); running && !w.webhookRefuses() {
				for range w.atOnce(1, s.replicas-len(machines)) {
					m := w.createMachine(w.deployments[at], s)
					w.say("machine-controller: creates Machine %s", m.name)
				}
			}
		case len(machines) > s.replicas:
			w.expendableFirst(machines)
			for _, m := range machines[:w.atOnce(1, len(machines)-s.replicas)] {
				w.deleteMachine(m)
				w.hooks.Replaced(m, s)
			}
		}
	}
}

// expendableFirst (randomDeletePolicy): those that are marked, then any.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
func (w *World) expendableFirst(machines []*machine) {
	if !w.hasty {
		w.rng.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
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
func (w *World) boots(m *machine) bool {
	s := w.setOf(m)
	if s == nil {
		return true
	}
	at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == s.deployment })
	return at < 0 || w.deployments[at].current(s) && w.written(s)
}

func (w *World) deleteMachine(m *machine) {
	m.deletedAt = w.now
	w.say("machine-controller: deletes Machine %s", m.name)
}

// stepMachines provisions, reports the Node's name, and lets deleted ones go with their Node.
func (w *World) stepMachines() {
	if !w.machineControllerRuns() {
		return
	}
	for _, m := range slices.Clone(w.machines) {
		n := w.nodeOf(m)
		switch {
		case m.deleting():
			w.letGo(m)
		case m.node != "" && n != nil:
		case n != nil && w.links(n):
			m.node = n.name
			w.ownProviderID(n)
		case w.joinsTooLate(m):
			w.deleteMachine(m)
		case n == nil:
			w.boot(m)
		}
	}
}

// links says that the machine-controller finds the Machine of a Node: by its providerID or an address, at once where it comes
// with one.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L1064 (getNode)
func (w *World) links(n *node) bool {
	return !w.traits.LinksLate || !n.external || n.providerID != "" && (w.hasty || w.chance(0.1))
}

// unlinked says that a Machine will soon be found to be that of a Node.
func (w *World) unlinked() bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool {
		n := w.nodeOf(m)
		return n != nil && m.node == "" && !m.deleting() && (!n.tainted || !n.external)
	})
}

// joinsTooLate: a Machine of a MachineSet that has no Node after -join-cluster-timeout is made again.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L956 (joinClusterTimeout)
func (w *World) joinsTooLate(m *machine) bool {
	return w.traits.JoinTimeout > 0 && m.set != "" && w.now.Sub(m.createdAt) > w.traits.JoinTimeout
}

func (w *World) letGo(m *machine) {
	if !m.stuck && w.chance(0.5) {
		w.deleteNodeOf(m)
		w.machines = slices.DeleteFunc(w.machines, func(other *machine) bool { return other == m })
	}
}

func (w *World) boot(m *machine) {
	if !m.stuck && !w.bootless && w.boots(m) && w.chance(0.5) {
		if s := w.setOf(m); s != nil && !w.traits.WithoutOperatingSystemManager {
			m.external = s.external
		}
		w.join(m)
		m.node = ""
	}
}

// ownProviderID is a trap of the machine-controller: without its flag it writes a providerID of its own, which is
// immutable, so that no CCM can ever initialize that Node in place.
func (w *World) ownProviderID(n *node) {
	if on, running := w.runs("machine-controller", "node-external-cloud-provider"); running && !on && n.providerID == "" {
		n.providerID = "kubermatic://simcloud/" + n.machine
	}
}

// stepNodes are the kubelets of the user cluster and the CSI driver's DaemonSet.
func (w *World) stepNodes() {
	for at, n := range w.nodes {
		w.reportAddresses(at, n)
		before := n.ready
		n.ready = !w.now.Before(n.notReadyUntil) && w.now.Sub(n.createdAt) >= tick
		if n.ready != before || n.readyChangedAt.IsZero() {
			n.readyChangedAt = w.now
		}
		if !n.csi && n.ready && w.csi.serves() && w.chance(0.7) {
			n.csi = true
		}
	}
}
