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
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// planState is a moment of a simulated run, and what a person changes just before the plan is made.
type planState struct {
	external bool
	// before comes first, in order; at is when the plan is made.
	before []simulation.Intervention
	at     func(*simulation.World) bool
	change func(*ucv1.Cluster)
	do     func(*simulation.World)
}

func askedBack() []simulation.Intervention {
	return []simulation.Intervention{
		{
			Name: "asks for the rollback",
			When: func(w *simulation.World) bool { return w.Replaced() > 1 },
			Do:   func(w *simulation.World) { w.Undo(true) },
		},
	}
}

func planStates() map[string]planState {
	soon := simulation.After(time.Second)
	deleted := func(c *ucv1.Cluster) {
		c.DeletionTimestamp = new(metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	return map[string]planState{
		"feature-off": {
			at:     soon,
			change: func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil; c.Status.Facts = ucv1.Facts{} },
		},
		"paused": {
			at:     simulation.AtStep(ucv1.StepMachineController),
			change: func(c *ucv1.Cluster) { c.Spec.Paused = true },
		},
		"before-hand-over":  {at: simulation.AtStep(ucv1.StepAddons)},
		"after-hand-over":   {at: simulation.AtStep(ucv1.StepMachineController)},
		"middle-of-a-roll":  {at: func(w *simulation.World) bool { return w.Replaced() > 1 }},
		"finished":          {at: simulation.Finished},
		"finished-no-ccm":   {at: simulation.Finished, do: (*simulation.World).DeleteCCM},
		"external-new":      {external: true, at: simulation.AtStep(ucv1.StepAddons)},
		"external-finished": {external: true, at: simulation.Finished},
		"rollback-asked":    {at: simulation.AtStep(ucv1.StepRoll), change: func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = true }},
		"rollback":          {before: askedBack(), at: simulation.AtStep(ucv1.StepUndoRoll)},
		"rolled-back": {
			before: askedBack(),
			at:     simulation.RolledBack,
			change: func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = false },
		},
		"rolled-back-retry": {before: askedBack(), at: simulation.RolledBack, change: func(c *ucv1.Cluster) {
			c.Spec.Handover.Rollback, c.Spec.Handover.RetryAfter = false, new(metav1.NewTime(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)))
		}},
		"deleted-in-tree":   {at: soon, change: deleted},
		"deleted-hand-over": {at: simulation.AtStep(ucv1.StepHandover), change: deleted},
		"deleted-finished":  {at: simulation.Finished, change: deleted},
		"halted": {
			before: []simulation.Intervention{
				{When: simulation.AtStep(ucv1.StepRoll), Do: func(w *simulation.World) { w.Pause("workers", true) }},
			},
			at: simulation.Stalled(ucv1.BlockedMachinesReason),
		},
	}
}

// planOf is the plan of that moment.
func (s planState) planOf(g Gomega) plan.Plan {
	scenario := simulation.HighlyAvailable()
	if s.external {
		scenario = simulation.CreatedWithFeature()
	}
	var in *plan.Input
	scenario.Interventions = append(s.before, simulation.Intervention{Name: "plans", When: s.at, Do: func(w *simulation.World) {
		if s.change != nil {
			w.Change(s.change)
		}
		if s.do != nil {
			s.do(w)
		}
		in = &plan.Input{
			Start: simulation.StartOf(w),
			Dry:   map[string]plan.Object{},
			Pods:  observation.Known(plan.Pods{OnNode: map[string]int{}}),
		}
		for _, object := range in.Start.Differing {
			in.Dry[object.String()] = plan.Object{Object: object.String(), Operation: plan.Change}
		}
	}})
	transcript, _ := simulation.Run(1, scenario)
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
