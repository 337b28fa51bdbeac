package migration

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// undoRoll needs no CCM: in-tree Nodes initialize themselves, and that it does not serve may be why a person undoes it.
func (p *pass) undoRoll() outcome.Outcome {
	if !p.o.Provider.IsKnown() {
		return outcome.CannotLook("the catalogue", p.o.Provider.Why())
	}
	if out := p.roll(); !out.Holds {
		return out
	}
	nodes, known := p.o.Nodes.Get()
	if !known {
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	}
	var tainted []string
	for _, node := range nodes {
		if node.Uninitialized {
			tainted = append(tainted, node.Name)
		}
	}
	if len(tainted) > 0 {
		return outcome.Waits(ucv1.WaitingForNodesReason, "Only the CCM can initialize these Nodes, which belong to no Machine that "+
			"is replaced: "+wording.Names(tainted)+". Delete them if it does not.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// undoVolumes gives the gates their former values when no kubelet has them any more: the other order strands volumes (KEP-625).
// What was attached through them has to be detached before. KCM has its gates back already where nothing was attached when it got
// its cloud loops.
func (p *pass) undoVolumes() outcome.Outcome {
	gates := p.o.Provider.Value().MigrationGates
	switch {
	case !p.o.Provider.IsKnown():
		return outcome.CannotLook("the catalogue", p.o.Provider.Why())
	case len(gates) == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	change := func(component observation.Component) (*outcome.ArgumentChange, string) {
		kept := original(p.facts, component.Name)
		if kept == nil {
			return nil, ""
		}
		return restoreGates(component, kept.FeatureGates, gates), "Switching feature gates back in " + component.String() + "."
	}
	controlPlane := p.o.ControlPlane.Value()
	components := append(slices.Clone(controlPlane.Others), controlPlane.KCM)
	if slices.ContainsFunc(
		components,
		func(component observation.Component) bool { needed, _ := change(component); return needed != nil },
	) {
		if out := p.detached(); !out.Holds {
			return out
		}
	}
	return p.everyComponent(change, "")
}

// restoreGates touches our gates only; nil when they are as they were.
func restoreGates(component observation.Component, before *string, gates map[string]bool) *outcome.ArgumentChange {
	present, _ := component.Arguments.Flag("feature-gates")
	former := ""
	if before != nil {
		former = *before
	}
	ours := func(name string) bool { _, of := gates[name]; return of }
	if slices.Equal(slices.Sorted(slices.Values(gatePairs(present, ours))), slices.Sorted(slices.Values(gatePairs(former, ours)))) {
		return nil
	}
	change := &outcome.ArgumentChange{Target: component.Ref, Container: component.Container}
	pairs := append(gatePairs(present, func(name string) bool { return !ours(name) }), gatePairs(former, ours)...)
	if len(pairs) == 0 {
		change.Remove = []string{"feature-gates"}
	} else {
		change.Set = []outcome.Flag{{Name: "--feature-gates", Value: strings.Join(pairs, ",")}}
	}
	return change
}

// gatePairs are those of a flag's value whose names are wanted, in their order.
func gatePairs(value string, wanted func(name string) bool) []string {
	var pairs []string
	for pair := range strings.SplitSeq(value, ",") {
		pair = strings.TrimSpace(pair)
		if name, _, _ := strings.Cut(pair, "="); pair != "" && wanted(name) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// detached: an in-tree volume that is attached by the CSI driver is detached by no one once its gate is off.
func (p *pass) detached() outcome.Outcome {
	attachments, known := p.o.Attachments.Get()
	inventory, read := p.o.Inventory.Get()
	switch {
	case !known:
		return outcome.CannotLook("the VolumeAttachments", p.o.Attachments.Why())
	case !read:
		return outcome.CannotLook("the volumes", p.o.Inventory.Why())
	}
	var names []observation.Text
	for _, attachment := range attachments {
		at := slices.IndexFunc(inventory.Volumes, func(v observation.Volume) bool { return v.Name == attachment.Volume })
		csi := at >= 0 && inventory.Volumes[at].Driver != ""
		if !csi && slices.Contains(p.o.Provider.Value().CSIDrivers, attachment.Attacher) {
			names = append(names, observation.Say(attachment.Name+" on ", observation.NodeRef(attachment.Node)))
		}
	}
	if len(names) > 0 {
		return outcome.WaitsUntil(ucv1.WaitingForVolumesReason, observation.Say("KCM has its cloud loops; the feature gates wait for "+
			"these VolumeAttachments of the CSI driver to go: ", observation.Names(names),
			". Delete the pods that use these volumes, so that they start again elsewhere."), 5*time.Second)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// undoFence takes the Lease and the workload from the CCM. What is wanted is noted first: a pass that was killed in
// between must not find the workload wanted again.
func (p *pass) undoFence() outcome.Outcome {
	rollback := p.facts.Rollback
	fence, known := p.o.Fence.Get()
	switch {
	case rollback.WorkloadWithdrawnAt == nil:
		rollback.WorkloadWithdrawnAt = p.stamp()
		return outcome.Records("Recording that the CCM is not wanted any more.")
	case !known:
		return outcome.CannotLook("the fence", p.o.Fence.Why())
	case fence.Open:
		return outcome.Does(outcome.Action{Kind: outcome.ActionCloseFence, Why: "Closing the fence, so that the CCM ends: the " +
			"migration is being undone."})
	case len(fence.Allowed) > 0 && !serialized(p.facts):
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, fenceProblem(fence), 2*time.Second)
	}
	if out := p.workloadWithdrawn(); !out.Holds {
		return out
	}
	if rollback.WorkloadGoneAt == nil {
		rollback.WorkloadGoneAt = new(metav1.NewMicroTime(p.now))
		return outcome.Records("Recording that no pod of the CCM is left.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// workloadWithdrawn asks for the pods by their identity: whoever made them.
func (p *pass) workloadWithdrawn() outcome.Outcome {
	if out := p.renderable(); !out.Holds {
		return out
	}
	addons, known := p.o.Addons.Get()
	pods, listed := p.o.CCMPods.Get()
	switch {
	case !known:
		return outcome.CannotLook("the addons in the user cluster", p.o.Addons.Why())
	case !addons.CCM.WorkloadWithheld:
		return outcome.CannotLook("the CCM's workload", "it was still wanted when the user cluster was looked at")
	case len(addons.Obsolete) > 0 && p.facts.Rollback.AddonsWithdrawnAt == nil:
		return outcome.Does(pruneVerb(addons.Obsolete))
	case !listed:
		return outcome.CannotLook("the CCM's pods", p.o.CCMPods.Why())
	}
	pods = slices.DeleteFunc(slices.Clone(pods), func(name string) bool {
		return slices.Contains(p.o.Cluster.Spec.Handover.AcceptLostManagers, name)
	})
	if len(pods) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	p.facts.Rollback.WorkloadGoneAt = nil
	return outcome.WaitsUntil(ucv1.ProvingSilenceReason, "These pods run as the CCM and have not gone: "+wording.Names(pods)+
		". For one whose Node is lost, make sure that it has ended, and name it in spec.handover.acceptLostManagers.", 2*time.Second)
}

// undoSilence rests on the closed fence and the pods that are gone: a process that outlived its pod can renew no more,
// and ends at its renew deadline, which is shorter than the Lease. Where something else lets it write the Lease, its
// token went with its pod (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-tokens).
func (p *pass) undoSilence() outcome.Outcome {
	if out := p.alone(byFence); !out.Holds {
		return out
	}
	return p.ccmLeaseRanOut()
}

func (p *pass) ccmLeaseRanOut() outcome.Outcome {
	lease, known := p.o.CCMLease.Get()
	recorded, gone := p.facts.Handover, p.facts.Rollback.WorkloadGoneAt.Time
	neverLed := p.o.CCMLease.IsAbsent() && recorded.FenceOpenedAt == nil && recorded.ContendedAt == nil && !serialized(p.facts)
	switch {
	case p.o.CCMLease.IsUnknown():
		return outcome.CannotLook("the CCM's Lease", p.o.CCMLease.Why())
	case neverLed:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		lease = observation.Lease{}
	}
	if gone.After(lease.WatchedAt) {
		lease.WatchedAt = gone
	}
	wait := handover.LeaseExpiry(lease, observation.Arguments{}, p.now)
	switch {
	case wait <= 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case known && lease.ChangedAt.After(gone.Add(handover.DeliverySkew)):
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, observation.Say(lease, " is renewed by "+lease.Holder+" although no pod "+
			"of the CCM is left; stop that."), wait)
	}
	return outcome.WaitsUntil(ucv1.ProvingSilenceReason, "No pod of the CCM is left; waiting until its Lease has run out.", wait)
}

// undoAddons deletes the probe of an undo that began while it ran, and then the addons where that is asked for.
func (p *pass) undoAddons() outcome.Outcome {
	switch probe, known := p.o.Probe.Get(); {
	case !known:
		return outcome.CannotLook("the probe", p.o.Probe.Why())
	case len(probe.Left) > 0:
		return outcome.Does(pruneVerb(probe.Left))
	}
	if out := p.withdrawAddons(); !out.Holds {
		return out
	}
	return p.rightGone()
}

// withdrawAddons deletes what is ours, and nothing that a volume needs.
func (p *pass) withdrawAddons() outcome.Outcome {
	rollback := p.facts.Rollback
	if !p.o.Cluster.Spec.Handover.RollbackAddons && rollback.AddonsWithdrawnAt == nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := p.renderable(); !out.Holds {
		return out
	}
	addons, known := p.o.Addons.Get()
	if !known {
		return outcome.CannotLook("the addons in the user cluster", p.o.Addons.Why())
	}
	if rollback.AddonsWithdrawnAt == nil {
		if out := p.driverUnneeded(); addons.CSI.SatisfiedBy == "" && !out.Holds {
			return out
		}
		rollback.AddonsWithdrawnAt = p.stamp()
		return outcome.Records("Recording that the addons are not wanted any more.")
	}
	switch {
	case !addons.CCM.Withdrawn || !addons.CSI.Withdrawn:
		return outcome.CannotLook("the addons in the user cluster", "they were still wanted when it was looked at")
	case len(addons.Obsolete) > 0:
		return outcome.Does(pruneVerb(addons.Obsolete))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// driverUnneeded: in some minors the driver serves in-tree volumes too, whatever the flags.
func (p *pass) driverUnneeded() outcome.Outcome {
	inventory, known := p.o.Inventory.Get()
	attachments, listed := p.o.Attachments.Get()
	provider := p.o.Provider.Value()
	switch {
	case !known:
		return outcome.CannotLook("the volumes", p.o.Inventory.Why())
	case !listed:
		return outcome.CannotLook("the VolumeAttachments", p.o.Attachments.Why())
	}
	var needing []observation.Ref
	for _, volume := range inventory.Volumes {
		if slices.Contains(provider.CSIDrivers, volume.Driver) || slices.Contains(provider.MigratedPlugins, volume.Plugin) {
			needing = append(needing, volume.Reference())
		}
	}
	for _, attachment := range attachments {
		if slices.Contains(provider.CSIDrivers, attachment.Attacher) {
			needing = append(needing, observation.Ref{Kind: "VolumeAttachment", Name: attachment.Name})
		}
	}
	if len(needing) > 0 {
		return outcome.Fails(
			ucv1.VolumesNeedDriverReason,
			"spec.handover.rollbackAddons waits, these need the CSI driver: ", observation.Names(needing),
			". Delete them, or set it to false: the addons stay then, and everything else is undone already.",
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
