package loops

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// leasesMinor is the first whose KCM elects its leader with a Lease alone, unless it is told otherwise.
// https://github.com/kubernetes/kubernetes/pull/94603
const leasesMinor = 20

func rightTo(lease observation.Ref) []observation.Ref {
	return []observation.Ref{
		{Kind: "Role", Namespace: lease.Namespace, Name: handover.KCMLeaseRole},
		{Kind: "RoleBinding", Namespace: lease.Namespace, Name: handover.KCMLeaseRole},
	}
}

// LooksAtKCMLeaseRight says whether that is looked at: never in a cluster that is finished.
func LooksAtKCMLeaseRight(facts ucv1.Facts) bool {
	return facts.StartedAt != nil && facts.Handover != nil && (facts.CompletedAt == nil || facts.Handover.KCMLeaseGrantedAt != nil)
}

// kcmLease is KCM's, where it may be freed: we change KCM, so that its rollouts are ours, and it elects with a Lease alone.
func kcmLease(in pass.Input) (formerLease, bool) {
	lease, known := in.KCMLease.Get()
	controlPlane, seen := in.ControlPlane.Get()
	kcm := controlPlane.KCM
	if !known || !seen || in.Cluster.Spec.ControlPlane.Instructed() || !electsByLease(in, kcm.Arguments) ||
		slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool { return !electsByLease(in, process.Arguments) }) {
		return formerLease{}, false
	}
	return formerLease{
		lease: lease, processes: slices.Concat(kcm.Pods, kcm.Former),
		retry: max(retryPeriod, kcm.Arguments.Duration("leader-elect-retry-period", retryPeriod)),
	}, true
}

func electsByLease(in pass.Input, arguments observation.Arguments) bool {
	kind, given := arguments.Flag("leader-elect-resource-lock")
	if !arguments.Understood() || !arguments.True("leader-elect", true) {
		return false
	}
	return kind == "leases" || !given && in.Minor() >= leasesMinor
}

// BeforeKCMRolls is what makes the time short in which no KCM leads: its leader ends last, and we may free its Lease.
func BeforeKCMRolls(in pass.Input, action *outcome.Action) *outcome.Action {
	kcm := in.ControlPlane.Value().KCM
	if action == nil || action.Kind != outcome.ActionChangeArguments || action.Arguments.InUserCluster ||
		action.Arguments.Target != kcm.Ref {
		return nil
	}
	if keep := keepLeader(kcm, in.KCMLease.Value()); keep != nil {
		return keep
	}
	former, known := kcmLease(in)
	if !known || in.Facts.Handover.KCMLeaseGrantedAt != nil {
		return nil
	}
	return &outcome.Action{
		Kind: outcome.ActionGrantLease, Objects: rightTo(former.lease.Ref), Lease: &former.lease,
		Why: "Letting us free " + former.lease.String() + " of a KCM that ends while " + kcm.String() + " rolls out.",
	}
}

// keepLeader has a ReplicaSet delete the pod that leads last; nil when there is nothing to do.
func keepLeader(kcm observation.Component, lease observation.Lease) *outcome.Action {
	leader := slices.IndexFunc(kcm.Pods, func(process observation.Process) bool {
		return !process.Terminating && !process.Finished && handover.HeldBy(lease, process.PodName, "")
	})
	if kcm.Replicas < 2 || leader < 0 || kcm.Pods[leader].DeletionCost != "" {
		return nil
	}
	pod := kcm.Pods[leader]
	return &outcome.Action{
		Kind:    outcome.ActionKeepLeader,
		Objects: []observation.Ref{{Kind: "Pod", Namespace: kcm.Namespace, Name: pod.PodName, UID: pod.PodUID}},
		Why: "Marking Pod " + kcm.Namespace + "/" + pod.PodName + ", which leads, to end last of all KCM pods (" +
			observation.DeletionCostAnnotation + ").",
	}
}

// kcmLeaseRef names it also where it can't be looked at.
func kcmLeaseRef(in pass.Input) observation.Ref {
	namespace, name := in.ControlPlane.Value().KCM.Arguments.LeaderLease()
	return observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
}

