package dashboard

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	cliplan "github.com/ccm-migration/ccm-migration-controller/internal/cli/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
)

func planned() cliplan.Page {
	return cliplan.Page{
		MadeAt: time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC), MadeBy: "oncall@example.com",
		Plan: plan.Plan{
			Cluster: "user-alpha/alpha", Provider: "openstack", Version: "1.30.14", Now: "It has not started.",
			Digest: "5d0f3c1b9a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a392817060504", Summary: "2 changes, 2 Machines.",
			Findings: []observation.Finding{
				{Severity: observation.Warning, ID: "LoadBalancersKept", Message: "Load balancers keep the names that they have."},
				{Severity: observation.Info, ID: "NoDrainBudget", Message: "No PodDisruptionBudget holds a pod back."},
			},
			Protocol: ucv1.FencedProtocol, ProtocolReason: "the fence holds.",
			Outcome: plan.Outcome{State: plan.Finishes, Step: ucv1.StepFinished, Message: "The migration completes."},
			Actions: []plan.Action{{
				Number: 1, Step: ucv1.StepAddons, Kind: outcome.ActionApplyAddons, Cluster: "user", Why: "Applying the CCM.",
				Objects: []plan.Object{{
					Object: "Deployment kube-system/openstack-cloud-controller-manager", Operation: plan.Change,
					Changes: []plan.FieldChange{{Path: "spec.template.spec.containers[name=ccm].image", From: "1", To: "registry.example/ccm:v1.30.3"}},
				}},
			}},
			Rollouts: []plan.Rollout{{
				Object: "MachineDeployment kube-system/pool", Machines: []string{"kube-system/pool-a", "kube-system/pool-b"},
				Disruption: "One more while it rolls.", Pods: new(12), Seconds: 600,
			}},
			Duration:        plan.Duration{Seconds: 900, Parts: []plan.Part{{What: "Soak", Seconds: 300, Basis: "spec.rollout.soakSeconds."}}},
			PointOfNoReturn: plan.PointOfNoReturn{Step: ucv1.StepComplete, Action: 1, Reason: "It is completed."},
			Afterwards:      []plan.Difference{{What: "--cloud-provider", From: "openstack", To: "external"}},
			Limits:          []string{"People are absent."},
		},
	}
}

func TestThePageOfAPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.html")
	file, err := os.Create(path)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(planned().Write(file)).To(Succeed())
	g.Expect(file.Close()).To(Succeed())
	for name, how := range map[string]look{"light": desktop(), "dark": {960, 600, "dark"}, "phone": {390, 844, "light"}} {
		t.Run(name, func(t *testing.T) {
			g, page := NewWithT(t), opened(t, "file://"+path, how)
			// What made it is not the same everywhere.
			evaluate[chromedp.Void](page, `document.querySelector("h1 + p").textContent = "Made at 2026-01-02T03:04:05Z by oncall@example.com."`)
			page.compare("plan-"+name, "body")
			g.Expect(page.violations()).To(BeEmpty())
			g.Expect(evaluate[int64](page, "document.documentElement.scrollWidth")).To(BeNumerically("<=", how.width), "it fits")
		})
	}
}
