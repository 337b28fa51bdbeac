package start

import (
	"cmp"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// FenceProblem says what keeps the fence from holding, and how to find it.
func FenceProblem(f observation.Fence) observation.Text {
	lease := leaseRef(f.Lease)
	if f.Open {
		return observation.Say("The fence is open already, as an earlier Cluster left it: "+f.Identity+" may write ", lease,
			". Delete the RoleBinding in namespace "+lease.Namespace+" that allows it.")
	}
	return observation.Say(f.Identity+" may "+strings.Join(f.Allowed, ", ")+" ", lease,
		" although our fence is closed; find the RBAC rule with 'kubectl auth can-i --list -n "+lease.Namespace+" --as="+f.Identity+
			"' and remove it.")
}

// leaseRef names a Lease that is known as namespace/name.
func leaseRef(lease string) observation.Ref {
	namespace, name, _ := strings.Cut(lease, "/")
	return observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
}

// Protocols lists the protocols that there are.
func Protocols() []ucv1.HandoverProtocol {
	return []ucv1.HandoverProtocol{ucv1.FencedProtocol, ucv1.SerializedProtocol, ucv1.LeaderMigrationProtocol}
}

// chosen is the outcome of choosing a protocol.
type chosen struct {
	protocol ucv1.HandoverProtocol
	reason   string
}

// chooseProtocol asks before anything is touched whether the fence keeps the CCM from its Lease. A fence of ours that
// stands open says nothing about that; the row Addons names it.
func chooseProtocol(in pass.Input) (choice chosen, finding *observation.Finding, unknown string) {
	wanted := in.Cluster.Spec.Handover.Protocol
	if wanted == ucv1.SerializedProtocolChoice {
		return chosen{ucv1.SerializedProtocol, "spec.handover.protocol asks for it."}, nil, ""
	}
	fence, known := in.Fence.Get()
	works := len(fence.Allowed) == 0 || fence.Open
	switch {
	case !known && in.Connection.Reachable:
		return chosen{}, nil, "the fence: " + in.Fence.Why()
	case !known:
		return chosen{}, nil, "" // The connection is objected to already.
	case works && wanted == ucv1.LeaderMigrationProtocolChoice:
		return chosen{ucv1.LeaderMigrationProtocol, lockReason(in)}, nil, ""
	case works:
		return chosen{ucv1.FencedProtocol, fence.Identity + " cannot write Lease " + fence.Lease +
			" until the fence is opened."}, nil, ""
	case wanted == ucv1.FencedProtocolChoice || wanted == ucv1.LeaderMigrationProtocolChoice:
		return chosen{}, blocking(FindingFence, ucv1.FenceIneffectiveReason, FenceProblem(fence), " Or set spec.handover.protocol to "+
			"Serialized."), ""
	}
	return chosen{ucv1.SerializedProtocol, fence.Identity + " may " + strings.Join(fence.Allowed, ", ") + " Lease " + fence.Lease +
		" without us, so a fence would not hold."}, nil, ""
}

func checkProtocol(in pass.Input) (*observation.Finding, string) {
	_, finding, unknown := chooseProtocol(in)
	return finding, unknown
}

// NewHandover is for a cluster that passed checkProtocol.
func NewHandover(in pass.Input) *ucv1.HandoverStatus {
	choice, _, _ := chooseProtocol(in)
	status := &ucv1.HandoverStatus{Protocol: choice.protocol, ProtocolReason: choice.reason}
	if choice.protocol == ucv1.LeaderMigrationProtocol {
		status.LeaderMigration = cmp.Or(in.Cluster.Spec.Handover.LeaderMigration, ucv1.SameMinorLeaderMigration)
	}
	return status
}

// Serialized says that the CCM's workload comes when KCM is proven silent.
func Serialized(facts ucv1.Facts) bool {
	return facts.Handover != nil && facts.Handover.Protocol == ucv1.SerializedProtocol
}

// AcrossMinors says that the CCM comes when the owner has upgraded kube-apiserver.
func AcrossMinors(facts ucv1.Facts) bool {
	return facts.Handover != nil && facts.Handover.LeaderMigration == ucv1.AcrossMinorsLeaderMigration
}

// AwaitsUpgrade says that whether kube-apiserver is upgraded is to be looked at.
func AwaitsUpgrade(facts ucv1.Facts) bool {
	return AcrossMinors(facts) && facts.Handover.UpgradeAllowedTo != "" && facts.Handover.WorkloadAllowedAt == nil
}

// CCMFollows says that applying the CCM is a line of the hand-over's own table.
func CCMFollows(in pass.Input) bool {
	followed := Serialized(in.Facts) || AcrossMinors(in.Facts)
	return followed && in.Facts.Handover.StartedAt != nil || in.Facts.Handover.LockTakenAt != nil
}

// WantsNodeAgents says that what belongs to the CCM on the Nodes, and that no fence can hold, is to be there: from when the loops
// are handed over until they are given back.
func WantsNodeAgents(facts ucv1.Facts) bool {
	if facts.Origin == ucv1.OriginExternal {
		return true
	}
	return facts.Handover != nil && facts.Handover.FinishedAt != nil && facts.Rollback == nil
}

// WithholdsWorkload says that the CCM's Deployment or DaemonSet is not to be applied yet.
func WithholdsWorkload(facts ucv1.Facts) bool {
	return Withdrawn(facts) || (Serialized(facts) || AcrossMinors(facts)) && facts.Handover.WorkloadAllowedAt == nil
}

// Withdrawn says that a rollback does not want the CCM any more.
func Withdrawn(facts ucv1.Facts) bool {
	return facts.Rollback != nil && facts.Rollback.WorkloadWithdrawnAt != nil
}

// WithdrawsAddons says that no addon is wanted any more.
func WithdrawsAddons(facts ucv1.Facts) bool {
	return facts.Rollback != nil && facts.Rollback.AddonsWithdrawnAt != nil
}
