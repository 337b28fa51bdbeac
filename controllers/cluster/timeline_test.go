package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func refs(count int) []observation.Ref {
	var refs []observation.Ref
	for i := range count {
		refs = append(refs, observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: fmt.Sprintf("pool-%d", i)})
	}
	return refs
}

func entry(kind ucv1.TimelineKind, minute int) ucv1.TimelineEntry {
	return ucv1.TimelineEntry{
		Time:  metav1.NewTime(start().Add(time.Duration(minute) * time.Minute)),
		Kind:  kind,
		Step:  ucv1.StepRoll,
		Actor: ucv1.FieldManager,
	}
}

func entries(kind ucv1.TimelineKind, count int) []ucv1.TimelineEntry {
	var list []ucv1.TimelineEntry
	for i := range count {
		list = append(list, entry(kind, i))
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

func atStep(step ucv1.Step) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Status.Step = step }
}

func stalledAlready(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Stalled", Status: metav1.ConditionTrue, Reason: "BlockedMachines", Message: "Blocked.", LastTransitionTime: *at(start()),
	})
}

func notReady(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "BlockedMachines", Message: "Blocked.", LastTransitionTime: *at(start()),
	})
}

func pausedAlready(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Paused", Status: metav1.ConditionTrue, Reason: "Paused", Message: "Paused.", LastTransitionTime: *at(start()),
	})
}

func TestTimelineGrowsByWhatThePassChanged(t *testing.T) {
	now := metav1.NewTime(start())
	step := ucv1.TimelineEntry{Time: now, Kind: ucv1.TimelineStep, Step: ucv1.StepRoll, Actor: "ccm-migration-controller"}
	for name, tc := range map[string]struct {
		before func(*ucv1.Cluster)
		decide func(*migration.Decision)
		actErr error
		want   []ucv1.TimelineEntry
	}{
		"a new step": {atStep(ucv1.StepMachineController), waiting("WaitingForMachines", "Waiting."), nil, []ucv1.TimelineEntry{step}},
		"nothing":    {atStep(ucv1.StepRoll), waiting("WaitingForMachines", "Waiting."), nil, nil},
		"an action, with ten of its objects": {atStep(ucv1.StepRoll), func(d *migration.Decision) {
			d.Action = &outcome.Action{Kind: outcome.ActionRollMachineDeployment, Why: "Rolling.", Objects: refs(12)}
		}, nil, []ucv1.TimelineEntry{{
			Time: now, Kind: ucv1.TimelineAction, Step: ucv1.StepRoll, Action: "RollMachineDeployment", Actor: "ccm-migration-controller", Message: "Rolling.",
			Objects: []string{
				"MachineDeployment kube-system/pool-0", "MachineDeployment kube-system/pool-1", "MachineDeployment kube-system/pool-2",
				"MachineDeployment kube-system/pool-3", "MachineDeployment kube-system/pool-4", "MachineDeployment kube-system/pool-5",
				"MachineDeployment kube-system/pool-6", "MachineDeployment kube-system/pool-7", "MachineDeployment kube-system/pool-8",
				"MachineDeployment kube-system/pool-9",
			},
		}}},
		"not an action that failed":        {atStep(ucv1.StepRoll), doing(outcome.ActionRollMachineDeployment, "Rolling."), errors.New("no"), nil},
		"not a record, which is no change": {atStep(ucv1.StepRoll), doing(outcome.ActionRecord, "Recording."), nil, nil},
		"the beginning of a failure": {atStep(ucv1.StepRoll), failing("BlockedMachines", "Blocked."), nil, []ucv1.TimelineEntry{{
			Time: now, Kind: ucv1.TimelineFailure, Step: ucv1.StepRoll, Actor: "ccm-migration-controller", Reason: "BlockedMachines", Message: "Blocked.",
		}}},
		"not a failure that goes on": {func(c *ucv1.Cluster) { atStep(ucv1.StepRoll)(c); stalledAlready(c) }, failing("BlockedMachines", "Blocked."), nil, nil},
		"a failure for another reason": {
			func(c *ucv1.Cluster) { atStep(ucv1.StepRoll)(c); stalledAlready(c) }, failing("CloudLoopsContended", "They are back."), nil,
			[]ucv1.TimelineEntry{{
				Time: now, Kind: ucv1.TimelineFailure, Step: ucv1.StepRoll, Actor: "ccm-migration-controller", Reason: "CloudLoopsContended", Message: "They are back.",
			}},
		},
		"the end of a failure": {
			func(c *ucv1.Cluster) { atStep(ucv1.StepRoll)(c); stalledAlready(c) }, waiting("WaitingForMachines", "Waiting."), nil,
			[]ucv1.TimelineEntry{{
				Time: now, Kind: ucv1.TimelineResume, Step: ucv1.StepRoll, Actor: "ccm-migration-controller", Reason: "BlockedMachines",
				Message: "No one has to act any more: BlockedMachines is over.",
			}},
		},
		"a pause, which ends no failure": {
			func(c *ucv1.Cluster) { atStep(ucv1.StepRoll)(c); stalledAlready(c); notReady(c); paused(c) }, nothing, nil,
			[]ucv1.TimelineEntry{{
				Time: now, Kind: ucv1.TimelineHalt, Step: ucv1.StepRoll, Actor: "kubectl-edit", Reason: "Paused", Message: "spec.paused was set: the controller changes nothing.",
			}},
		},
		"the end of a pause": {
			func(c *ucv1.Cluster) { atStep(ucv1.StepRoll)(c); pausedAlready(c) }, waiting("WaitingForMachines", "Waiting."), nil,
			[]ucv1.TimelineEntry{{
				Time: now, Kind: ucv1.TimelineResume, Step: ucv1.StepRoll, Actor: "kubectl-edit", Reason: "Paused", Message: "spec.paused was taken back.",
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := passOf(clusterOf(ucv1.OriginMigrating, tc.before), decided(ucv1.OriginMigrating, ucv1.StepRoll, tc.decide))
			s.actErr, s.pausedBy = tc.actErr, "kubectl-edit"
			NewWithT(t).Expect(reported(t, s).Status.Timeline).To(Equal(tc.want))
		})
	}
}

func TestTimelineIsBounded(t *testing.T) {
	steps, actions := entries(ucv1.TimelineStep, 10), entries(ucv1.TimelineAction, 40)
	for name, tc := range map[string]struct {
		before []ucv1.TimelineEntry
		want   map[ucv1.TimelineKind]int
		first  ucv1.TimelineKind
	}{
		"the oldest action goes before any step": {
			slices.Concat(steps, actions), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 11, ucv1.TimelineAction: 39}, ucv1.TimelineStep,
		},
		"of a full list of steps the oldest go": {
			entries(ucv1.TimelineStep, 50), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 49, ucv1.TimelineAction: 1}, ucv1.TimelineStep,
		},
		"failures stay as steps do": {
			slices.Concat(entries(ucv1.TimelineFailure, 10), actions), map[ucv1.TimelineKind]int{
				ucv1.TimelineFailure: 10, ucv1.TimelineStep: 1, ucv1.TimelineAction: 39,
			}, ucv1.TimelineFailure,
		},
		"one that has room keeps all": {
			entries(ucv1.TimelineAction, 48), map[ucv1.TimelineKind]int{ucv1.TimelineStep: 1, ucv1.TimelineAction: 49}, ucv1.TimelineAction,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := clusterOf(ucv1.OriginMigrating, atStep(ucv1.StepMachineController))
			c.Status.Timeline = tc.before
			s := passOf(c, decided(ucv1.OriginMigrating, ucv1.StepRoll, doing(outcome.ActionRollMachineDeployment, "Rolling.")))
			got := reported(t, s).Status.Timeline
			g.Expect(kinds(got)).To(Equal(tc.want))
			g.Expect(got[0].Kind).To(Equal(tc.first))
			g.Expect(len(got)).To(BeNumerically("<=", 50))
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
			for _, decide := range []func(*migration.Decision){failing("InputInvalid", message), doing(outcome.ActionApplyAddons, message)} {
				s := passOf(clusterOf(ucv1.OriginMigrating, atStep(ucv1.StepRoll)), decided(ucv1.OriginMigrating, ucv1.StepRoll, decide))
				NewWithT(t).Expect(reported(t, s).Status.Timeline).To(HaveLen(1))
			}
		})
	}
}

