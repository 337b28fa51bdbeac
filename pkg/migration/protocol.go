package migration

import (
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// stage is a post-condition of a hand-over's table.
type stage struct {
	name     string
	means    string
	evaluate func(input) outcome.Outcome
}

// stagesOf is the table of a protocol. Every table can be interrupted between any two lines: nothing that keeps the CCM
// from the cloud loops needs us.
func stagesOf(protocol ucv1.HandoverProtocol) []stage {
	baseline := stage{"BaselineTaken", "The inventory of load balancers and volumes is stored.", baselineTaken}
	probed := stage{
		"Probed",
		"The CCM led once under another name, with no loop, and stayed up. Nothing of that probe is left.",
		probed,
	}
	recorded := stage{
		"ProcessesRecorded",
		"Every KCM process that could run a cloud loop is in the status.",
		processesRecorded,
	}
	last := stage{"LeaderEndsLast", "KCM's present leader is the last of its pods to be deleted.", leaderEndsLast}
	loopsOff := stage{"LoopsOff", "The arguments of KCM's Deployment switch the cloud loops off.", loopsOff}
	silent := stage{
		"Silent",
		"Every recorded KCM process is proven to have ended, and every live one to run no cloud loop.",
		silent,
	}
	open := stage{"FenceOpen", "The CCM's identity may write its Lease. It was opened when every Node was Ready.", fenceOpen}
	if protocol == ucv1.LeaderMigrationProtocol {
		return append([]stage{probed, baseline, recorded}, lockStages(last, silent)...)
	}
	leading := stage{"Leading", "The CCM holds its Lease and renews it.", leading}
	if protocol == ucv1.SerializedProtocol {
		return []stage{
			probed, baseline, recorded,
			{"WorkloadWithheld", "No workload of the CCM is applied that was not allowed.", workloadWithheld},
			last, loopsOff, silent,
			{"WorkloadAllowed", "The CCM's workload may be applied. It was allowed when every Node was Ready.", allowWorkload},
			open,
			{"WorkloadApplied", "The CCM's workload is applied and available.", workloadApplied},
			leading,
		}
	}
	return []stage{probed, baseline, recorded, last, loopsOff, silent, open, leading}
}

// StageMeaning describes one line of a hand-over's table.
type StageMeaning struct{ Name, Means string }

// Protocols lists the protocols that there are.
func Protocols() []ucv1.HandoverProtocol {
	return []ucv1.HandoverProtocol{ucv1.FencedProtocol, ucv1.SerializedProtocol, ucv1.LeaderMigrationProtocol}
}

// HandoverStages describes the lines of a protocol, for people and for the documentation; none before one is chosen.
func HandoverStages(protocol ucv1.HandoverProtocol) []StageMeaning {
	if protocol == "" {
		return nil
	}
	lines := stagesOf(protocol)
	meanings := make([]StageMeaning, 0, len(lines))
	for _, l := range lines {
		meanings = append(meanings, StageMeaning{l.name, l.means})
	}
	return meanings
}

// chosen is the outcome of choosing a protocol.
type chosen struct {
	protocol ucv1.HandoverProtocol
	reason   string
}

// chooseProtocol asks before anything is touched whether the fence keeps the CCM from its Lease. A fence of ours that
// stands open says nothing about that; the row Addons names it.
func chooseProtocol(in input) (choice chosen, finding *observation.Finding, unknown string) {
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
		return chosen{ucv1.LeaderMigrationProtocol, "spec.handover.protocol asks for it."}, nil, ""
	case works:
		return chosen{ucv1.FencedProtocol, fence.Identity + " cannot write Lease " + fence.Lease +
			" until the fence is opened."}, nil, ""
	case wanted == ucv1.FencedProtocolChoice || wanted == ucv1.LeaderMigrationProtocolChoice:
		return chosen{}, blocking(FindingFence, ucv1.FenceIneffectiveReason, fenceProblem(fence), " Or set spec.handover.protocol to "+
			"Serialized."), ""
	}
	return chosen{ucv1.SerializedProtocol, fence.Identity + " may " + strings.Join(fence.Allowed, ", ") + " Lease " + fence.Lease +
		" without us, so a fence would not hold."}, nil, ""
}

func checkProtocol(in input) (*observation.Finding, string) {
	_, finding, unknown := chooseProtocol(in)
	return finding, unknown
}

// newHandover is for a cluster that passed checkProtocol.
func newHandover(in input) *ucv1.HandoverStatus {
	choice, _, _ := chooseProtocol(in)
	return &ucv1.HandoverStatus{Protocol: choice.protocol, ProtocolReason: choice.reason}
}

func serialized(facts ucv1.Facts) bool {
	return facts.Handover != nil && facts.Handover.Protocol == ucv1.SerializedProtocol
}

// ccmFollows says that applying the CCM is a line of the hand-over's own table.
func ccmFollows(in input) bool {
	return serialized(in.Facts) && in.Facts.Handover.StartedAt != nil || in.Facts.Handover.LockTakenAt != nil
}

// wantsNodeAgents says that what belongs to the CCM on the Nodes, and that no fence can hold, is to be there: from when the loops
// are handed over until they are given back.
func wantsNodeAgents(facts ucv1.Facts) bool {
	if facts.Origin == ucv1.OriginExternal {
		return true
	}
	return facts.Handover != nil && facts.Handover.FinishedAt != nil && facts.Rollback == nil
}

// withholdsWorkload says that the CCM's Deployment or DaemonSet is not to be applied yet.
func withholdsWorkload(facts ucv1.Facts) bool {
	return withdrawn(facts) || serialized(facts) && facts.Handover.WorkloadAllowedAt == nil
}

// withdrawn says that a rollback does not want the CCM any more.
func withdrawn(facts ucv1.Facts) bool {
	return facts.Rollback != nil && facts.Rollback.WorkloadWithdrawnAt != nil
}

// withdrawsAddons says that no addon is wanted any more.
func withdrawsAddons(facts ucv1.Facts) bool {
	return facts.Rollback != nil && facts.Rollback.AddonsWithdrawnAt != nil
}

// workloadWithheld deletes a workload that was allowed once and is not any more.
func workloadWithheld(in input) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case in.Facts.Handover.WorkloadAllowedAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case len(addons.Obsolete) > 0:
		return outcome.Does(pruneVerb(addons.Obsolete))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func allowWorkload(in input) outcome.Outcome {
	if in.Facts.Handover.WorkloadAllowedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := noOtherManager(in, byLease); !out.Holds {
		return out
	}
	if out := nodesReady(in); !out.Holds {
		return out
	}
	return in.Records("Recording that KCM is silent and the CCM's workload may start.", func(facts *ucv1.Facts) {
		facts.Handover.WorkloadAllowedAt = in.Stamp()
	})
}

func workloadApplied(in input) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case addons.CCM.WorkloadWithheld:
		return outcome.CannotLook("the CCM's workload", "it was still withheld when the user cluster was looked at")
	}
	if out := setApplied(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	if out := healthy(in, addons); !out.Holds {
		return out
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
