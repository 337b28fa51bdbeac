package rollback

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Volumes gives the gates their former values when no kubelet has them any more: the other order strands volumes
// (KEP-625). What was attached through them has to be detached before. KCM has its gates back already where nothing was
// attached when it got its cloud loops.
func Volumes(in pass.Input) outcome.Outcome {
	gates := in.Provider.Value().MigrationGates
	switch {
	case !in.Provider.IsKnown():
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	case len(gates) == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	change := func(component observation.Component) (*outcome.ArgumentChange, string) {
		kept := components.Original(in.Facts, component.Name)
		if kept == nil {
			return nil, ""
		}
		return restoreGates(component, kept.FeatureGates, gates), "Switching feature gates back in " + component.String() + "."
	}
	controlPlane := in.ControlPlane.Value()
	changing := append(slices.Clone(controlPlane.Others), controlPlane.KCM)
	if slices.ContainsFunc(
		changing,
		func(component observation.Component) bool { needed, _ := change(component); return needed != nil },
	) {
		if out := detached(in); !out.Holds {
			return out
		}
	}
	return components.Every(in, change, "")
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

// detached: once the gate is off, KCM knows an in-tree volume that the CSI driver attached by two names, and detaches it by both.
// The second of them needs the driver. test/e2e/vcsim shows it.
func detached(in pass.Input) outcome.Outcome {
	attachments, known := in.Attachments.Get()
	inventory, read := in.Inventory.Get()
	switch {
	case !known:
		return outcome.CannotLook("the VolumeAttachments", in.Attachments.Why())
	case !read:
		return outcome.CannotLook("the volumes", in.Inventory.Why())
	}
	var names []observation.Text
	for _, attachment := range attachments {
		at := slices.IndexFunc(inventory.Volumes, func(v observation.Volume) bool { return v.Name == attachment.Volume })
		csi := at >= 0 && inventory.Volumes[at].Driver != ""
		if !csi && slices.Contains(in.Provider.Value().CSIDrivers, attachment.Attacher) {
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

// Fence takes the Lease and the workload from the CCM. What is wanted is noted first: a pass that was killed in
// between must not find the workload wanted again.
func Fence(in pass.Input) outcome.Outcome {
	rollback := in.Facts.Rollback
	fence, known := in.Fence.Get()
	switch {
	case rollback.WorkloadWithdrawnAt == nil:
		return in.Records("Recording that the CCM is not wanted any more.", func(facts *ucv1.Facts) {
			facts.Rollback.WorkloadWithdrawnAt = in.Stamp()
		})
	case !known:
		return outcome.CannotLook("the fence", in.Fence.Why())
	case fence.Open:
		return outcome.Does(outcome.Action{Kind: outcome.ActionCloseFence, Why: "Closing the fence, so that the CCM ends: the " +
			"migration is being rolled back."})
	case len(fence.Allowed) > 0 && !start.Serialized(in.Facts):
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, start.FenceProblem(fence), 2*time.Second)
	}
	if out := workloadWithdrawn(in); !out.Holds {
		return out
	}
	if rollback.WorkloadGoneAt == nil {
		return in.Records("Recording that no pod of the CCM is left.", func(facts *ucv1.Facts) {
			facts.Rollback.WorkloadGoneAt = new(metav1.NewMicroTime(in.Now))
		})
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// workloadWithdrawn asks for the pods by their identity: whoever made them.
func workloadWithdrawn(in pass.Input) outcome.Outcome {
	if out := applied.Renderable(in); !out.Holds {
		return out
	}
	addons, known := in.Addons.Get()
	pods, listed := in.CCMPods.Get()
	switch {
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case !addons.CCM.WorkloadWithheld:
		return outcome.CannotLook("the CCM's workload", "it was still wanted when the user cluster was looked at")
	case len(addons.Obsolete) > 0 && in.Facts.Rollback.AddonsWithdrawnAt == nil:
		return outcome.Does(applied.Prune(addons.Obsolete))
	case !listed:
		return outcome.CannotLook("the CCM's pods", in.CCMPods.Why())
	}
	pods = slices.DeleteFunc(slices.Clone(pods), func(name string) bool {
		return slices.Contains(in.Cluster.Spec.Handover.AcceptLostManagers, name)
	})
	if len(pods) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	out := outcome.WaitsUntil(ucv1.ProvingSilenceReason, "These pods run as the CCM and have not gone: "+wording.Names(pods)+
		". For one whose Node is lost, make sure that it has ended, and name it in spec.handover.acceptLostManagers.", 2*time.Second)
	return in.Adds(out, func(facts *ucv1.Facts) { facts.Rollback.WorkloadGoneAt = nil })
}

// Silence rests on the closed fence and the pods that are gone: a process that outlived its pod can renew no more,
// and ends at its renew deadline, which is shorter than the Lease. Where something else lets it write the Lease, its
// token went with its pod (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-tokens).
func Silence(in pass.Input) outcome.Outcome {
	if out := start.NoOtherManager(in, start.ByFence); !out.Holds {
		return out
	}
	return ccmLeaseRanOut(in)
}

func ccmLeaseRanOut(in pass.Input) outcome.Outcome {
	lease, known := in.CCMLease.Get()
	recorded, gone := in.Facts.Handover, in.Facts.Rollback.WorkloadGoneAt.Time
	neverLed := in.CCMLease.IsAbsent() && recorded.FenceOpenedAt == nil && recorded.ContendedAt == nil && !start.Serialized(in.Facts)
	switch {
	case in.CCMLease.IsUnknown():
		return outcome.CannotLook("the CCM's Lease", in.CCMLease.Why())
	case neverLed:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		lease = observation.Lease{}
	}
	if gone.After(lease.WatchedAt) {
		lease.WatchedAt = gone
	}
	wait := handover.LeaseExpiry(lease, observation.Arguments{}, in.Now)
	switch {
	case wait <= 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case known && lease.ChangedAt.After(gone.Add(handover.DeliverySkew)):
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, observation.Say(lease, " is renewed by "+lease.Holder+" although no pod "+
			"of the CCM is left; stop that."), wait)
	}
	return outcome.WaitsUntil(ucv1.ProvingSilenceReason, "No pod of the CCM is left; waiting until its Lease has run out.", wait)
}

// Addons deletes the probe of a rollback that began while it ran, and then the addons where that is asked for.
func Addons(in pass.Input) outcome.Outcome {
	switch probe, known := in.Probe.Get(); {
	case !known:
		return outcome.CannotLook("the probe", in.Probe.Why())
	case len(probe.Left) > 0:
		return outcome.Does(applied.Prune(probe.Left))
	}
	if out := withdrawAddons(in); !out.Holds {
		return out
	}
	return loops.RightGone(in)
}

// withdrawAddons deletes what is ours, and nothing that a volume needs.
func withdrawAddons(in pass.Input) outcome.Outcome {
	rollback := in.Facts.Rollback
	if !in.Cluster.Spec.Handover.RollbackAddons && rollback.AddonsWithdrawnAt == nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := applied.Renderable(in); !out.Holds {
		return out
	}
	addons, known := in.Addons.Get()
	if !known {
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	}
	if rollback.AddonsWithdrawnAt == nil {
		if out := driverUnneeded(in); addons.CSI.SatisfiedBy == "" && !out.Holds {
			return out
		}
		return in.Records("Recording that the addons are not wanted any more.", func(facts *ucv1.Facts) {
			facts.Rollback.AddonsWithdrawnAt = in.Stamp()
		})
	}
	switch {
	case !addons.CCM.Withdrawn || !addons.CSI.Withdrawn:
		return outcome.CannotLook("the addons in the user cluster", "they were still wanted when it was looked at")
	case len(addons.Obsolete) > 0:
		return outcome.Does(applied.Prune(addons.Obsolete))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// driverUnneeded: in some minors the driver serves in-tree volumes too, whatever the flags.
func driverUnneeded(in pass.Input) outcome.Outcome {
	inventory, known := in.Inventory.Get()
	attachments, listed := in.Attachments.Get()
	provider := in.Provider.Value()
	switch {
	case !known:
		return outcome.CannotLook("the volumes", in.Inventory.Why())
	case !listed:
		return outcome.CannotLook("the VolumeAttachments", in.Attachments.Why())
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
			". Delete them, or set it to false: the addons stay then, and everything else is rolled back already.",
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
