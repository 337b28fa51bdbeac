package start

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The IDs of the findings about what the Cluster refers to. No one can accept these: without what they name there is nothing to
// migrate with.
const (
	FindingConnection      = "ConnectionRefused"
	FindingContenders      = "ControlPlaneShared"
	FindingProvider        = "ProviderNotSupported"
	FindingProfile         = "ProfileUnusable"
	FindingCloudConfig     = "CloudConfigUnusable"
	FindingAddonsReleased  = "AddonsReleased"
	FindingControlPlane    = "ControlPlaneUnusable"
	FindingProviderDiffers = "ProviderDiffers"
	FindingClusterName     = "ClusterNameChanges"
	FindingOtherCCM        = "OtherCloudControllerManager"
	FindingFence           = "FenceIneffective"
	FindingMigrationLock   = "MigrationLockRefused"
	FindingLoopsOff        = "LoopsOffAlready"
)

// InputFindingIDs are the IDs of the findings about what the Cluster refers to, sorted.
func InputFindingIDs() []string {
	ids := []string{
		FindingConnection, FindingContenders, FindingProvider, FindingProfile, FindingCloudConfig, FindingAddonsReleased,
		FindingControlPlane,
		FindingProviderDiffers, FindingClusterName, FindingOtherCCM, FindingFence, FindingMigrationLock, FindingLoopsOff,
	}
	slices.Sort(ids)
	return ids
}

// blocking is a finding about what the Cluster refers to; its message has the next step.
func blocking(id, reason string, message ...any) *observation.Finding {
	said := observation.Say(message...)
	return &observation.Finding{ID: id, Reason: reason, Message: said.Words, Named: said.Objects, Severity: observation.Blocking}
}

// TextOf is the finding with what to do.
func TextOf(f observation.Finding) observation.Text {
	text := f.Text()
	if len(f.Objects) > 0 {
		text.Words = text.Without(".").Words + ": " + wording.Names(f.Objects) + "."
	}
	text.Words = strings.TrimSpace(text.Words + " " + f.Action)
	return text
}

// accept marks what a person accepted. One that is about objects is accepted when every one of them is: whatever comes to it
// later blocks again.
func accept(findings []observation.Finding, accepted []ucv1.AcceptedFinding, now time.Time) {
	for i := range findings {
		finding := &findings[i]
		left := slices.Clone(finding.Objects)
		if len(left) == 0 {
			left = []string{""}
		}
		var because []string
		for _, entry := range accepted {
			if entry.ID != finding.ID || entry.Until != nil && !now.Before(entry.Until.Time) {
				continue
			}
			before := len(left)
			left = slices.DeleteFunc(
				left,
				func(object string) bool { return len(entry.Objects) == 0 || slices.Contains(entry.Objects, object) },
			)
			if len(left) < before {
				because = append(because, entry.Reason)
			}
		}
		if len(left) == 0 {
			finding.Accepted, finding.AcceptedBecause = true, strings.Join(because, " ")
		}
	}
}

// preflightFindings are those of package preflight with what a person accepted; the second value says why there are none.
func preflightFindings(in pass.Input) (findings []observation.Finding, unknown string) {
	if in.Findings.IsUnknown() {
		return nil, "what preflight asks of the cluster: " + in.Findings.Why()
	}
	findings = slices.Clone(in.Findings.Value())
	accept(findings, in.Cluster.Spec.Preflight.Accept, in.Now)
	observation.SortFindings(findings)
	return findings, ""
}

// JudgePreflight keeps the migration back while something blocks: all of it at once, with all that was found. What no one could
// look at is not passed.
func JudgePreflight(in pass.Input) outcome.Outcome {
	objections, unknown := inputFindings(in)
	found := slices.Clone(objections)
	findings, why := preflightFindings(in)
	if why != "" && in.Connection.Reachable {
		unknown = append(unknown, why)
	}
	found = append(found, findings...)
	if found == nil && why == "" {
		found = []observation.Finding{} // It was judged, and nothing was found.
	}
	observation.SortFindings(found)
	for _, finding := range findings {
		switch {
		case !finding.Blocks():
		case finding.NotLookedAt:
			unknown = append(unknown, finding.Unseen)
		default:
			objections = append(objections, finding)
		}
	}
	out := judge(objections, unknown, "")
	out.Findings = found
	return out
}

// JudgesPreflight says that the findings against the start are to be looked for.
func JudgesPreflight(facts ucv1.Facts) bool {
	return facts.StartedAt == nil && facts.CompletedAt == nil && facts.Origin == ucv1.OriginMigrating
}

// JudgesCloud says that what needs the cloud is to be looked for: the CCM leads, and no Machine was replaced yet.
func JudgesCloud(facts ucv1.Facts) bool {
	return facts.Handover != nil && facts.Handover.FinishedAt != nil && facts.RollGeneration == "" && facts.CompletedAt == nil &&
		facts.Rollback == nil && facts.Origin != ucv1.OriginExternal
}

// CloudAsked is a gate of the roll: what only the cloud could tell is judged when the CCM leads, before the first Machine is
// replaced. Afterwards the Nodes themselves are the proof.
func CloudAsked(in pass.Input) outcome.Outcome {
	if in.Facts.RollGeneration != "" {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	findings, why := preflightFindings(in)
	if why != "" {
		return outcome.CannotLook("what only the cloud can tell", in.Findings.Why())
	}
	var objections []observation.Finding
	var unknown []string
	for _, finding := range findings {
		switch {
		case !finding.BeforeRoll || finding.Severity != observation.Blocking || finding.Accepted:
		case finding.NotLookedAt:
			unknown = append(unknown, finding.Unseen)
		default:
			objections = append(objections, finding)
		}
	}
	return judge(objections, unknown, "")
}