func TestInTreeClustersHaveNoTimeline(t *testing.T) {
	after := reported(t, passOf(clusterOf(ucv1.OriginInTree), decided(ucv1.OriginInTree, ucv1.StepInTree, nothing)))
	NewWithT(t).Expect(after.Status.Timeline).To(BeEmpty())
}

// refusing answers every status with an error, or keeps it.
type refusing struct {
	client.SubResourceWriter

	err     error
	written []ucv1.TimelineEntry
}

// statusOnly is a client that only writes statuses.
type statusOnly struct {
	client.Client

	status *refusing
}

func (c statusOnly) Status() client.SubResourceWriter { return c.status }

func (r *refusing) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	if r.err != nil {
		return r.err
	}
	content, err := json.Marshal(object)
	cluster := &ucv1.Cluster{}
	err = errors.Join(err, json.Unmarshal(content, cluster))
	r.written = cluster.Status.Timeline
	return err
}

func TestAVerbWhoseStatusWasRefusedIsToldLater(t *testing.T) {
	g, o := NewWithT(t), newTold(t)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "clusters"}, "alpha", errors.New("the cache is behind"))
	status := &refusing{err: conflict}
	o.reconciler.Client = statusOnly{status: status}
	pass := func(change func(*migration.Decision)) *scope {
		return passOf(
			clusterOf(ucv1.OriginMigrating, atStep(ucv1.StepHandover)),
			decided(ucv1.OriginMigrating, ucv1.StepVerify, change),
		)
	}
	g.Expect(o.reconciler.report(t.Context(), pass(doing(outcome.ActionOpenFence, "Opening.")))).To(MatchError(conflict))
	told := func() (count int) {
		for _, entry := range status.written {
			if entry.Action == string(outcome.ActionOpenFence) {
				count++
			}
		}
		return count
	}
	for _, err := range []error{conflict, nil} {
		status.err = err
		g.Expect(client.IgnoreNotFound(o.reconciler.report(t.Context(), pass(nothing)))).To(Or(Succeed(), MatchError(conflict)))
	}
	g.Expect(told()).To(Equal(1), "after two refusals")
	g.Expect(o.reconciler.report(t.Context(), pass(nothing))).To(Succeed())
	g.Expect(told()).To(BeZero(), "it is told once")
}
