package migration

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// withholdsCloudNode says that the CCM runs without its loop cloud-node. It would write the addresses of all Nodes, those too
// whose kubelets do that themselves, and where the two see different ones they write them in turn. Before the first kubelet that
// needs it, it has to run: https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/nodestatus/setters.go#L96-L104
func withholdsCloudNode(facts ucv1.Facts, provider observation.Provider) bool {
	if !provider.CloudNodeLater || facts.Origin != ucv1.OriginMigrating {
		return false
	}
	return facts.MachineControllerConfiguredAt == nil && facts.CompletedAt == nil && !cloudNodeOn(facts)
}

func cloudNodeOn(facts ucv1.Facts) bool {
	return facts.CloudNode != nil && facts.CloudNode.EnabledAt != nil
}

// cloudNode switches the loop on before the first Machine joins external, and off again if it changes the addresses that the
// kubelets report: what the CCM would write, only the CCM knows.
func (p *pass) cloudNode() outcome.Outcome {
	switch {
	case p.facts.MachineControllerConfiguredAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !p.o.Provider.IsKnown():
		return outcome.CannotLook("the catalogue", p.o.Provider.Why())
	case !p.o.Provider.Value().CloudNodeLater:
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if state := p.facts.CloudNode; state != nil {
		switch {
		case p.cloudNodeCompared() && p.flagsBegun():
			// From here on there may be Nodes that no one else initializes: it stays on.
			return outcome.Holds(ucv1.HoldsReason, "")
		case state.Conflict != "" && (!p.o.CloudConfig.IsKnown() || state.Judged == p.cloudNodeInputs()):
			conflict := observation.Say(state.Conflict).About(observation.RefsOf(state.ConflictObjects)...)
			return p.addressesDiffer("The CCM's loop cloud-node changed addresses that kubelets report, and is switched off again: ",
				conflict, ".")
		}
	}
	return p.compareAddresses()
}

// cloudNodeCompared says that the time of the comparison is over; who was away meanwhile has not looked yet.
func (p *pass) cloudNodeCompared() bool {
	until := p.facts.CloudNode.ComparedUntil
	return until != nil && !p.now.Before(until.Time)
}

func (p *pass) compareAddresses() outcome.Outcome {
	nodes, known := p.o.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	}
	before, gone, unknown := baseline.AsTaken(p.o.Baseline, p.facts.Baseline)
	changed := baseline.AddressChanges(before, nodes, p.o.Cluster.Spec.Rollout.AcceptChanges)
	switch on := cloudNodeOn(p.facts); {
	case unknown != "":
		return outcome.CannotLook("the baseline", unknown)
	case len(gone) > 0:
		return outcome.Fails(ucv1.InventoryChangedReason, wording.Names(gone)+". The addresses of Nodes are compared with it.")
	case len(changed) > 0 && !on:
		return p.addressesDiffer("Addresses of Nodes are not as before the hand-over, so that no one could tell what the CCM's loop "+
			"cloud-node changes: ", observation.Names(changed), ".")
	case len(changed) > 0:
		return p.refuseCloudNode(observation.Names(changed))
	case !on:
		return p.enableCloudNode()
	}
	return p.cloudNodeLeads(len(nodes))
}

func (p *pass) addressesDiffer(what ...any) outcome.Outcome {
	return outcome.Fails(ucv1.NodeAddressesDifferReason, observation.Say(what...), " The machine-controller is not configured. "+
		"Change the cloud configuration so that the CCM sees the addresses that the kubelets report, or name the Node in "+
		"spec.rollout.acceptChanges, as \"Node name\".",
		p.undoOffer())
}

// cloudNodeInputs is what a person changes to fix a conflict.
func (p *pass) cloudNodeInputs() string {
	return strconv.FormatInt(p.o.Cluster.Generation, 10) + "/" + p.o.CloudConfig.Value().Version
}

func (p *pass) enableCloudNode() outcome.Outcome {
	if out := p.ccmCanServe(); !out.Holds {
		return out
	}
	p.facts.CloudNode = &ucv1.CloudNodeStatus{EnabledAt: p.stamp(), LedBy: p.o.CCMLease.Value().Holder}
	return outcome.Records("Recording that the CCM is to run its loop cloud-node, before the first kubelet that needs it.")
}

// refuseCloudNode: no kubelet needs the loop yet, so that to switch it off takes nothing away.
func (p *pass) refuseCloudNode(changed observation.Text) outcome.Outcome {
	const most = 2048
	p.facts.CloudNode = &ucv1.CloudNodeStatus{
		Conflict: changed.Words[:min(len(changed.Words), most)], ConflictObjects: observation.NamesOf(changed.Objects),
		Judged: p.cloudNodeInputs(),
	}
	return outcome.Records("Recording that the CCM's loop cloud-node changes addresses, and is to be switched off again: " +
		changed.Words + ".")
}

// cloudNodeLeads waits for a process with the loop to lead, and then for the time in which its addresses would show. The row
// Addons has applied it.
func (p *pass) cloudNodeLeads(nodes int) outcome.Outcome {
	state, now := p.facts.CloudNode, p.now
	out := p.cloudNodeServes(nodes)
	switch {
	case out.Reason == ucv1.NoNodesReason:
		return out
	case !out.Holds:
		state.ComparedUntil = nil
		return p.cloudNodeInTime(out)
	case p.cloudNodeCompared():
		return outcome.Holds(ucv1.HoldsReason, "")
	case state.ComparedUntil == nil:
		until := now.Add(p.o.Deadlines.Addresses + time.Duration(nodes)*p.o.Deadlines.AddressesOfNode).Truncate(time.Second)
		state.ComparedUntil = new(metav1.NewTime(until))
		return outcome.Records("The CCM leads with its loop cloud-node; the addresses of Nodes have to stay as they are until " +
			until.UTC().Format(time.RFC3339) + ".")
	}
	// What is written and written back shows for seconds.
	return outcome.WaitsUntil(ucv1.WaitingForNodesReason, "The CCM leads with its loop cloud-node; the addresses of Nodes have "+
		"to stay as they are until "+
		state.ComparedUntil.UTC().Format(time.RFC3339)+".", time.Second)
}

func (p *pass) cloudNodeServes(nodes int) outcome.Outcome {
	addons, known := p.o.Addons.Get()
	switch {
	case nodes == 0:
		return outcome.Holds(ucv1.NoNodesReason, "")
	case !known:
		return outcome.CannotLook("the addons in the user cluster", p.o.Addons.Why())
	case len(addons.CCM.Unhealthy) > 0:
		return outcome.Waits(ucv1.RollingOutReason, observation.Names(addons.CCM.Unhealthy), ".")
	}
	out := p.ccmCanServe()
	if out.Holds && p.o.CCMLease.Value().Holder == p.facts.CloudNode.LedBy {
		return outcome.WaitsUntil(ucv1.WaitingForLeaderReason, "Waiting for a CCM with the loop cloud-node to lead.", 2*time.Second)
	}
	return out
}

// cloudNodeInTime calls a person when no CCM comes to lead with the loop.
func (p *pass) cloudNodeInTime(out outcome.Outcome) outcome.Outcome {
	enabled := p.facts.CloudNode.EnabledAt
	if out.Wait == nil || out.Wait.Unknown || p.now.Sub(enabled.Time) <= p.o.Deadlines.Handover {
		return out
	}
	return outcome.Fails(out.Reason, "The CCM's loop cloud-node was switched on at "+enabled.UTC().Format(time.RFC3339)+
		", and no CCM leads with it. ", out.Text(), p.undoOffer())
}
