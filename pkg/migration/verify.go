package migration

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// verify asks every Node, not only every Machine: what counts is what runs.
func (p *pass) verify() outcome.Outcome {
	nodes, known := p.o.Nodes.Get()
	switch {
	case !known:
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	case p.o.Proofs.IsUnknown():
		return outcome.CannotLook("the proofs that were kept of kubelets", p.o.Proofs.Why())
	}
	unproven, overdue := rollout.Unproven(p.rolling())
	changed, unknown := p.inventoryChanges()
	if len(overdue) > 0 || len(changed) > 0 {
		p.facts.StableSince = nil
	}
	switch {
	case unknown != "":
		return outcome.CannotLook("the inventory", unknown)
	case len(changed) > 0:
		return outcome.Fails(
			ucv1.InventoryChangedReason,
			"Not as before the hand-over: ", observation.Names(changed),
			". Look at the CCM's events of these objects; name one in spec.rollout.acceptChanges if it is meant to be so.",
		)
	case len(overdue) > 0:
		return outcome.Fails(ucv1.NodesNotInitializedReason, "These Nodes are not proven: "+wording.Names(overdue)+".")
	case len(unproven) > 0:
		return outcome.Waits(ucv1.WaitingForNodesReason, "Waiting for these Nodes: "+wording.Names(unproven)+".")
	}
	if slices.ContainsFunc(nodes, p.wasAway) {
		p.facts.StableSince = nil
	}
	return p.soak()
}

// wasAway says that a Node ceased to be Ready and became it again within the soak time. A Node that is new does not begin it
// again.
func (p *pass) wasAway(node observation.Node) bool {
	since, accepted := p.facts.StableSince, slices.Contains(p.o.Cluster.Spec.Rollout.AcceptNodes, node.Name)
	return since != nil && !accepted && node.CreatedAt.Before(since.Time) && node.ReadyChangedAt.After(since.Time)
}

func (p *pass) soak() outcome.Outcome {
	soak := observation.SoakTime(p.o.Cluster)
	if p.facts.StableSince == nil {
		p.facts.StableSince = p.stamp()
		if soak > 0 {
			return outcome.Records("Every Node is proven; it has to stay so for " + soak.String() + ".")
		}
	}
	if left := soak - p.now.Sub(p.facts.StableSince.Time); left > 0 {
		return outcome.WaitsUntil(ucv1.SoakingReason, "Every Node is proven; it has to stay so for "+soak.String()+" since "+
			p.facts.StableSince.UTC().Format(time.RFC3339)+".", left)
	}
	return outcome.Holds(ucv1.HoldsReason, "Every Node is proven, and load balancers and volumes are as before.")
}

// inventoryChanges are the unexplained differences, for a message.
func (p *pass) inventoryChanges() (changed []observation.Text, unknown string) {
	list, lost, unknown := baseline.Differences(p.o, p.facts.Baseline)
	changed = observation.Texts(lost)
	for _, difference := range list {
		if difference.Explained == "" {
			changed = append(changed, difference.Text())
		}
	}
	return changed, unknown
}
