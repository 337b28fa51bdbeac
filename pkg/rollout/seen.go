package rollout

import (
	"regexp"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// seenMachines are the Machines of an observation, with what their Nodes are judged by.
type seenMachines struct {
	machineIndex
	// providerID is the form by which the CCM knows a Node.
	providerID *regexp.Regexp
	deadline   time.Duration
	now        time.Time
	// accepted are Nodes that a person vouches for.
	accepted []string
	// initialization is the deadline of a Node, from its registration.
	initialization time.Duration
	// leader is the Node that the CCM leads on; empty: none, or it is not known.
	leader string
	// proofsSeen says that what was kept of kubelets could be looked at, or nothing was.
	proofsSeen bool
}

func look(o observation.Observation, now time.Time) seenMachines {
	machines, _ := o.Machines.Value().Split()
	return seenMachines{
		machineIndex:   indexOf(machines, o.Nodes.Value()),
		initialization: observation.InitializationDeadline(o.Cluster),
		accepted:       o.Cluster.Spec.Rollout.AcceptNodes,
		providerID:     o.Provider.Value().ProviderID(),
		deadline:       observation.NodeDeadline(o.Cluster),
		now:            now,
		leader:         o.CCMNode.Value(),
		proofsSeen:     !o.Proofs.IsUnknown(),
	}
}

// serves says whether pods can run on a Machine's Node, whatever kubelet it has.
func (s seenMachines) serves(machine observation.Machine) bool {
	node, found := s.nodes[machine.NodeName]
	return machine.NodeName != "" && found && node.Ready && !node.Uninitialized
}

func (s seenMachines) initialized(node observation.Node) bool {
	return node.Ready && !node.Uninitialized && s.identifies(node)
}

// identifies says that the CCM can ask the cloud for the machine of a Node.
func (s seenMachines) identifies(node observation.Node) bool {
	return s.providerID.MatchString(node.ProviderID)
}

// lost is a Node that was initialized and is not Ready any more for longer than a new one may take.
func (s seenMachines) lost(node observation.Node) bool {
	return s.served(node) && !node.Ready && !node.ReadyChangedAt.IsZero() && s.now.Sub(node.ReadyChangedAt) > s.deadline
}

// served says that the CCM initialized a Node.
func (s seenMachines) served(node observation.Node) bool {
	return !node.Uninitialized && s.identifies(node)
}
