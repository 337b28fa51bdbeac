package simulation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// measure takes a look at the Nodes, as the session with a user cluster does: killed, it has not looked yet.
func (c *Controller) measure() observation.Observed[slo.Seen] {
	w := c.world
	if !w.needs().Measurements {
		return observation.Absent[slo.Seen]()
	}
	nodes := make([]slo.NodeState, 0, len(w.nodes.all))
	for _, n := range w.nodes.all {
		nodes = append(
			nodes,
			slo.NodeState{Name: n.name, UID: n.uid, MadeAt: n.createdAt, Tainted: n.tainted, Synced: n.providerID != ""},
		)
	}
	c.watcher.Nodes(w.now, nodes)
	return observation.Known(c.watcher.Seen())
}

// CountAgain is what a person does who looked at a halt.
func CountAgain(w *World) {
	w.say("person: lets the roll go on")
	w.disturbed = w.now
	Spec(w, func(spec *ucv1.ClusterSpec) { spec.SLO.CountSince = new(metav1.NewTime(w.now)) })
}

// FixNodes makes the CCM initialize Nodes in time.
func FixNodes(w *World) { w.ccm.slowNodes = 0 }

// checkHalt: what the objectives halted is not rolled before a person looked.
func (i *invariants) checkHalt(w *World, p pass) {
	facts := w.facts()
	if p.decision.Facts != nil {
		facts = *p.decision.Facts
	}
	if facts.SLO != nil && facts.SLO.ViolatedAt != nil && w.cluster.Spec.SLO.OnViolation != ucv1.ContinueOnViolation {
		i.fail("rule 5: MachineDeployments are rolled although the objectives halted that")
	}
}
