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
	if w.proofsUnread {
		return observation.KeptProofs{}
	}
	return observation.KeptProofs{ByNode: w.proofs}
}

// observeNodes adds what the controller saw of kubelets.
func (c *Controller) observeNodes() []observation.Node {
	nodes := c.world.nodes.observe()
	for at, n := range c.world.nodes.all {
		if n.seen == nil {
			nodes[at].Kubelet = c.kubelet(n)
		}
	}
	return nodes
}

// kubelet is what a Node shows of its kubelet, or showed since the controller runs. A kubelet with --provider-id sets its
// providerID itself, so that the CCM owns nothing of it.
func (c *Controller) kubelet(n *node) observation.Kubelet {
	w := c.world
	switch {
	case !n.external:
		return observation.Kubelet{InTree: "it set its providerID itself"}
	case c.kubelets[n.uid] != "":
	case n.tainted:
		c.kubelets[n.uid] = observation.TaintSeen
	case n.initialized && w.now.Sub(n.initializedAt) < eventsKept:
		c.kubelets[n.uid] = observation.SyncedSeen
	case n.initialized && !w.traits.KubeletsKnowProviderID:
		return observation.Kubelet{External: observation.ProviderIDOwned}
	}
	return observation.Kubelet{External: c.kubelets[n.uid]}
}
