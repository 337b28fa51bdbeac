package cluster

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// logged runs something with a log, and returns its lines.
func logged(t *testing.T, run func(ctx context.Context)) (lines []string) {
	t.Helper()
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	run(logr.NewContext(t.Context(), log))
	return lines
}

func TestEachActionIsLoggedWithItsObjectsAndWhy(t *testing.T) {
	g := NewWithT(t)
	s := &scope{Pass: status.Pass{Decision: migration.Decision{Step: ucv1.StepHandover, Action: &outcome.Action{
		Kind:    outcome.ActionRecord,
		Objects: []observation.Ref{{Kind: "Deployment", Namespace: "user-alpha", Name: "kcm"}},
		Why:     "Recording that KCM is silent.",
	}}}}
	r := &Reconciler{Observer: &Observer{}, Metrics: newTold(t).reconciler.Metrics}
	lines := logged(t, func(ctx context.Context) { g.Expect(r.actor().act(ctx, s)).To(Succeed()) })
	g.Expect(lines).To(ConsistOf(And(
		ContainSubstring(`"step"="Handover"`),
		ContainSubstring(`"action"="Record"`),
		ContainSubstring(`"objects"=["Deployment user-alpha/kcm"]`),
		ContainSubstring("Recording that KCM is silent."),
	)))
	s.Decision.Action = nil
	g.Expect(logged(t, func(ctx context.Context) { g.Expect(r.actor().act(ctx, s)).To(Succeed()) })).To(
		BeEmpty(),
		"a pass without an action",
	)
}

func TestAnActionThatFailedIsNotLoggedAsDone(t *testing.T) {
	g := NewWithT(t)
	s := &scope{Pass: status.Pass{Decision: migration.Decision{Action: &outcome.Action{Kind: "Unheard", Why: "Doing it."}}}}
	r := &Reconciler{Observer: &Observer{}, Metrics: newTold(t).reconciler.Metrics}
	g.Expect(logged(t, func(ctx context.Context) {
		g.Expect(r.actor().act(ctx, s)).To(MatchError(HavePrefix("Doing it: ")))
	})).To(BeEmpty())
}

func TestAStepIsLoggedWhenItChanges(t *testing.T) {
	g := NewWithT(t)
	at := func(step ucv1.Step) ucv1.ClusterStatus { return ucv1.ClusterStatus{Step: step} }
	lines := logged(t, func(ctx context.Context) { logStep(ctx, at(ucv1.StepAddons), at(ucv1.StepHandover)) })
	g.Expect(lines).To(ConsistOf(And(ContainSubstring(`"step"="Handover"`), ContainSubstring(`"before"="Addons"`))))
	g.Expect(logged(t, func(ctx context.Context) { logStep(ctx, at(ucv1.StepRoll), at(ucv1.StepRoll)) })).To(BeEmpty())
}
