package status

import (
	"errors"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func entries(kind ucv1.TimelineKind, count int) []ucv1.TimelineEntry {
	var list []ucv1.TimelineEntry
	for i := range count {
		list = append(list, passes.Entry(kind, i))
	}
	return list
}

func kinds(timeline []ucv1.TimelineEntry) map[ucv1.TimelineKind]int {
	counts := map[ucv1.TimelineKind]int{}
	for _, e := range timeline {
		counts[e.Kind]++
	}
	return counts
}

func notReady(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "BlockedMachines", Message: "Blocked.",
		LastTransitionTime: *passes.At(passes.Start()),
	})
}

func pausedAlready(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Paused", Status: metav1.ConditionTrue, Reason: "Paused", Message: "Paused.",
		LastTransitionTime: *passes.At(passes.Start()),
	})
}

// inRoll is the only entry of a pass in step Roll.
func inRoll(kind ucv1.TimelineKind, actor, reason, message string) []ucv1.TimelineEntry {
	return []ucv1.TimelineEntry{{
		Time: metav1.NewTime(passes.Start()), Kind: kind, Step: ucv1.StepRoll, Actor: actor, Reason: reason, Message: message,
	}}
}

func TestTimelineGrowsByWhatThePassChanged(t *testing.T) {
	now := metav1.NewTime(passes.Start())
	stalled := func(c *ucv1.Cluster) { passes.AtStep(ucv1.StepRoll)(c); passes.StalledAlready(c) }
	step := ucv1.TimelineEntry{Time: now, Kind: ucv1.TimelineStep, Step: ucv1.StepRoll, Actor: "ccm-migration-controller"}
	for name, tc := range map[string]struct {
		before func(*ucv1.Cluster)
		decide func(*migration.Decision)
		actErr error
		want   []ucv1.TimelineEntry
	}{
		"a new step": {passes.AtStep(ucv1.StepMachineController), passes.Waiting("WaitingForMachines", "Waiting."), nil, []ucv1.TimelineEntry{step}},
		"nothing":    {passes.AtStep(ucv1.StepRoll), passes.Waiting("WaitingForMachines", "Waiting."), nil, nil},
		"an action, with ten of its objects": {passes.AtStep(ucv1.StepRoll), func(d *migration.Decision) {
			d.Action = &outcome.Action{Kind: outcome.ActionRollMachineDeployment, Why: "Rolling.", Objects: passes.Refs(12)}
		}, nil, []ucv1.TimelineEntry{{
			Time: now, Kind: ucv1.TimelineAction, Step: ucv1.StepRoll, Action: "RollMachineDeployment", Actor: "ccm-migration-controller",
			Message: "Rolling.",
			Objects: []string{
				"MachineDeployment kube-system/pool-0", "MachineDeployment kube-system/pool-1", "MachineDeployment kube-system/pool-2",
				"MachineDeployment kube-system/pool-3", "MachineDeployment kube-system/pool-4", "MachineDeployment kube-system/pool-5",
				"MachineDeployment kube-system/pool-6", "MachineDeployment kube-system/pool-7", "MachineDeployment kube-system/pool-8",
				"MachineDeployment kube-system/pool-9",
			},
		}}},
		"not an action that failed":        {passes.AtStep(ucv1.StepRoll), passes.Doing(outcome.ActionRollMachineDeployment, "Rolling."), errors.New("no"), nil},
		"not a record, which is no change": {passes.AtStep(ucv1.StepRoll), passes.Doing(outcome.ActionRecord, "Recording."), nil, nil},
		"the beginning of a failure": {passes.AtStep(ucv1.StepRoll), passes.Failing("BlockedMachines", "Blocked."), nil,
			inRoll(ucv1.TimelineFailure, "ccm-migration-controller", "BlockedMachines", "Blocked.")},
		"not a failure that goes on": {stalled, passes.Failing("BlockedMachines", "Blocked."), nil, nil},
		"a failure for another reason": {
			stalled, passes.Failing("CloudLoopsContended", "They are back."), nil,
			inRoll(ucv1.TimelineFailure, "ccm-migration-controller", "CloudLoopsContended", "They are back."),
		},
		"the end of a failure": {
			stalled, passes.Waiting("WaitingForMachines", "Waiting."), nil,
			inRoll(ucv1.TimelineResume, "ccm-migration-controller", "BlockedMachines",
				"No one has to act any more: BlockedMachines is over."),
		},
		"a pause, which ends no failure": {
			func(c *ucv1.Cluster) { stalled(c); notReady(c); passes.Paused(c) }, passes.Nothing, nil,
			inRoll(ucv1.TimelineHalt, "kubectl-edit", "Paused", "spec.paused was set: the controller changes nothing."),
		},
		"the end of a pause": {
			func(c *ucv1.Cluster) { passes.AtStep(ucv1.StepRoll)(c); pausedAlready(c) },
			passes.Waiting("WaitingForMachines", "Waiting."), nil,
			inRoll(ucv1.TimelineResume, "kubectl-edit", "Paused", "spec.paused was taken back."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating, tc.before), passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, tc.decide))
			s.ActErr, s.PausedBy = tc.actErr, "kubectl-edit"
			NewWithT(t).Expect(reported(t, s).Status.Timeline).To(Equal(tc.want))
		})
	}
}

