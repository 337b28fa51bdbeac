package migration

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func TestAnApprovedPlanStarts(t *testing.T) {
	digest, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for name, test := range map[string]struct {
		mode     ucv1.MigrationMode
		approved string
		plan     observation.Observed[observation.ForeseenPlan]
		action   outcome.ActionKind
		wait     string
		failure  string
	}{
		"no one asks for a plan":                         {action: outcome.ActionRecord},
		"mode Migrate asks for none":                     {mode: ucv1.MigrateMode, action: outcome.ActionRecord},
		"PlanOnly waits for an approval":                 {mode: ucv1.PlanOnlyMode, plan: observation.Known(observation.ForeseenPlan{Digest: digest}), wait: ucv1.WaitingForApprovalReason},
		"PlanOnly starts with the plan that is approved": {mode: ucv1.PlanOnlyMode, approved: digest, plan: observation.Known(observation.ForeseenPlan{Digest: digest}), action: outcome.ActionRecord},
		"a plan that changed since calls a person":       {mode: ucv1.PlanOnlyMode, approved: other, plan: observation.Known(observation.ForeseenPlan{Digest: digest}), failure: ucv1.PlanNotApprovedReason},
		"an approval counts in mode Migrate, too":        {approved: other, plan: observation.Known(observation.ForeseenPlan{Digest: digest}), failure: ucv1.PlanNotApprovedReason},
		"a plan that could not be made starts nothing":   {approved: digest, plan: observation.Unknown[observation.ForeseenPlan]("timeout"), wait: ucv1.CouldNotLookReason},
		"a plan that no one made starts nothing":         {mode: ucv1.PlanOnlyMode, wait: ucv1.CouldNotLookReason},
		"the absence of a plan is not its approval":      {mode: ucv1.PlanOnlyMode, plan: observation.Absent[observation.ForeseenPlan](), wait: ucv1.CouldNotLookReason},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := fresh()
			o.Cluster.Spec.Mode, o.Cluster.Spec.Approval.PlanDigest, o.Plan = test.mode, test.approved, test.plan
			d := Decide(o, noon())
			switch {
			case test.action != "":
				g.Expect(d.Next()).To(HaveField("Kind", test.action))
				g.Expect(d.Facts.StartedAt).NotTo(BeNil())
				return
			case test.wait != "":
				g.Expect(d.Wait).To(HaveField("Reason", test.wait))
			default:
				g.Expect(d.Calls()).To(HaveField("Reason", test.failure))
				g.Expect(d.Calls().Message).To(And(ContainSubstring(digest), ContainSubstring(other)))
			}
			g.Expect(d.Next()).To(BeNil())
			g.Expect(d.Facts).To(BeNil())
		})
	}
}

func TestAPlanIsKeptForAMinuteAndStartsAMigrationForHalfOfOne(t *testing.T) {
	g := NewWithT(t)
	o := fresh()
	o.Cluster.Spec.Mode = ucv1.PlanOnlyMode
	made := observation.ForeseenPlan{Digest: strings.Repeat("a", 64), MadeAt: noon()}
	for age, kept := range map[time.Duration]bool{0: true, 59 * time.Second: true, time.Minute: false} {
		g.Expect(start.PlanLasts(made, o.Cluster, noon().Add(age))).To(Equal(kept), "after %s", age)
	}

	o.Plan = observation.Known(made)
	g.Expect(Decide(o, noon()).Wait).To(HaveField("After", 10*time.Minute))
	g.Expect(Decide(o, noon().Add(50*time.Second)).Wait).To(HaveField("After", 10*time.Second), "what changed since is seen when "+
		"it is made again")
	g.Expect(Decide(o, noon().Add(2*time.Minute)).Wait).To(HaveField("After", 10*time.Minute), "it is being made again")

	o.Cluster.Spec.Approval.PlanDigest = strings.Repeat("b", 64)
	g.Expect(start.PlanLasts(made, o.Cluster, noon().Add(59*time.Second))).To(BeTrue(), "nothing starts with it")
	o.Cluster.Spec.Approval.PlanDigest = made.Digest
	for age, starts := range map[time.Duration]bool{0: true, 29 * time.Second: true, 30 * time.Second: false} {
		g.Expect(start.PlanLasts(made, o.Cluster, noon().Add(age))).To(Equal(starts), "a migration starts with it after %s", age)
	}
}

func TestAStartedMigrationAsksForNoPlan(t *testing.T) {
	g := NewWithT(t)
	o := rolling()
	o.Cluster.Spec.Mode, o.Cluster.Spec.Approval.PlanDigest = ucv1.PlanOnlyMode, strings.Repeat("b", 64)
	g.Expect(start.WantsPlan(o.Cluster)).To(BeFalse())
	g.Expect(Decide(o, noon().Add(time.Second)).Next()).To(HaveField("Kind", outcome.ActionRollMachineDeployment))
}
