package plan

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func somePlan() plan.Plan {
	return plan.Plan{
		Cluster:  "user-alpha/alpha",
		Provider: "openstack",
		Version:  "1.25.16",
		Now:      "It has not started.",
		Digest:   "0123",
		Summary:  "2 changes.",
		Findings: []observation.Finding{
			{Severity: observation.Blocking, ID: "ControlPlaneUnusable", Message: "A <b>finding</b>."},
		},
		Protocol:       ucv1.FencedProtocol,
		ProtocolReason: "it holds.",
		Outcome:        plan.Outcome{State: plan.Stalls, Step: ucv1.StepRoll, Reason: "BlockedMachines", Message: "One is paused."},
		Actions: []plan.Action{{
			Number: 1, Step: ucv1.StepAddons, Kind: outcome.ActionApplyAddons, Cluster: "user", Why: "Applying.",
			Objects: []plan.Object{{
				Object: "Deployment kube-system/ccm", Operation: plan.Change, Note: "a note",
				Changes: []plan.FieldChange{{Path: "spec.replicas", From: "1", To: "2"}},
			}},
		}, {Step: ucv1.StepHandover, Kind: outcome.ActionFreeLease, Cluster: "user", Why: "Clearing.",
			Conditional: "only when it is needed"}},
		Rollouts: []plan.Rollout{
			{
				Object:     "MachineDeployment kube-system/a",
				Machines:   []string{"kube-system/a-1"},
				Disruption: "One more.",
				Pods:       new(3),
				Seconds:    90,
				Budgets:    []plan.Budget{{Name: "web/front", Pods: 2}},
			},
		},
		Duration:        plan.Duration{Seconds: 390, Parts: []plan.Part{{What: "Soak", Seconds: 300, Basis: "Set."}}},
		PointOfNoReturn: plan.PointOfNoReturn{Passed: true, Step: ucv1.StepComplete, Action: 1, Reason: "It is completed."},
		Afterwards:      []plan.Difference{{What: "--cloud-provider", From: "openstack"}},
		Limits:          []string{"People are absent."},
	}
}

func TestPlanForPeople(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	g.Expect(writePlan(out, "text", somePlan())).To(Succeed())
	for _, line := range []string{
		"Plan of Cluster user-alpha/alpha (openstack, Kubernetes 1.25.16)\nIt has not started.\n2 changes.\nDigest 0123",
		"  ControlPlaneUnusable (Blocking)\n    A <b>finding</b>.",
		"HAND-OVER by protocol Fenced: it holds.", "  step Addons\n    1. ApplyAddons, user cluster\n       Applying.\n       " +
			"change Deployment kube-system/ccm",
		"           spec.replicas: 1 -> 2", "         ! a note", "     - FreeLease, user cluster, only when it is needed",
		"It stops at step Roll, and a person has to act: BlockedMachines. One is paused.",
		"MachineDeployment kube-system/a: 1 Machines, about 1m30s. One more.", "pods that move: 3", "PodDisruptionBudget web/front: " +
			"2 pods here, 0 may go now",
		"DURATION: about 6m30s", "After change 1, at step Complete. It is completed.", "--cloud-provider: openstack -> (none)",
		"People are absent.",
	} {
		g.Expect(out.String()).To(ContainSubstring(line))
	}
}

func TestPlanForPrograms(t *testing.T) {
	g := NewWithT(t)
	for format, read := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(
		data []byte, into any,
	) error {
		return yaml.Unmarshal(data, into)
	}} {
		out, again := &bytes.Buffer{}, plan.Plan{}
		g.Expect(writePlan(out, format, somePlan())).To(Succeed())
		g.Expect(read(out.Bytes(), &again)).To(Succeed())
		g.Expect(again).To(Equal(somePlan()))
	}
	g.Expect(writePlan(&bytes.Buffer{}, "xml", somePlan())).To(MatchError("there is no format xml"))
}

func TestPlanAsOnePage(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	made := Page{Plan: somePlan(), MadeAt: time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC), MadeBy: "oncall@<example>"}
	g.Expect(made.Write(out)).To(Succeed())
	page := out.String()
	g.Expect(page).To(And(HavePrefix("<!DOCTYPE html>"), HaveSuffix("</html>\n")))
	for _, part := range []string{
		"user-alpha/alpha", "A &lt;b&gt;finding&lt;/b&gt;.", "<code>spec.replicas</code>", "web/front", "After change 1",
		"6m30s", "only when it is needed", "Made at 2026-01-02T03:04:05Z by oncall@&lt;example&gt;, with ccm-migration-controller",
		`<span class="blocking">ControlPlaneUnusable</span>`, "kubectl -n user-alpha patch uc alpha", "&#34;planDigest&#34;:&#34;0123&#34;",
		"does not come to its end by itself",
	} {
		g.Expect(page).To(ContainSubstring(part))
	}
	for _, outside := range []string{"http:", "https:", "<script", "src=", "<link", "@import", "url("} {
		g.Expect(page).NotTo(ContainSubstring(outside), "it needs nothing but itself")
	}
	made.Started = true
	out.Reset()
	g.Expect(made.Write(out)).To(Succeed())
	g.Expect(out.String()).NotTo(ContainSubstring("How to approve it"), "no one asks for it any more")
}
