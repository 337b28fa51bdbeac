package loops

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// settled gives whoever reconciles KCM the time to write its former arguments back while nothing depends on ours: preflight knows
// those who leave a mark, and this finds the others. A touch has them look at once, also those who were busy when the arguments
// changed. With the migration lock it comes before the loops go off, and without it KCM's pods roll out meanwhile: it makes the
// gap longer only where that takes less time.
func settled(in pass.Input) outcome.Outcome {
	recorded := in.Facts.Handover
	changed := recorded.LoopsOffAt
	if changed == nil {
		changed = recorded.LockArmedAt
	}
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case in.Facts.Origin == ucv1.OriginExternal, in.Cluster.Spec.ControlPlane.Instructed(), // We changed nothing.
		changed == nil, recorded.FenceOpenedAt != nil, in.Fence.Value().Open,
		recorded.ContendedAt != nil && Guard(in).Failure != nil: // The next line calls a person.
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	case in.Fence.IsUnknown():
		return outcome.CannotLook("the fence", in.Fence.Why())
	case recorded.TouchedAt == nil, recorded.TouchedAt.Time.Before(changed.Time):
		return in.Adds(outcome.Does(outcome.Action{
			Kind: outcome.ActionTouch, Objects: []observation.Ref{controlPlane.KCM.Ref},
			Why: "Touching " + controlPlane.KCM.String() + ", so that whoever reconciles it does so before the CCM may lead (" +
				ucv1.TouchedAnnotation + ").",
		}), func(facts *ucv1.Facts) { facts.Handover.TouchedAt = new(metav1.NewMicroTime(in.Now)) })
	}
	if left := in.Deadlines.Reconciler - in.Now.Sub(recorded.TouchedAt.Time); left > 0 {
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, observation.Say("Giving whoever reconciles ", controlPlane.KCM,
			fmt.Sprintf(" %s to write its former arguments back.", in.Deadlines.Reconciler)), left)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
