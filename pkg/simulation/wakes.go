package simulation

import (
	"slices"
	"time"
)

// What wakes the machine-controller, and what does not. It looks at a MachineSet when that or one of its Machines was written,
// once more after minReadySeconds where all are Ready, and else when its caches deliver everything again. A Node wakes only its
// Machine, when it comes and when Ready changes, and a Machine is written only when its Node is Ready for the first time: that a
// Node is NotReady later, or comes back, no MachineSet learns.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L90-L99
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L235-L238
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L211-L232
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L478-L493

const (
	// joinRetry is how often the Node of a Machine is looked for that has only so long to join.
	joinRetry = time.Minute
	// skipEvictionAfter is the default of the flag.
	skipEvictionAfter = 2 * time.Hour
	// drainRetry is how often a Machine that goes is looked at.
	drainRetry = 10 * time.Second
)

// wakes is what a MachineSet is looked at for.
type wakes struct{ replicas, minReady, machines, linked, readied, marked int }

func (ms *Machines) wakesOf(s *MachineSet) wakes {
	w := wakes{replicas: s.Replicas, minReady: s.minReady}
	for _, m := range ms.Of(s) {
		w.machines++
		w.linked += one(m.Node != "")
		w.readied += one(m.readied)
		w.marked += one(m.GoesFirst)
	}
	return w
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// look at a MachineSet and write its status, if something wakes for it.
func (ms *Machines) look(s *MachineSet, lists bool) {
	now := ms.wakesOf(s)
	due := !s.lookAt.IsZero() && !ms.w.Now.Before(s.lookAt)
	if !lists && !due && now == s.seen {
		return
	}
	s.seen, s.lookAt = now, time.Time{}
	s.ready, s.available = ms.count(s)
	if s.minReady > 0 && s.ready == s.Replicas && s.available != s.Replicas {
		s.lookAt = ms.w.Now.Add(time.Duration(s.minReady) * time.Second)
	}
}

// looksFor says that something has a Machine without Node looked at: that a Node came that no Machine names yet, or that Ready of
// one changed. That a CCM names one does not. The look 30 seconds after the instance was made comes before a machine has booted.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L250-L290
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L861
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L970
func (ms *Machines) looksFor(m *Machine, n *Node, woken bool) bool {
	due := !m.lookAt.IsZero() && !ms.w.Now.Before(m.lookAt)
	if !ms.w.hasty && !woken && !due && ms.w.Traits.LinksLate && n.External {
		return false
	}
	if ms.w.Traits.JoinTimeout > 0 && (due || m.lookAt.IsZero()) {
		m.lookAt = ms.w.Now.Add(joinRetry)
	}
	return true
}

// named says that some Machine names a Node.
func (ns *Nodes) named(n *Node) bool {
	return slices.ContainsFunc(ns.w.Machines.All, func(m *Machine) bool { return m.UID == n.Machine && m.Node == n.Name })
}

// follow is a look at a Machine whose Node is known, whenever Ready of that changes. Only a Ready one gets what its Machine wants
// of it: labels, annotations, taints.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L448-L475
func (ms *Machines) follow(m *Machine, n *Node, woken bool) {
	if !woken && m.followed.Equal(n.readyChangedAt) {
		return
	}
	m.followed = n.readyChangedAt
	if n.Ready {
		m.readied, n.labeled = true, true
		ms.ownProviderID(n)
	}
}
