package simulation

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// measure takes a look at the Nodes, as the session with a user cluster does: killed, it has not looked yet.
func (c *Controller) measure() observation.Observed[slo.Seen] {
	w := c.world
	if !w.needs().Measurements {
		return observation.Absent[slo.Seen]()
	}
	nodes := make([]slo.NodeState, 0, len(w.Nodes.All))
	for _, n := range w.Nodes.All {
		nodes = append(
			nodes,
			slo.NodeState{Name: n.Name, UID: n.UID, MadeAt: n.CreatedAt, Tainted: n.Tainted, Synced: n.ProviderID != ""},
		)
	}
	c.watcher.Nodes(w.Now, nodes)
	return observation.Known(c.watcher.Seen())
}
