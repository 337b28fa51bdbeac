package loops

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Silence is what KCM's silence is proven from in this pass.
func Silence(in pass.Input) handover.In {
	proof := handover.In{
		ControlPlane: in.ControlPlane, KCMLease: in.KCMLease, Static: in.Cluster.Spec.ControlPlane.Static(), Now: in.Now,
	}
	if in.Facts.Handover != nil {
		proof.Processes = in.Facts.Handover.Processes
	}
	return proof
}

// Guard is the proof's re-check at every pass after the hand-over.
func Guard(in pass.Input) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case in.ControlPlane.IsAbsent():
		return outcome.Fails(ucv1.CloudLoopsContendedReason, components.KCMMissing(in))
	case !known:
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	if loud := handover.Loud(controlPlane.KCM); loud.Words != "" {
		return outcome.Fails(ucv1.CloudLoopsContendedReason, loud)
	}
	return outcome.Holds(ucv1.HoldsReason, "KCM is silent and the CCM was handed the cloud loops.")
}

// closesFence says that KCM was seen to run cloud loops again, and not only that it could: where no one runs them, the
// fence stays open.
func closesFence(in pass.Input) bool {
	controlPlane, known := in.ControlPlane.Get()
	return known && in.Fence.IsKnown() && len(handover.RunningLoops(controlPlane.KCM)) > 0 &&
		in.Cluster.Spec.Handover.OnContention != ucv1.ReportContention
}

// beginAgain notes that the hand-over is rolled back: it is walked again, and begins with who runs the cloud loops now. KCM is
// not changed again: that would be a fight. It is noted before the fence is closed, so that nothing opens it again
// without the proof.
func beginAgain(in pass.Input) outcome.Outcome {
	kcm := in.ControlPlane.Value().KCM
	out := outcome.Fails(ucv1.CloudLoopsContendedReason, handover.Loud(kcm))
	out.Repair = &outcome.Action{Kind: outcome.ActionRecord, Why: "Recording that KCM may run cloud loops again."}
	return in.Adds(out, func(facts *ucv1.Facts) {
		recorded := facts.Handover
		recorded.ContendedAt, recorded.StartedAt, recorded.LoopsOffAt = in.Stamp(), in.Stamp(), in.Stamp()
		recorded.FinishedAt, recorded.FenceOpenedAt = nil, nil
		if start.Serialized(*facts) {
			recorded.WorkloadAllowedAt = nil
		}
		recorded.Processes = handover.RecordProcesses(nil, kcm)
	})
}

// contention takes the cloud loops from the CCM while KCM runs them: two managers must not.
func contention(in pass.Input, message observation.Text) outcome.Outcome {
	out := outcome.Fails(ucv1.CloudLoopsContendedReason, message)
	if fence := in.Fence.Value(); fence.Open && closesFence(in) {
		out.Repair = &outcome.Action{Kind: outcome.ActionCloseFence, Why: "Closing the fence, so that the CCM ends: " + message.Words}
	}
	return out
}

// AreBack is known when KCM runs cloud loops that we had switched off, and absent when it does not.
func AreBack(in pass.Input) observation.Observed[bool] {
	controlPlane, known := in.ControlPlane.Get()
	recorded := in.Facts.Handover
	switch {
	case recorded == nil || recorded.LoopsOffAt == nil && recorded.LockArmedAt == nil || in.ControlPlane.IsAbsent():
		return observation.Absent[bool]()
	case !known:
		return observation.Unknown[bool](in.ControlPlane.Why())
	case recorded.LoopsOffAt == nil && handover.Armed(controlPlane.KCM.Arguments):
		return observation.Absent[bool]() // It runs them while it holds the migration lock.
	case len(controlPlane.KCM.Arguments.CloudLoops()) > 0,
		recorded.ContendedAt != nil && handover.Loud(controlPlane.KCM).Words != "":
		return observation.Known(true)
	}
	return observation.Absent[bool]()
}

// NoStrangerLeads looks at KCM's Lease before Machines are replaced and before the end: a KCM of another Deployment shows
// there only. It waits instead of failing, because every restart of KCM leaves a Lease of a pod that is gone for a moment.
func NoStrangerLeads(in pass.Input) outcome.Outcome {
	if !in.ControlPlane.IsKnown() {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	if doubt := handover.LeaseDoubt(Silence(in)); doubt.Words != "" {
		return outcome.WaitsUntil(ucv1.ProvingSilenceReason, doubt, 2*time.Second)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
