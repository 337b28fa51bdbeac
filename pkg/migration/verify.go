package migration

import (
	"cmp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
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
	view := p.fleet()
	unproven, overdue := p.unprovenNodes(view, nodes)
	changed, unknown := p.inventoryChanges()
	if len(overdue) > 0 || len(changed) > 0 {
		p.facts.StableSince = nil
	}
	switch {
	case unknown != "":
		return outcome.CannotLook("the inventory", unknown)
	case len(changed) > 0:
		return outcome.Fails(ucv1.InventoryChangedReason, "Not as before the hand-over: "+wording.Names(changed)+". Look at the CCM's events of these objects; name one in spec.rollout.acceptChanges if it is meant to be so.")
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

// unprovenNodes sorts the Nodes that lack something into those that are young and those that a person must look at.
func (p *pass) unprovenNodes(view fleetView, nodes []observation.Node) (young, overdue []string) {
	machineOf := map[string]observation.Machine{}
	for _, machine := range view.machines.Machines {
		if machine.NodeName != "" {
			machineOf[machine.NodeName] = machine
		}
	}
	for _, node := range nodes {
		if slices.Contains(p.o.Cluster.Spec.Rollout.AcceptNodes, node.Name) {
			continue
		}
		machine, owned := machineOf[node.Name]
		lacks := p.lacks(view, node, machine, owned)
		switch {
		case lacks == "":
		case p.now.Sub(node.CreatedAt) <= view.deadline && owned:
			young = append(young, node.Name+" "+lacks)
		default:
			overdue = append(overdue, node.Name+" "+lacks)
		}
	}
	return young, overdue
}

func (p *pass) lacks(view fleetView, node observation.Node, machine observation.Machine, owned bool) string {
	switch {
	case !owned:
		return "has no Machine (accept it in spec.rollout.acceptNodes or delete it)"
	case !view.upToDate(machine):
		return "belongs to outdated Machine " + machine.Namespace + "/" + machine.Name
	}
	return p.nodeLacks(view, node, machine)
}

// nodeLacks is what a Node of an up-to-date Machine does not show yet.
func (p *pass) nodeLacks(view fleetView, node observation.Node, machine observation.Machine) string {
	switch {
	case node.Uninitialized:
		return "still has taint node.cloudprovider.kubernetes.io/uninitialized"
	case !view.identifies(node):
		return "has no providerID of the form " + cmp.Or(p.o.Provider.Value().ProviderIDForm, p.o.Provider.Value().ProviderIDPrefix)
	case !node.Ready:
		return "is not Ready"
	}
	for _, driver := range p.o.Provider.Value().CSIDrivers {
		if !slices.Contains(node.CSIDrivers, driver) {
			return "does not register CSI driver " + driver
		}
	}
	return view.kubeletLacks(node, machine)
}

// inventoryChanges are the unexplained differences, for a message.
func (p *pass) inventoryChanges() (changed []string, unknown string) {
	list, lost, unknown := baseline.Differences(p.o, p.facts.Baseline)
	for _, difference := range list {
		if difference.Explained == "" {
			lost = append(lost, difference.String())
		}
	}
	return lost, unknown
}
