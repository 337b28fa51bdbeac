package status

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func blockedBy(findings ...observation.Finding) migration.Decision {
	return passes.Decided(ucv1.OriginMigrating, ucv1.StepPreflight, func(d *migration.Decision) {
		d.Failure = &outcome.Failure{Reason: ucv1.PreflightFailedReason, Message: "Blocked."}
		d.Findings = findings
	})
}

func TestStatusSaysWhatPreflightFound(t *testing.T) {
	g := NewWithT(t)
	findings := []observation.Finding{
		{ID: "NodeNotReady", Severity: observation.Blocking, Message: "They are not Ready.", Objects: make([]string, 20), Action: "Fix them."},
		{ID: "LeaderUnknown", Severity: observation.Blocking, NotLookedAt: true, Message: "Could not look at it."},
		{ID: "ClockSkew", Severity: observation.Blocking, Accepted: true}, {ID: "LeaseLong", Severity: observation.Warning},
		{ID: "NodesNone", Severity: observation.Info},
	}
	for i := range findings[0].Objects {
		findings[0].Objects[i] = fmt.Sprintf("Node n%02d", i)
	}
	for range 10 {
		findings = append(findings, observation.Finding{ID: "NodesNone", Severity: observation.Info})
	}
	after := reported(t, passOf(passes.ClusterOf(ucv1.OriginMigrating), blockedBy(findings...)))
	status := after.Status.Preflight
	g.Expect(status).To(And(
		HaveField("Blocking", int32(1)), HaveField("NotLookedAt", int32(1)), HaveField("Accepted", int32(1)),
		HaveField("Warnings", int32(1)), HaveField("Infos", int32(11)),
	))
	g.Expect(status.Findings).To(HaveLen(10))
	g.Expect(status.Findings[0]).To(And(HaveField("ID", "NodeNotReady"), HaveField("Objects", HaveLen(10)),
		HaveField("Message", ContainSubstring("n04 and 15 more. Fix them."))))
	g.Expect(status.Findings[1].NotLookedAt).To(BeTrue())
	g.Expect(status.JudgedAt.Time).To(BeTemporally("==", passes.Start()))
}

func TestPreflightIsNotWrittenAgainForTheTime(t *testing.T) {
	g := NewWithT(t)
	decision := blockedBy(observation.Finding{ID: "ClockSkew", Severity: observation.Blocking, Message: "They differ."})
	after := reported(t, passOf(passes.ClusterOf(ucv1.OriginMigrating), decision))
	later := passOf(after, decision)
	later.Now = later.Now.Add(time.Hour)
	g.Expect(reported(t, later).Status.Preflight).To(Equal(after.Status.Preflight))

	later.Decision.Findings = nil
	g.Expect(reported(t, later).Status.Preflight).To(Equal(after.Status.Preflight), "a pass that did not judge says nothing")
	later.Decision.Findings = []observation.Finding{}
	gone := reported(t, later).Status.Preflight
	g.Expect(gone).To(
		And(HaveField("Blocking", int32(0)), HaveField("Findings", BeEmpty())), "one that judged and found nothing says so",
	)
	g.Expect(gone.JudgedAt.Time).To(BeTemporally("==", later.Now))

	started := passOf(after.DeepCopy(), decision)
	started.Cluster.Status.StartedAt = passes.At(passes.Start())
	started.Decision.Findings = []observation.Finding{{ID: "RouteRefused", Severity: observation.Blocking}}
	g.Expect(statusOf(started).Preflight).To(Equal(after.Status.Preflight), "it stays as it was at the start")
}

func TestFindingsOfAClusterCreatedWithTheFeatureGoWhenTheyAreGone(t *testing.T) {
	g := NewWithT(t)
	decision := passes.Decided(ucv1.OriginExternal, ucv1.StepAddons, passes.Failing(ucv1.InputInvalidReason, "It lacks a key."))
	decision.Findings = []observation.Finding{{ID: "CloudConfigUnusable", Severity: observation.Blocking, Message: "It lacks a key."}}
	blocked := reported(t, passOf(passes.ClusterOf(ucv1.OriginExternal), decision))
	g.Expect(blocked.Status.Preflight).To(HaveField("Blocking", int32(1)))
	decision.Findings, decision.Failure = nil, nil
	g.Expect(reported(t, passOf(blocked, decision)).Status.Preflight).To(BeNil())
}

func shownWarning(id string, accepted bool) ucv1.PreflightFinding {
	return ucv1.PreflightFinding{
		ID: id, Severity: ucv1.FindingSeverity(observation.Warning), Accepted: accepted, Message: "They run out. Renew them.",
	}
}