func TestTimelineIsBounded(t *testing.T) {
	steps, actions := entries(ucv1.TimelineStep, 10), entries(ucv1.TimelineAction, 70)
	for name, tc := range map[string]struct {
		before []ucv1.TimelineEntry
		want   map[ucv1.TimelineKind]int
		first  ucv1.TimelineKind
	}{
		"the oldest action goes before any step": {
			slices.Concat(steps, actions), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 11, ucv1.TimelineAction: 69}, ucv1.TimelineStep,
		},
		"of a full list of steps the oldest go": {
			entries(ucv1.TimelineStep, 80), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 79, ucv1.TimelineAction: 1}, ucv1.TimelineStep,
		},
		"failures stay as steps do": {
			slices.Concat(entries(ucv1.TimelineFailure, 10), actions), map[ucv1.TimelineKind]int{
				ucv1.TimelineFailure: 10, ucv1.TimelineStep: 1, ucv1.TimelineAction: 69,
			}, ucv1.TimelineFailure,
		},
		"one that has room keeps all": {
			entries(ucv1.TimelineAction, 78), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 1, ucv1.TimelineAction: 79},
			ucv1.TimelineAction,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepMachineController))
			c.Status.Timeline = tc.before
			s := passOf(
				c, passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Doing(outcome.ActionRollMachineDeployment, "Rolling.")),
			)
			got := reported(t, s).Status.Timeline
			g.Expect(kinds(got)).To(Equal(tc.want))
			g.Expect(got[0].Kind).To(Equal(tc.first))
			g.Expect(len(got)).To(BeNumerically("<=", 80))
		})
	}
}

func TestTimelineMessagesAreBounded(t *testing.T) {
	for name, message := range map[string]string{
		"of plain letters":       strings.Repeat("a", 3000),
		"of more than one byte":  strings.Repeat("ä", 3000),
		"of them, one step off":  "a" + strings.Repeat("ä", 3000),
		"of three bytes apiece":  strings.Repeat("€", 3000),
		"of them, two steps off": "aa" + strings.Repeat("€", 3000),
	} {
		t.Run(name, func(t *testing.T) {
			for _, decide := range []func(*migration.Decision){
				passes.Failing("InputInvalid", message), passes.Doing(outcome.ActionApplyAddons, message),
			} {
				s := passOf(
					passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepRoll)),
					passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, decide),
				)
				NewWithT(t).Expect(reported(t, s).Status.Timeline).To(HaveLen(1))
			}
		})
	}
}

func TestInTreeClustersHaveNoTimeline(t *testing.T) {
	after := reported(
		t, passOf(passes.ClusterOf(ucv1.OriginInTree), passes.Decided(ucv1.OriginInTree, ucv1.StepInTree, passes.Nothing)),
	)
	NewWithT(t).Expect(after.Status.Timeline).To(BeEmpty())
}
