package migration

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// verify asks every Node, not only every Machine: what counts is what runs.
func verify(in pass.Input) outcome.Outcome {
	nodes, known := in.Nodes.Get()
	switch {
	case !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case in.Proofs.IsUnknown():
		return outcome.CannotLook("the proofs that were kept of kubelets", in.Proofs.Why())
	}
	unproven, overdue := rollout.Unproven(rollInput(in))
	changed, unknown := pass.InventoryChanges(in)
	var out outcome.Outcome
	switch {
	case unknown != "":
		out = outcome.CannotLook("the inventory", unknown)
	case len(changed) > 0:
		out = outcome.Fails(
			ucv1.InventoryChangedReason,
			"Not as before the hand-over: ", observation.Names(changed),
			". Look at the CCM's events of these objects; name one in spec.rollout.acceptChanges if it is meant to be so.",
		)
	case len(overdue) > 0:
		out = outcome.Fails(ucv1.NodesNotInitializedReason, "These Nodes are not proven: "+wording.Names(overdue)+".")
	case len(unproven) > 0:
		out = outcome.Waits(ucv1.WaitingForNodesReason, "Waiting for these Nodes: "+wording.Names(unproven)+".")
	default:
		return soak(in, nodes)
	}
	if len(overdue)+len(changed) > 0 {
		return in.Adds(out, func(facts *ucv1.Facts) { facts.StableSince = nil })
	}
	return out
}

// wasAway says that a Node ceased to be Ready and became it again within the soak time. A Node that is new does not begin it
// again.
func wasAway(in pass.Input, node observation.Node) bool {
	since, accepted := in.Facts.StableSince, slices.Contains(in.Cluster.Spec.Rollout.AcceptNodes, node.Name)
	return since != nil && !accepted && node.CreatedAt.Before(since.Time) && node.ReadyChangedAt.After(since.Time)
}

// soak begins when every Node is proven, and again when one was away.
func soak(in pass.Input, nodes []observation.Node) outcome.Outcome {
	soak, since := observation.SoakTime(in.Cluster), in.Facts.StableSince
	held := outcome.Holds(ucv1.HoldsReason, "Every Node is proven, and load balancers and volumes are as before.")
	if since == nil || slices.ContainsFunc(nodes, func(node observation.Node) bool { return wasAway(in, node) }) {
		if soak > 0 {
			held = outcome.Records("Every Node is proven; it has to stay so for " + soak.String() + ".")
		}
		return in.Adds(held, func(facts *ucv1.Facts) { facts.StableSince = in.Stamp() })
	}
	if left := soak - in.Now.Sub(since.Time); left > 0 {
		return outcome.WaitsUntil(ucv1.SoakingReason, "Every Node is proven; it has to stay so for "+soak.String()+" since "+
			since.UTC().Format(time.RFC3339)+".", left)
	}
	return held
}
