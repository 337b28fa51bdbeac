package simulation

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// eventsKept is for how long events are there: shorter than in a real cluster, where it is an hour, and longer than a controller
// is away.
const eventsKept = 60 * time.Second

// observeProofs: what cannot be read proves nothing.
func (w *World) observeProofs() observation.KeptProofs {
	if w.ProofsUnread {
		return observation.KeptProofs{}
	}
	return observation.KeptProofs{ByNode: w.Proofs}
}

// observeNodes adds what the controller saw of kubelets.
func (c *Controller) observeNodes() []observation.Node {
	nodes := c.world.Nodes.observe()
	for at, n := range c.world.Nodes.All {
		if n.seen == nil {
			nodes[at].Kubelet = c.kubelet(n)
		}
	}
	return nodes
}

// kubelet is what a Node shows of its kubelet, or showed since the controller runs. A kubelet with --provider-id sets its
// providerID itself, so that the CCM owns nothing of it.
func (c *Controller) kubelet(n *Node) observation.Kubelet {
	w := c.world
	switch {
	case !n.External:
		return observation.Kubelet{InTree: "it set its providerID itself"}
	case c.kubelets[n.UID] != "":
	case n.Tainted:
		c.kubelets[n.UID] = observation.TaintSeen
	case n.Initialized && w.Now.Sub(n.initializedAt) < eventsKept:
		c.kubelets[n.UID] = observation.SyncedSeen
	case n.Initialized && !w.Traits.KubeletsKnowProviderID:
		return observation.Kubelet{External: observation.ProviderIDOwned}
	}
	return observation.Kubelet{External: c.kubelets[n.UID]}
}
