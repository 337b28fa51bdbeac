package loops

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// CCMCanServe gates everything that makes new Nodes: the machine-controller would call a Node available while it is
// still tainted, so a dead CCM would let a whole fleet be replaced by unschedulable Nodes.
func CCMCanServe(in pass.Input) outcome.Outcome {
	out := ccmLeads(in)
	if lease, seen := in.CCMLease.Get(); seen && !out.Holds && lease.DeadSince(in.Now, in.Deadlines.Leader) {
		out = outcome.Fails(ucv1.LeaderDeadlineExceededReason, observation.Say("None of the CCM's pods leads for more than ",
			in.Deadlines.Leader, ": ", lease, " is not being renewed. Look at the logs of its pods in the user cluster.").
			Also(noreturn.OfferRollback(in)))
	}
	nodes, known := in.Nodes.Get()
	switch {
	case out.Holds:
		return out
	case !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case len(nodes) == 0:
		return outcome.Holds(ucv1.NoNodesReason, "")
	}
	return out
}
