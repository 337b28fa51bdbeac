package loops

import (
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// acrossStages are the lines between KCM's lock and the CCM's where the CCM is of the next minor. KCM stays behind until the
// in-tree configuration is gone, so that in each minor one kind of manager has the lock, as KEP-2436 wants it, and so that KCM
// knows its in-tree provider until no volume needs that any more.
//
//	KCM N with the lock ──► API servers N+1, by their owner ──► CCM N+1 with the lock
func acrossStages() []stage {
	return []stage{
		{
			"VolumesReady",
			"The CSI migration gates that the minor of KCM still has are on in the control plane, with no old pod left.",
			volumesReady,
		},
		{"UpgradeAllowed", "spec.version may change to the next minor (status.handover.upgradeAllowedTo).", upgradeAllowed},
		{
			"APIServersUpgraded",
			"Every kube-apiserver is of the next minor, as spec.version says. Then the CCM's workload may be applied.",
			apiServersUpgraded,
		},
		{"WorkloadApplied", "The CCM's workload is applied and available, unless KCM runs its loops again.", ccmApplied},
	}
}

// volumesReady is about the minor that KCM has: with spec.version the gates would become those of the next one.
func volumesReady(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.UpgradeAllowedTo != "" {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return components.VolumesMigrated(in)
}

// upgradeAllowed lets the owner upgrade. Where KCM of the next minor does not know the provider, there is no way back from it.
func upgradeAllowed(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.UpgradeAllowedTo != "" {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	provider, known := in.Provider.Get()
	if !known {
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	next := in.Minor() + 1
	if next > provider.LastInTreeMinor && in.Cluster.Directed(ucv1.DirectiveHoldRoll) && in.Facts.PointOfNoReturnAt == nil {
		return outcome.Waits(ucv1.HeldByFleetReason, fmt.Sprintf("The upgrade to 1.%d passes the point of no return. "+
			"FleetMigration %s holds that back for now.", next, in.Cluster.Status.Admission.FleetMigration))
	}
	if next > provider.LastInTreeMinor && in.Cluster.Spec.Handover.PauseBeforePointOfNoReturn && in.Facts.PointOfNoReturnAt == nil {
		return outcome.Waits(ucv1.WaitingBeforePointOfNoReturnReason, fmt.Sprintf("The upgrade to 1.%d passes the point of no return, "+
			"because its KCM does not know in-tree provider %s. It is allowed when spec.handover.pauseBeforePointOfNoReturn is false.",
			next, provider.InTreeName))
	}
	return in.Records(fmt.Sprintf("Recording that kube-apiserver may be upgraded to 1.%d.", next), func(facts *ucv1.Facts) {
		facts.Handover.UpgradeAllowedTo = fmt.Sprintf("1.%d", next)
	})
}

// apiServersUpgraded allows the CCM, which must not be newer than any kube-apiserver
// (https://kubernetes.io/releases/version-skew-policy/#kube-controller-manager-kube-scheduler-and-cloud-controller-manager).
func apiServersUpgraded(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.WorkloadAllowedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case !known:
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	case !in.ServerVersion.IsKnown():
		return outcome.CannotLook("the API server's version", in.ServerVersion.Why())
	}
	minor := handover.UpgradeMinor(in.Facts)
	doubt := handover.UpgradeDoubt(controlPlane.APIServers(), in.ServerVersion.Value(), minor)
	if doubt.Words == "" && in.Minor() != minor {
		doubt = observation.Say("spec.version is " + in.Cluster.Spec.Version + ".")
	}
	if doubt.Words != "" {
		// No watch shows what an API server answers.
		return outcome.WaitsUntil(ucv1.UpgradeRequiredReason, observation.Say(fmt.Sprintf(
			"Upgrade every kube-apiserver to 1.%d%s, and then spec.version; leave KCM at 1.%d until condition "+
				"InTreeConfigurationRemoved is True. Not yet: ",
			minor, withoutRetired(in, controlPlane), minor-1), doubt), 30*time.Second)
	}
	if out := fenceHolds(in); !out.Holds {
		return out
	}
	return allowWorkload(in)
}

// ccmApplied is what the row Addons does for a CCM that comes early: where KCM's loops are back, nothing keeps later lines from
// closing the fence.
func ccmApplied(in pass.Input) outcome.Outcome {
	switch back := AreBack(in); {
	case back.IsUnknown():
		return outcome.CannotLook("the control plane", back.Why())
	case back.IsKnown():
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return workloadApplied(in)
}

// withoutRetired names the gates of kube-apiserver that the next minor may not know: a new pod with one of them would not start.
func withoutRetired(in pass.Input, controlPlane observation.ControlPlane) string {
	var given []string
	for _, server := range controlPlane.APIServers() {
		for _, gate := range in.Provider.Value().RetiredGates {
			if _, has := server.Arguments.FeatureGate(gate); has && !slices.Contains(given, gate) {
				given = append(given, gate)
			}
		}
	}
	if len(given) == 0 {
		return ""
	}
	return " without " + wording.Names(given)
}
