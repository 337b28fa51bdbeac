package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// maxFindings is the bound of status.preflight.findings, maxFindingObjects that of the objects of one.
const (
	maxFindings       = 10
	maxFindingObjects = 10
	MaxObjectName     = 600
)

// setPreflight writes what was found before the start; afterwards it stays, but for what is watched on. A time that ticks would
// be a change in every pass.
func setPreflight(status *ucv1.ClusterStatus, p *Pass) {
	if p.Cluster.Status.StartedAt != nil {
		watchOn(status, p)
		return
	}
	looks := p.Cluster.ExternalCloudProvider() || p.Decision.Readiness != nil
	createdWithIt := p.Cluster.Status.Origin == ucv1.OriginExternal // Preflight is not for it; what it refers to is judged.
	if !looks || createdWithIt && p.Decision.Findings == nil {
		status.Preflight = nil // What is not looked at any more is not shown.
		return
	}
	if p.Decision.Findings == nil {
		return
	}
	found := preflightStatus(p.Decision.Findings)
	at := metav1.NewTime(p.Now)
	if !p.PreflightAt.IsZero() {
		at = metav1.NewTime(p.PreflightAt)
	}
	found.JudgedAt = &at
	if before := status.Preflight; before != nil {
		same := *found
		same.JudgedAt = before.JudgedAt
		if equality.Semantic.DeepEqual(&same, before) {
			return
		}
	}
	status.Preflight = found
}

// watchOn keeps true whether our credentials run out soon, and which fields have no effect. It holds nothing up: when the
// credentials have run out, condition UserClusterReachable says so.
func watchOn(status *ucv1.ClusterStatus, p *Pass) {
	shown := ptr.Deref(status.Preflight.DeepCopy(), ucv1.PreflightStatus{})
	watch(&shown, preflight.FieldWithoutEffect, preflight.JudgeFields(p.Cluster))
	if found, known := p.Credentials.Get(); known {
		watch(&shown, preflight.CredentialsExpire, found)
	}
	if (status.Preflight != nil || len(shown.Findings) > 0) && !equality.Semantic.DeepEqual(&shown, status.Preflight) {
		shown.JudgedAt = &metav1.Time{Time: p.Now}
		status.Preflight = &shown
	}
}

// watch puts what was found now in the place of what is shown of a check. One that a person accepted stays as it was accepted.
func watch(shown *ucv1.PreflightStatus, id string, found []observation.Finding) {
	about := func(finding ucv1.PreflightFinding) bool { return finding.ID == id }
	before := len(shown.Findings)
	shown.Findings = slices.DeleteFunc(
		shown.Findings,
		func(finding ucv1.PreflightFinding) bool { return about(finding) && !finding.Accepted },
	)
	shown.Warnings -= int32(before - len(shown.Findings))
	if len(found) > 0 && !slices.ContainsFunc(shown.Findings, about) {
		now := preflightStatus(found)
		shown.Warnings += now.Warnings
		// It comes first: a person can still do something about it.
		shown.Findings = append(now.Findings, shown.Findings[:min(len(shown.Findings), maxFindings-len(now.Findings))]...)
	}
}

func preflightStatus(findings []observation.Finding) *ucv1.PreflightStatus {
	status := &ucv1.PreflightStatus{}
	for _, finding := range findings {
		switch {
		case finding.NotLookedAt:
			status.NotLookedAt++
		case finding.Accepted:
			status.Accepted++
		case finding.Severity == observation.Blocking:
			status.Blocking++
		case finding.Severity == observation.Warning:
			status.Warnings++
		default:
			status.Infos++
		}
	}
	for _, finding := range findings[:min(len(findings), maxFindings)] {
		said := start.TextOf(finding)
		entry := ucv1.PreflightFinding{
			ID:          finding.ID,
			Severity:    ucv1.FindingSeverity(finding.Severity),
			Message:     wording.Bounded(said.Words, MaxMessage),
			About:       observation.NamesOf(said.Objects),
			NotLookedAt: finding.NotLookedAt,
			Accepted:    finding.Accepted,
		}
		for _, object := range finding.Objects[:min(len(finding.Objects), maxFindingObjects)] {
			entry.Objects = append(entry.Objects, wording.Bounded(object, MaxObjectName))
		}
		status.Findings = append(status.Findings, entry)
	}
	return status
}
