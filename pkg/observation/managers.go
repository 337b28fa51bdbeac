package observation

import (
	"slices"
	"strings"
)

// CloudNodeLoop initializes Nodes. It is no cloud loop of KCM's, where kubelets do its work, and nothing is handed over.
const CloudNodeLoop = "cloud-node-controller"

// ForeignCCM is a cloud-controller-manager in the user cluster that is not ours: whoever installed it, under whatever
// name, in whatever namespace.
type ForeignCCM struct {
	// Ref of its workload, or of a pod that no workload answers for.
	Ref
	// Owner says who seems to manage it; empty when nothing tells.
	Owner string
	// KnownBy says what it was known by.
	KnownBy string
	// Identity is the user name of its ServiceAccount.
	Identity string
	// Arguments of its container.
	Arguments Arguments
	// NodesOnly says that its program knows the loop cloud-node only, and elects no leader.
	NodesOnly bool
	// Idle says that it has no pods and wants none.
	Idle bool
	// SameName says that an object of ours has that kind and name, so that adoption takes it over.
	SameName bool
}

// Elects is certain only of arguments that can be read; leader election is on by default
// (https://github.com/kubernetes/component-base/blob/v0.30.14/config/v1alpha1/defaults.go).
func (m ForeignCCM) Elects() bool {
	return !m.NodesOnly && m.Arguments.Understood() && m.Arguments.True("leader-elect", true)
}

// Lease is where it is elected, with the defaults of upstream
// (https://github.com/kubernetes/cloud-provider/blob/v0.30.14/options/options.go).
func (m ForeignCCM) Lease() string {
	namespace, name := m.Arguments.LeaderLease()
	if m.Arguments.Flags["leader-elect-resource-name"] == "" {
		name = "cloud-controller-manager"
	}
	return namespace + "/" + name
}

// Loops that it runs when it leads, by their registered names. Those of arguments that cannot be read are not known.
func (m ForeignCCM) Loops() []string {
	if m.NodesOnly {
		return []string{CloudNodeLoop}
	}
	controllers, given := m.Arguments.Flag("controllers")
	if !given {
		controllers = "*"
	}
	names := CloudLoops()
	names[CloudNodeLoop] = "cloud-node"
	var running []string
	for name, alias := range names {
		if controllerEnabled(strings.Split(controllers, ","), name, alias) && (name != RouteLoop || m.Arguments.runsRoutes()) {
			running = append(running, name)
		}
	}
	slices.Sort(running)
	return running
}

// MayRun says that it may run one of the cloud loops that are handed over.
func (m ForeignCCM) MayRun() bool {
	if m.NodesOnly {
		return false
	}
	return !m.Arguments.Understood() || slices.ContainsFunc(m.Loops(), func(loop string) bool { return loop != CloudNodeLoop })
}

// Harmless says that it runs nothing at all: a probe, or one that was scaled to zero.
func (m ForeignCCM) Harmless() bool {
	return m.Idle || (!m.NodesOnly && m.Arguments.Understood() && len(m.Loops()) == 0)
}

// Lock is the lock in the user cluster.
type Lock struct {
	// Lease of the lock; without a name: it does not exist.
	Lease Lease
	// Granted says that the Lease, and our Role and RoleBinding for it, are there.
	Granted bool
	// Denied are sentences about who may not do what with it, by SubjectAccessReview.
	Denied []string
	// Left are all objects of ours that are there for it, in both clusters, and the Lease.
	Left []Ref
}

// Probe is the state of the probe's objects: a CCM that leads a Lease of its own and runs no loop.
type Probe struct {
	// Set is what is wanted; empty while the probe is not.
	Set AddonSet
	// Lease of the probe; the zero value when no one holds it.
	Lease Lease
	// Left are the probe's objects that are there although it is not wanted.
	Left []Ref
}
