package plan

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation/simtest"
)

// planState is a moment of a simulated run, and what a person changes just before the plan is made.
type planState struct {
	external bool
	// before comes first, in order; at is when the plan is made.
	before []simtest.Intervention
	at     func(*simtest.World) bool
	change func(*ucv1.Cluster)
	do     func(*simtest.World)
}

func askedBack() []simtest.Intervention {
	return []simtest.Intervention{
		{
			Name: "asks for the rollback",
			When: func(w *simtest.World) bool { return simtest.Replaced(w) > 1 },
			Do:   func(w *simtest.World) { simtest.Rollback(w, true) },
		},
	}
}

func planStates() map[string]planState {
	soon := simtest.After(time.Second)
	deleted := func(c *ucv1.Cluster) {
		c.DeletionTimestamp = new(metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	return map[string]planState{
		"feature-off": {
			at:     soon,
			change: func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil; c.Status.Facts = ucv1.Facts{} },
		},
		"paused": {
			at:     simtest.AtStep(ucv1.StepMachineController),
			change: func(c *ucv1.Cluster) { c.Spec.Paused = true },
		},
		"before-hand-over":  {at: simtest.AtStep(ucv1.StepAddons)},
		"after-hand-over":   {at: simtest.AtStep(ucv1.StepMachineController)},
		"middle-of-a-roll":  {at: func(w *simtest.World) bool { return simtest.Replaced(w) > 1 }},
		"finished":          {at: simtest.Finished},
		"finished-no-ccm":   {at: simtest.Finished, do: simtest.DeleteCCM},
		"external-new":      {external: true, at: simtest.AtStep(ucv1.StepAddons)},
		"external-finished": {external: true, at: simtest.Finished},
		"rollback-asked":    {at: simtest.AtStep(ucv1.StepRoll), change: func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = true }},
		"rollback":          {before: askedBack(), at: simtest.AtStep(ucv1.StepRollbackRoll)},
		"rolled-back": {
			before: askedBack(),
			at:     simtest.RolledBack,
			change: func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = false },
		},
		"rolled-back-retry": {before: askedBack(), at: simtest.RolledBack, change: func(c *ucv1.Cluster) {
			c.Spec.Handover.Rollback, c.Spec.Handover.RetryAfter = false, new(metav1.NewTime(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)))
		}},
		"deleted-in-tree":   {at: soon, change: deleted},
		"deleted-hand-over": {at: simtest.AtStep(ucv1.StepHandover), change: deleted},
		"deleted-finished":  {at: simtest.Finished, change: deleted},
		"halted": {
			before: []simtest.Intervention{
				{When: simtest.AtStep(ucv1.StepRoll), Do: func(w *simtest.World) { simtest.Pause(w, "workers", true) }},
			},
			at: simtest.Stalled(ucv1.BlockedMachinesReason),
		},
	}
}

// planOf is the plan of that moment.
func (s planState) planOf(g Gomega) plan.Plan {
	scenario := simtest.HighlyAvailable()
	if s.external {
		scenario = simtest.CreatedWithFeature()
	}
	var in *plan.Input
	scenario.Interventions = append(s.before, simtest.Intervention{Name: "plans", When: s.at, Do: func(w *simtest.World) {
		if s.change != nil {
			simtest.Change(w, s.change)
		}
		if s.do != nil {
			s.do(w)
		}
		in = &plan.Input{
			Start: simtest.StartOf(w),
			Dry:   map[string]plan.Object{},
			Pods:  observation.Known(plan.Pods{OnNode: map[string]int{}}),
		}
		for _, object := range in.Start.Differing {
			in.Dry[object.String()] = plan.Object{Object: object.String(), Operation: plan.Change}
		}
	}})
	transcript, _ := simtest.Run(1, scenario)
	g.Expect(in).NotTo(BeNil(), transcript.String())
	addons := in.Start.Observation.Addons.Value()
	addons.CCM.Version, addons.CSI.Version = "v1.30.14", "v1.2.0"
	in.Start.Observation.Addons = observation.Known(addons)
	return plan.Make(*in)
}

func TestPlanOfEveryState(t *testing.T) {
	t.Parallel()
	for name, state := range planStates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			made := state.planOf(g)
			out := &bytes.Buffer{}
			g.Expect(writePlan(out, "text", made)).To(Succeed())
			expectGolden(t, name+".txt", out.String())
			numbers := regexp.MustCompile(`(?m)^ +(\d+)\. `).FindAllStringSubmatch(out.String(), -1)
			for i, number := range numbers {
				g.Expect(number[1]).To(Equal(fmt.Sprint(i+1)), "one after the other")
			}
			g.Expect(made.Summary).To(HavePrefix(fmt.Sprintf("%d changes; ", len(numbers))), "what the headline says is what the list has")
			machines := 0
			for _, rollout := range made.Rollouts {
				machines += len(rollout.Machines)
			}
			g.Expect(made.Summary).To(ContainSubstring(fmt.Sprintf(" %d Machines of %d MachineDeployments", machines, len(made.Rollouts))))
			g.Expect(strings.Contains(out.String(), "about 0s")).To(Equal(machines == 0 && made.Duration.Seconds == 0))
		})
	}
}
