package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// stepSets makes and deletes Machines, one a set and step.
func (ms *Machines) stepSets() {
	ms.collect()
	if !ms.w.ControlPlane.machineControllerRuns() {
		return
	}
	lists := ms.lists()
	for _, s := range ms.Sets {
		if d := ms.deploymentOf(s); d != nil {
			ms.scale(d, s)
		}
		ms.look(s, lists)
	}
}

func (ms *Machines) scale(d *MachineDeployment, s *MachineSet) {
	machines := ms.Of(s)
	switch {
	case d.Deleting && d.Foreground:
		// It is being deleted itself.
	case len(machines) < s.Replicas:
		_, running := ms.w.ControlPlane.Runs("machine-controller-webhook", "node-external-cloud-provider")
		if running && !ms.refuses(d, observation.RefusedCanary) {
			for range ms.w.atOnce(1, s.Replicas-len(machines)) {
				m := ms.Create(d, s)
				ms.w.Say("machine-controller: creates Machine %s", m.Name)
			}
		}
	case len(machines) > s.Replicas:
		ms.expendableFirst(machines)
		for _, m := range machines[:ms.w.atOnce(1, len(machines)-s.Replicas)] {
			ms.Delete(m)
			ms.w.Hooks.Witness.Replaced(m, s)
		}
	}
}

// expendableFirst (randomDeletePolicy): those that are marked, then any.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
func (ms *Machines) expendableFirst(machines []*Machine) {
	if !ms.w.hasty {
		ms.w.Rng.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
	}
	slices.SortStableFunc(machines, func(a, b *Machine) int {
		switch {
		case a.GoesFirst == b.GoesFirst:
			return 0
		case a.GoesFirst:
			return -1
		}
		return 1
	})
}

// boots says that there is a bootstrap configuration for it: that of a MachineDeployment's former revision is gone, and a Machine
// without one never has any. Old releases need none.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/util/machine.go#L58
func (ms *Machines) boots(m *Machine) bool {
	s := ms.SetOf(m)
	if s == nil {
		return ms.w.Traits.WithoutOperatingSystemManager
	}
	d := ms.deploymentOf(s)
	if d == nil {
		return s.Deployment == ""
	}
	return d.Current(s) && ms.w.Bootstraps.Written(s)
}

// Delete begins to.
func (ms *Machines) Delete(m *Machine) {
	m.deletedAt = ms.w.Now
	ms.w.Say("machine-controller: deletes Machine %s", m.Name)
}

// step provisions, reports the Node's name, and lets deleted ones go with their Node.
func (ms *Machines) step() {
	ms.w.Bootstraps.step()
	if !ms.w.ControlPlane.machineControllerRuns() {
		return
	}
	lists := ms.lists()
	woken := lists || ms.events != ms.w.Nodes.events
	ms.events = ms.w.Nodes.events
	for _, m := range slices.Clone(ms.All) {
		n := ms.w.Nodes.Of(m)
		switch {
		case m.Deleting():
			ms.letGo(m)
		case n == nil && ms.joinsTooLate(m):
			ms.Delete(m)
		case n == nil:
			ms.boot(m)
		case m.Node != "":
			ms.follow(m, n, lists)
		case ms.looksFor(m, n, woken):
			ms.find(m, n)
		}
	}
}

// find the Node of a Machine, or give it up.
func (ms *Machines) find(m *Machine, n *Node) {
	switch {
	case ms.links(n):
		m.Node = n.Name
		ms.follow(m, n, true)
	case ms.joinsTooLate(m):
		ms.Delete(m)
	}
}

// links says that the machine-controller finds the Machine of a Node: by its providerID or an address.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L1064 (getNode)
func (ms *Machines) links(n *Node) bool {
	return !ms.w.Traits.LinksLate || !n.External || n.ProviderID != ""
}

// Unlinked says that a Machine will soon be found to be that of a Node.
func (ms *Machines) Unlinked() bool {
	return slices.ContainsFunc(ms.All, func(m *Machine) bool {
		n := ms.w.Nodes.Of(m)
		return n != nil && m.Node == "" && !m.Deleting() && (!n.Tainted || !n.External)
	})
}

// joinsTooLate: a Machine of a MachineSet that has no Node after -join-cluster-timeout is made again.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L956 (joinClusterTimeout)
func (ms *Machines) joinsTooLate(m *Machine) bool {
	return ms.w.Traits.JoinTimeout > 0 && m.Set != "" && ms.w.Now.Sub(m.CreatedAt) > ms.w.Traits.JoinTimeout
}

// letGo: whether the pods of a Node are gone, and then its instance, is looked at every ten seconds.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L638
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L721
func (ms *Machines) letGo(m *Machine) {
	waits := !ms.w.hasty && ms.w.Nodes.Of(m) != nil && ms.w.Now.Sub(m.deletedAt) < drainRetry
	if !m.Stuck && !waits && !ms.drainsForLong(m) && ms.w.Chance(0.5) {
		ms.w.Nodes.deleteOf(m)
		ms.All = slices.DeleteFunc(ms.All, func(other *Machine) bool { return other == m })
	}
}

// drainsForLong: pods of a Node that is not Ready never end, and old releases wait for them until they go on by force.
// https://github.com/kubermatic/machine-controller/blob/v1.65.1/pkg/controller/machine/controller.go#L528 (shouldEvict)
func (ms *Machines) drainsForLong(m *Machine) bool {
	n := ms.w.Nodes.Of(m)
	return ms.w.Traits.DrainsNotReady && n != nil && !n.Ready && !m.SkipsEviction && ms.w.Now.Sub(m.deletedAt) < skipEvictionAfter
}

func (ms *Machines) boot(m *Machine) {
	if !m.Stuck && !ms.Bootless && ms.boots(m) && ms.w.Chance(0.5) {
		if s := ms.SetOf(m); s != nil && !ms.w.Traits.WithoutOperatingSystemManager {
			m.External = s.External
		}
		ms.Join(m)
		m.Node = ""
	}
}

// ownProviderID is a trap of the machine-controller: without its flag it writes a providerID of its own, which is
// immutable, so that no CCM can ever initialize that Node in place.
func (ms *Machines) ownProviderID(n *Node) {
	on, running := ms.w.ControlPlane.Runs("machine-controller", "node-external-cloud-provider")
	if running && !on && n.ProviderID == "" {
		n.ProviderID = "kubermatic://simcloud/" + n.Machine
	}
}

// step are the kubelets of the user cluster and the CSI driver's DaemonSet.
func (ns *Nodes) step() {
	for at, n := range ns.All {
		ns.reportAddresses(at, n)
		before := n.Ready
		n.Ready = !ns.w.Now.Before(n.NotReadyUntil) && ns.w.Now.Sub(n.CreatedAt) >= Tick
		if n.Ready != before || n.readyChangedAt.IsZero() {
			n.readyChangedAt = ns.w.Now
			if !ns.named(n) {
				ns.events++
			}
		}
		if !n.CSI && n.Ready && ns.w.Addons.CSI.serves() && ns.w.Chance(0.7) {
			n.CSI = true
		}
	}
}
