package loops

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// WithholdsCloudNode says that the CCM runs without its loop cloud-node. It would write the addresses of all Nodes, those too
// whose kubelets do that themselves, and where the two see different ones they write them in turn. Before the first kubelet that
// needs it, it has to run: https://github.com/kubernetes/kubernetes/blob/v1.25.16/pkg/kubelet/nodestatus/setters.go#L96-L104
func WithholdsCloudNode(facts ucv1.Facts, provider observation.Provider) bool {
	if !provider.CloudNodeLater || facts.Origin != ucv1.OriginMigrating {
		return false
	}
	return facts.MachineControllerConfiguredAt == nil && facts.CompletedAt == nil && !cloudNodeOn(facts)
}

func cloudNodeOn(facts ucv1.Facts) bool {
	return facts.CloudNode != nil && facts.CloudNode.EnabledAt != nil
}

// CloudNode switches the loop on before the first Machine joins external, and off again if it changes the addresses that the
// kubelets report: what the CCM would write, only the CCM knows.
func CloudNode(in pass.Input) outcome.Outcome {
	switch {
	case in.Facts.MachineControllerConfiguredAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !in.Provider.IsKnown():
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	case !in.Provider.Value().CloudNodeLater:
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if state := in.Facts.CloudNode; state != nil {
		switch {
		case cloudNodeCompared(in) && pass.FlagsBegun(in):
			// From here on there may be Nodes that no one else initializes: it stays on.
			return outcome.Holds(ucv1.HoldsReason, "")
		case state.Conflict != "" && (!in.CloudConfig.IsKnown() || state.Judged == cloudNodeInputs(in)):
			conflict := observation.Say(state.Conflict).About(observation.RefsOf(state.ConflictObjects)...)
			return addressesDiffer(in, "The CCM's loop cloud-node changed addresses that kubelets report, and is switched off again: ",
				conflict, ".")
		}
	}
	return compareAddresses(in)
}

// cloudNodeCompared says that the time of the comparison is over; who was away meanwhile has not looked yet.
func cloudNodeCompared(in pass.Input) bool {
	until := in.Facts.CloudNode.ComparedUntil
	return until != nil && !in.Now.Before(until.Time)
}

func compareAddresses(in pass.Input) outcome.Outcome {
	nodes, known := in.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	}
	before, gone, unknown := baseline.AsTaken(in.Baseline, in.Facts.Baseline)
	changed := baseline.AddressChanges(before, nodes, in.Cluster.Spec.Rollout.AcceptChanges)
	switch on := cloudNodeOn(in.Facts); {
	case unknown != "":
		return outcome.CannotLook("the baseline", unknown)
	case len(gone) > 0:
		return outcome.Fails(ucv1.InventoryChangedReason, wording.Names(gone)+". The addresses of Nodes are compared with it.")
	case len(changed) > 0 && !on:
		return addressesDiffer(in, "Addresses of Nodes are not as before the hand-over, so that no one could tell what the CCM's loop "+
			"cloud-node changes: ", observation.Names(changed), ".")
	case len(changed) > 0:
		return refuseCloudNode(in, observation.Names(changed))
	case !on:
		return enableCloudNode(in)
	}
	return cloudNodeLeads(in, len(nodes))
}

func addressesDiffer(in pass.Input, what ...any) outcome.Outcome {
	return outcome.Fails(ucv1.NodeAddressesDifferReason, observation.Say(what...).Also("the machine-controller is not configured"),
		observation.Say(" Change the cloud configuration so that the CCM sees the addresses that the kubelets report, or name the "+
			"Node in spec.rollout.acceptChanges, as \"Node name\".").Also(noreturn.OfferRollback(in)))
}

// cloudNodeInputs is what a person changes to fix a conflict.
func cloudNodeInputs(in pass.Input) string {
	return strconv.FormatInt(in.Cluster.Generation, 10) + "/" + in.CloudConfig.Value().Version
}