func TestCredentialsAreWatchedOnAfterTheStart(t *testing.T) {
	expire := observation.Finding{ID: preflight.CredentialsExpire, Severity: observation.Warning, Message: "They run out.",
		Action: "Renew them."}
	full := make([]ucv1.PreflightFinding, maxFindings)
	for i := range full {
		full[i] = shownWarning("LeaseLong", false)
	}
	for name, test := range map[string]struct {
		before   *ucv1.PreflightStatus
		found    observation.Observed[[]observation.Finding]
		ids      []string
		warnings int32
		changed  bool
	}{
		"they will run out": {
			before: &ucv1.PreflightStatus{Warnings: 1, Findings: []ucv1.PreflightFinding{shownWarning("LeaseLong", false)}},
			found:  observation.Known([]observation.Finding{expire}), ids: []string{"CredentialsExpire", "LeaseLong"}, warnings: 2,
			changed: true,
		},
		"they will run out, and nothing was found before": {
			found: observation.Known([]observation.Finding{expire}), ids: []string{"CredentialsExpire"}, warnings: 1, changed: true,
		},
		"it is known already": {
			before: &ucv1.PreflightStatus{Warnings: 1, Findings: []ucv1.PreflightFinding{shownWarning("CredentialsExpire", false)}},
			found:  observation.Known([]observation.Finding{expire}), ids: []string{"CredentialsExpire"}, warnings: 1,
		},
		"they were renewed": {
			before: &ucv1.PreflightStatus{Warnings: 2,
				Findings: []ucv1.PreflightFinding{shownWarning("CredentialsExpire", false), shownWarning("LeaseLong", false)}},
			found: observation.Known[[]observation.Finding](nil), ids: []string{"LeaseLong"}, warnings: 1, changed: true,
		},
		"no one can look": {
			before: &ucv1.PreflightStatus{Warnings: 1, Findings: []ucv1.PreflightFinding{shownWarning("CredentialsExpire", false)}},
			ids:    []string{"CredentialsExpire"}, warnings: 1,
		},
		"a person accepted it": {
			before: &ucv1.PreflightStatus{Accepted: 1, Findings: []ucv1.PreflightFinding{shownWarning("CredentialsExpire", true)}},
			found:  observation.Known([]observation.Finding{expire}), ids: []string{"CredentialsExpire"},
		},
		"there is no room": {
			before: &ucv1.PreflightStatus{Warnings: 10, Findings: full}, found: observation.Known([]observation.Finding{expire}),
			ids: append([]string{"CredentialsExpire"}, slices.Repeat([]string{"LeaseLong"}, maxFindings-1)...), warnings: 11,
			changed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating),
				passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, func(*migration.Decision) {}))
			s.Cluster.Status.StartedAt, s.Cluster.Status.Preflight, s.Credentials = passes.At(passes.Start()), test.before, test.found
			after := statusOf(s).Preflight
			var ids []string
			for _, finding := range after.Findings {
				ids = append(ids, finding.ID)
			}
			g.Expect(ids).To(Equal(test.ids))
			g.Expect(after.Warnings).To(Equal(test.warnings))
			g.Expect(after.JudgedAt != nil).To(Equal(test.changed))
		})
	}
}

func TestFieldsWithoutEffectAreWatchedOnAfterTheStart(t *testing.T) {
	g := NewWithT(t)
	s := passOf(
		passes.ClusterOf(ucv1.OriginMigrating), passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, func(*migration.Decision) {}),
	)
	s.Cluster.Status.StartedAt = passes.At(passes.Start())
	g.Expect(statusOf(s).Preflight).To(BeNil())

	s.Cluster.Spec.Mode = ucv1.PlanOnlyMode
	s.Credentials = observation.Known([]observation.Finding{{ID: preflight.CredentialsExpire, Severity: observation.Warning}})
	first := reported(t, s)
	g.Expect(first.Status.Preflight).To(And(HaveField("Warnings", int32(2)), HaveField("Findings", HaveLen(2))))
	g.Expect(first.Status.Preflight.Findings[1]).To(
		And(HaveField("ID", preflight.FieldWithoutEffect), HaveField("Message", ContainSubstring("spec.paused: true"))),
	)

	again := passOf(first, s.Decision)
	again.Credentials, again.Now = s.Credentials, s.Now.Add(time.Hour)
	g.Expect(statusOf(again).Preflight).To(Equal(first.Status.Preflight), "what stays is not written again")
	again.Cluster.Spec.Mode = ucv1.MigrateMode
	g.Expect(statusOf(again).Preflight).To(
		And(HaveField("Warnings", int32(1)), HaveField("Findings", HaveLen(1))), "it goes with the field",
	)
}
