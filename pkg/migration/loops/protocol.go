package loops

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// stage is a post-condition of a hand-over's table.
type stage struct {
	name     string
	means    string
	evaluate func(pass.Input) outcome.Outcome
}

// stagesOf is the table of a protocol. Every table can be interrupted between any two lines: nothing that keeps the CCM
// from the cloud loops needs us.
func stagesOf(protocol ucv1.HandoverProtocol, mode ucv1.LeaderMigrationMode) []stage {
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
	settled := stage{
		"Settled",
		"KCM's Deployment was touched, and no one wrote its former arguments back for three seconds.",
		settled,
	}
	silent := stage{
		"Silent",
		"Every recorded KCM process is proven to have ended, and every live one to run no cloud loop.",
		silent,
	}
	open := stage{"FenceOpen", "The CCM's identity may write its Lease. It was opened when every Node was Ready.", fenceOpen}
	if protocol == ucv1.LeaderMigrationProtocol && mode == ucv1.AcrossMinorsLeaderMigration {
		return append([]stage{baseline, recorded}, lockStages(settled, acrossStages(), last, silent)...)
	}
	if protocol == ucv1.LeaderMigrationProtocol {
		return append([]stage{probed, baseline, recorded}, lockStages(settled, nil, last, silent)...)
	}
	leading := stage{"Leading", "The CCM holds its Lease and renews it.", leading}
	if protocol == ucv1.SerializedProtocol {
		return []stage{
			probed, baseline, recorded,
			{"WorkloadWithheld", "No workload of the CCM is applied that was not allowed.", workloadWithheld},
			last, loopsOff, settled, silent,
			{"WorkloadAllowed", "The CCM's workload may be applied. It was allowed when every Node was Ready.", allowWorkload},
			open,
			{"WorkloadApplied", "The CCM's workload is applied and available.", workloadApplied},
			leading,
		}
	}
	return []stage{probed, baseline, recorded, last, loopsOff, settled, silent, open, leading}
}

// StageMeaning describes one line of a hand-over's table.
type StageMeaning struct{ Name, Means string }

// Stages describes the lines of a protocol, for people and for the documentation; none before one is chosen.
func Stages(protocol ucv1.HandoverProtocol, mode ucv1.LeaderMigrationMode) []StageMeaning {
	if protocol == "" {
		return nil
	}
	lines := stagesOf(protocol, mode)
	meanings := make([]StageMeaning, 0, len(lines))
	for _, l := range lines {
		meanings = append(meanings, StageMeaning{l.name, l.means})
	}
	return meanings
}

// workloadWithheld deletes a workload that was allowed once and is not any more.
func workloadWithheld(in pass.Input) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case in.Facts.Handover.WorkloadAllowedAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case len(addons.Obsolete) > 0:
		return outcome.Does(applied.Prune(addons.Obsolete))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func allowWorkload(in pass.Input) outcome.Outcome {
	if in.Facts.Handover.WorkloadAllowedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := start.NoOtherManager(in, start.ByLease); !out.Holds {
		return out
	}
	if out := pass.NodesReady(in); !out.Holds {
		return out
	}
	return in.Records("Recording that the CCM's workload may start.", func(facts *ucv1.Facts) {
		facts.Handover.WorkloadAllowedAt = in.Stamp()
	})
}

func workloadApplied(in pass.Input) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case addons.CCM.WorkloadWithheld:
		return outcome.CannotLook("the CCM's workload", "it was still withheld when the user cluster was looked at")
	}
	if out := applied.Set(in, outcome.CCMSet, addons.CCM); !out.Holds {
		return out
	}
	if out := applied.Healthy(in, addons); !out.Holds {
		return out
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