func enableCloudNode(in pass.Input) outcome.Outcome {
	if out := CCMCanServe(in); !out.Holds {
		return out
	}
	why := "Recording that the CCM is to run its loop cloud-node, before the first kubelet that needs it."
	return in.Records(why, func(facts *ucv1.Facts) {
		facts.CloudNode = &ucv1.CloudNodeStatus{EnabledAt: in.Stamp(), LedBy: in.CCMLease.Value().Holder}
	})
}

// refuseCloudNode: no kubelet needs the loop yet, so that to switch it off takes nothing away.
func refuseCloudNode(in pass.Input, changed observation.Text) outcome.Outcome {
	const most = 2048
	why := "Recording that the CCM's loop cloud-node changes addresses, and is to be switched off again: " + changed.Words + "."
	return in.Records(why, func(facts *ucv1.Facts) {
		facts.CloudNode = &ucv1.CloudNodeStatus{
			Conflict: changed.Words[:min(len(changed.Words), most)], ConflictObjects: observation.NamesOf(changed.Objects),
			Judged: cloudNodeInputs(in),
		}
	})
}

// cloudNodeLeads waits for a process with the loop to lead, and then for the time in which its addresses would show. The row
// Addons has applied it.
func cloudNodeLeads(in pass.Input, nodes int) outcome.Outcome {
	state, now := in.Facts.CloudNode, in.Now
	out := cloudNodeServes(in, nodes)
	switch {
	case out.Reason == ucv1.NoNodesReason:
		return out
	case !out.Holds:
		return in.Adds(cloudNodeInTime(in, out), func(facts *ucv1.Facts) { facts.CloudNode.ComparedUntil = nil })
	case cloudNodeCompared(in):
		return outcome.Holds(ucv1.HoldsReason, "")
	case state.ComparedUntil == nil:
		until := now.Add(in.Deadlines.Addresses + time.Duration(nodes)*in.Deadlines.AddressesOfNode).Truncate(time.Second)
		why := "The CCM leads with its loop cloud-node; the addresses of Nodes have to stay as they are until " +
			until.UTC().Format(time.RFC3339) + "."
		return in.Records(why, func(facts *ucv1.Facts) { facts.CloudNode.ComparedUntil = new(metav1.NewTime(until)) })
	}
	// What is written and written back shows for seconds.
	return outcome.WaitsUntil(ucv1.WaitingForNodesReason, "The CCM leads with its loop cloud-node; the addresses of Nodes have "+
		"to stay as they are until "+
		state.ComparedUntil.UTC().Format(time.RFC3339)+".", time.Second)
}

func cloudNodeServes(in pass.Input, nodes int) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case nodes == 0:
		return outcome.Holds(ucv1.NoNodesReason, "")
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case len(addons.CCM.Unhealthy) > 0:
		return outcome.Waits(ucv1.RollingOutReason, observation.Names(addons.CCM.Unhealthy), ".")
	}
	out := CCMCanServe(in)
	if out.Holds && in.CCMLease.Value().Holder == in.Facts.CloudNode.LedBy {
		return outcome.WaitsUntil(ucv1.WaitingForLeaderReason, "Waiting for a CCM with the loop cloud-node to lead.", 2*time.Second)
	}
	return out
}

// cloudNodeInTime calls a person when no CCM comes to lead with the loop.
func cloudNodeInTime(in pass.Input, out outcome.Outcome) outcome.Outcome {
	enabled := in.Facts.CloudNode.EnabledAt
	if out.Wait == nil || out.Wait.Unknown || in.Now.Sub(enabled.Time) <= in.Deadlines.Handover {
		return out
	}
	return outcome.Fails(out.Reason, out.Text().Also("no CCM leads with its loop cloud-node, which was switched on at "+
		enabled.UTC().Format(time.RFC3339)).Also(noreturn.OfferRollback(in)))
}