// revokePause is how long it is until our right is deleted once more where that was refused.
const revokePause = 10 * time.Minute

// MayBeGranted says that something of our right is there, or may be.
func MayBeGranted(in pass.Input) bool {
	handover, right := in.Facts.Handover, in.KCMLeaseRight
	return handover != nil && (right.Value().There || right.IsUnknown() && handover.KCMLeaseGrantedAt != nil)
}

// Granted also asks that it was not deleted a moment ago: who refused that does so again.
func Granted(in pass.Input) bool {
	if !MayBeGranted(in) {
		return false
	}
	revoked := in.Facts.Handover.KCMLeaseRevokedAt
	return revoked == nil || in.Now.Sub(revoked.Time) >= revokePause
}

// TakeBack does it; it holds when there is nothing to do. What was noted is forgotten only when nothing is seen to be there.
func TakeBack(in pass.Input) outcome.Outcome {
	if Granted(in) {
		return Revoke(in)
	}
	return forgetRight(in)
}

func forgetRight(in pass.Input) outcome.Outcome {
	out := outcome.Holds(ucv1.HoldsReason, "")
	if right, known := in.KCMLeaseRight.Get(); known && !right.There && in.Facts.Handover != nil {
		return in.Adds(out, func(facts *ucv1.Facts) {
			facts.Handover.KCMLeaseGrantedAt, facts.Handover.KCMLeaseRevokedAt = nil, nil
		})
	}
	return out
}

// KCMLeaseOrphaned says that the holder of KCM's Lease has ended or is gone, and that the Lease has not run out yet.
func KCMLeaseOrphaned(in pass.Input) bool {
	former, known := kcmLease(in)
	holder, found := former.holder()
	lives := func(process observation.Process) bool {
		return process.ContainerID == holder.ContainerID && !process.Ended
	}
	return known && found && !former.lease.Stale(in.Now) && !slices.ContainsFunc(in.ControlPlane.Value().KCM.Pods, lives)
}

// Revoke takes back our right to KCM's Lease.
func Revoke(in pass.Input) outcome.Outcome {
	lease := observation.Lease{Ref: kcmLeaseRef(in)}
	out := outcome.Does(outcome.Action{
		Kind: outcome.ActionRevokeLease, Objects: rightTo(lease.Ref), Lease: &lease, Why: "Taking back our right to free KCM's Lease.",
	})
	return in.Adds(out, func(facts *ucv1.Facts) { facts.Handover.KCMLeaseRevokedAt = in.Stamp() })
}

// RightGone is asked before all is finished, and at the end of a rollback: nothing looks at our right afterwards.
func RightGone(in pass.Input) outcome.Outcome {
	right, known := in.KCMLeaseRight.Get()
	switch {
	case in.KCMLeaseRight.IsUnknown():
		return outcome.CannotLook("our right to free KCM's Lease", in.KCMLeaseRight.Why())
	case !known || !right.There:
		return forgetRight(in)
	case KCMLeaseOrphaned(in) && !pass.RollingBack(in):
		return outcome.WaitsUntil(
			ucv1.RollingOutReason,
			observation.Say("The next KCM takes ", in.KCMLease.Value(), ", whose holder has ended."),
			time.Second,
		)
	case in.Facts.Handover.KCMLeaseRevokedAt == nil:
		return Revoke(in)
	}
	binding := observation.Ref{Kind: "RoleBinding", Namespace: kcmLeaseRef(in).Namespace, Name: handover.KCMLeaseRole}
	return outcome.Fails(ucv1.CouldNotActReason, "Role and ", binding, ", our right to free KCM's Lease, are still there although "+
		"they were deleted. "+DeleteRight(in))
}

// DeleteRight is the sentence that tells a person how to take it back.
func DeleteRight(in pass.Input) string {
	return "Delete them in the user cluster with 'kubectl -n " + kcmLeaseRef(in).Namespace + " delete rolebinding,role " +
		handover.KCMLeaseRole + "'."
}
