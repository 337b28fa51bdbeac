package simtest

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func blockingFinding(id string) observation.Finding {
	return observation.Finding{
		ID:       id,
		Reason:   ucv1.PreflightFailedReason,
		Severity: observation.Blocking,
		Message:  "It is wrong.",
		Action:   "Fix it.",
	}
}

func TestFindingsHoldTheWholeMigrationBack(t *testing.T) {
	t.Parallel()
	beforeRoll := blockingFinding("LoadBalancerRefused")
	beforeRoll.BeforeRoll = true
	accepts := func(w *World) {
		w.Cluster.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "LeaderUnknown", Reason: "it is known"}}
	}
	tests := map[string]struct {
		findings      []observation.Finding
		interventions []Intervention
		step          ucv1.Step
	}{
		"no one fixes it": {findings: []observation.Finding{blockingFinding("LeaderUnknown")}, step: ucv1.StepPreflight},
		"a person fixes it": {
			findings:      []observation.Finding{blockingFinding("LeaderUnknown")},
			interventions: []Intervention{{Name: "fixes it", When: Stalled(ucv1.PreflightFailedReason), Do: Fix("LeaderUnknown")}},
			step:          ucv1.StepFinished,
		},
		"a person accepts it": {
			findings:      []observation.Finding{blockingFinding("LeaderUnknown")},
			interventions: []Intervention{{Name: "accepts it", When: Stalled(ucv1.PreflightFailedReason), Do: accepts}},
			step:          ucv1.StepFinished,
		},
		"the cloud refuses, and no Machine is replaced": {findings: []observation.Finding{beforeRoll}, step: ucv1.StepRoll},
		"the cloud refuses for a while": {
			findings: []observation.Finding{beforeRoll},
			interventions: []Intervention{
				{
					Name: "fixes it",
					When: func(w *World) bool { return Stalled(ucv1.PreflightFailedReason)(w) && After(time.Minute)(w) },
					Do:   Fix("LoadBalancerRefused"),
				},
			},
			step: ucv1.StepFinished,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := plain()
			s.Findings, s.Interventions = tc.findings, tc.interventions
			transcript, err := Run(1, s)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(transcript.Outcome.Step).To(Equal(tc.step), transcript.Outcome.Message)
			if tc.step == ucv1.StepPreflight {
				g.Expect(transcript.Outcome.Facts.StartedAt).To(BeNil())
			}
			if tc.step == ucv1.StepRoll {
				g.Expect(transcript.Outcome.Facts.RollGeneration).To(BeEmpty())
				g.Expect(transcript.Outcome.Created).To(BeZero())
			}
		})
	}
}
