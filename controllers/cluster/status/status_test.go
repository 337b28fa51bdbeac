package status

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// summary is what people and tools see of a state.
type summary struct {
	verdict        kstatus.Status
	ready          metav1.ConditionStatus
	reason         string
	working, stuck metav1.ConditionStatus
	message        string
}

func summaryOf(t *testing.T, c *ucv1.Cluster) summary {
	for _, condition := range c.Status.Conditions {
		if err := messages.Check(nil, nil, condition.Message); err != nil {
			t.Errorf("condition %s: %v", condition.Type, err)
		}
	}
	t.Helper()
	ready := passes.Condition(c, "Ready")
	return summary{
		verdict: passes.Verdict(t, c), ready: ready.Status, reason: ready.Reason, message: ready.Message,
		working: passes.Condition(c, "Reconciling").Status, stuck: passes.Condition(c, "Stalled").Status,
	}
}

// state is one line of the design's table of verdicts.
type state struct {
	origins []ucv1.Origin
	step    ucv1.Step
	change  func(*ucv1.Cluster)
	decide  func(*migration.Decision)
	actErr  error
	want    summary
}

func bothWays() []ucv1.Origin { return []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal} }

func TestEveryStateHasItsVerdict(t *testing.T) {
	all := states()
	maps.Copy(all, deletedStates())
	maps.Copy(all, rolledBackStates())
	maps.Copy(all, inTreeStates())
	for name, tc := range all {
		for _, origin := range tc.origins {
			t.Run(name+", origin "+string(origin), func(t *testing.T) {
				s := passOf(passes.ClusterOf(origin, tc.change), passes.Decided(origin, tc.step, tc.decide))
				s.ActErr = tc.actErr
				NewWithT(t).Expect(summaryOf(t, reported(t, s))).To(Equal(tc.want))
			})
		}
	}
}

func states() map[string]state {
	migrating, external := []ucv1.Origin{ucv1.OriginMigrating}, []ucv1.Origin{ucv1.OriginExternal}
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	return map[string]state{
		"in-tree with the feature off is ready": {
			[]ucv1.Origin{ucv1.OriginInTree}, ucv1.StepInTree, passes.Unchanged, passes.Nothing, nil,
			summary{kstatus.CurrentStatus, yes, "InTree", "", "", inTreeNotLooked},
		},
		"queued is in progress": {
			migrating, ucv1.StepAdmitted, passes.Unchanged, passes.Waiting("WaitingForBudget", "Place 3 in the queue."), nil,
			summary{kstatus.InProgressStatus, no, "WaitingForBudget", yes, "", "Place 3 in the queue."},
		},
		"doing something is in progress": {
			bothWays(), ucv1.StepAddons, passes.Unchanged, passes.Doing(outcome.ActionApplyAddons, "Applying the CCM addon."), nil,
			summary{kstatus.InProgressStatus, no, "Acting", yes, "", "Applying the CCM addon."},
		},
		"waiting is in progress": {
			bothWays(), ucv1.StepHandover, passes.Unchanged, passes.Waiting("ProvingSilence", "Pod a may run cloud loops."), nil,
			summary{kstatus.InProgressStatus, no, "ProvingSilence", yes, "", "Pod a may run cloud loops."},
		},
		"an unreachable user cluster is in progress, and unknown": {
			bothWays(), ucv1.StepHandover, passes.Unchanged, passes.Blind("Could not look at the fence: it hangs."), nil,
			summary{kstatus.InProgressStatus, unknown, "CouldNotLook", yes, "", "Could not look at the fence: it hangs."},
		},
		"a change that failed is in progress, and unknown": {
			bothWays(), ucv1.StepAddons, passes.Unchanged, passes.Doing(outcome.ActionApplyAddons, "Applying the CCM addon."),
			errors.New("no such host: 10.0.0.1"),
			summary{kstatus.InProgressStatus, unknown, "CouldNotAct", yes, "",
				"Could not act, trying again; the cause is in the controller's log: Applying the CCM addon."},
		},
		"a change that failed beside a halt calls a person and says so": {
			migrating, ucv1.StepRoll, passes.Unchanged, passes.Returning("SLOViolated", "Nothing more is rolled."),
			errors.New("no such host: 10.0.0.1"),
			summary{kstatus.FailedStatus, no, "SLOViolated", "", yes,
				"Could not act, trying again; the cause is in the controller's log: Giving minReadySeconds of MachineDeployment x back. " +
					"Nothing more is rolled."},
		},
		"a blocking finding has failed": {
			migrating, ucv1.StepPreflight, passes.Unchanged, passes.Failing("InputInvalid", "Secret user/cloud is missing."), nil,
			summary{kstatus.FailedStatus, no, "InputInvalid", "", yes, "Secret user/cloud is missing."},
		},
		"contended loops have failed": {
			bothWays(), ucv1.StepHandover, passes.Completed, passes.Failing("CloudLoopsContended", "KCM runs them again."), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsContended", "", yes, "KCM runs them again."},
		},
		"a completed migration is ready": {
			migrating, ucv1.StepFinished, passes.Completed, passes.Nothing, nil,
			summary{kstatus.CurrentStatus, yes, "Migrated", "", "", "The migration to the external cloud provider is completed."},
		},
		"external from the start is ready": {
			external, ucv1.StepFinished, passes.Unchanged, passes.Nothing, nil,
			summary{kstatus.CurrentStatus, yes, "External", "", "", "The cluster was created with the external cloud provider; its addons are applied."},
		},
	}
}

func deletedStates() map[string]state {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	return map[string]state{
		"deleted and waiting is terminating, and says what for": {
			bothWays(), ucv1.StepHandover, passes.Deleted,
			passes.Waiting("ProvingSilence", "The Cluster is being deleted; it goes later."), nil,
			summary{kstatus.TerminatingStatus, no, "Deleting", yes, "", "The Cluster is being deleted; it goes later."},
		},
		"deleted and blocked is terminating, and says what a person must do": {
			bothWays(), ucv1.StepHandover, passes.Deleted, passes.Failing("CloudLoopsContended", "KCM runs them again."), nil,
			summary{kstatus.TerminatingStatus, no, "CloudLoopsContended", "", yes, "KCM runs them again."},
		},
	}
}

// rolledBackStates are those of a rollback.
func TestPauseKeepsTheVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		origin ucv1.Origin
		step   ucv1.Step
		change func(*ucv1.Cluster)
		decide func(*migration.Decision)
		want   kstatus.Status
	}{
		"of an in-tree cluster":     {ucv1.OriginInTree, ucv1.StepInTree, passes.Unchanged, passes.Nothing, kstatus.CurrentStatus},
		"of work":                   {ucv1.OriginMigrating, ucv1.StepRoll, passes.Unchanged, passes.Waiting("WaitingForMachines", "Waiting."), kstatus.InProgressStatus},
		"of work on an external":    {ucv1.OriginExternal, ucv1.StepAddons, passes.Unchanged, passes.Waiting("RollingOut", "Waiting."), kstatus.InProgressStatus},
		"of a failure":              {ucv1.OriginMigrating, ucv1.StepRoll, passes.Unchanged, passes.Failing("BlockedMachines", "Blocked."), kstatus.FailedStatus},
		"of a failure, external":    {ucv1.OriginExternal, ucv1.StepAddons, passes.Unchanged, passes.Failing("CloudLoopsRunning", "Runs."), kstatus.FailedStatus},
		"of a completed migration":  {ucv1.OriginMigrating, ucv1.StepFinished, passes.Completed, passes.Nothing, kstatus.CurrentStatus},
		"of a cluster that is done": {ucv1.OriginExternal, ucv1.StepFinished, passes.Unchanged, passes.Nothing, kstatus.CurrentStatus},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := reported(t, passOf(passes.ClusterOf(tc.origin, tc.change), passes.Decided(tc.origin, tc.step, tc.decide)))
			g.Expect(passes.Verdict(t, before)).To(Equal(tc.want))

			passes.Paused(before)
			before.Generation++
			during := reported(t, passOf(before, passes.Decided(tc.origin, tc.step, passes.Nothing)))
			g.Expect(passes.Verdict(t, during)).To(Equal(tc.want))
			g.Expect(passes.Condition(during, "Paused").Status).To(Equal(metav1.ConditionTrue))
			g.Expect(passes.Condition(during, "Ready").Reason).To(Equal(passes.Condition(before, "Ready").Reason))

			again := reported(t, passOf(during, passes.Decided(tc.origin, tc.step, passes.Nothing)))
			g.Expect(again.Status).To(Equal(during.Status), "it does not wear off")

			again.Spec.Paused = false
			after := reported(t, passOf(again, passes.Decided(tc.origin, tc.step, tc.decide)))
			g.Expect(passes.Verdict(t, after)).To(Equal(tc.want))
			g.Expect(passes.Condition(after, "Paused").Status).To(Equal(metav1.ConditionFalse))
		})
	}
}

func TestAPauseSaysWhatItDoesNotStop(t *testing.T) {
	g := NewWithT(t)
	w, cluster := &statusWriter{}, &ucv1.Cluster{}
	cluster.Spec.Paused = true
	setPaused(w, cluster, "MachineDeployment kube-system/workers")
	setPaused(w, cluster, "")
	cluster.Status.Rollback = &ucv1.RollbackStatus{}
	setPaused(w, cluster, "MachineDeployment kube-system/workers")
	cluster.DeletionTimestamp = passes.At(passes.Start())
	setPaused(w, cluster, "MachineDeployment kube-system/workers")
	g.Expect(w.after[0].Message).To(Equal("spec.paused is true: the controller changes nothing. No further step is granted to " +
		"MachineDeployment kube-system/workers, but the machine-controller still replaces what maxSurge and maxUnavailable allow, " +
		"and goes on deleting the Machines that are going; its own Deployment at 0 replicas stops that, spec.paused of a " +
		"MachineDeployment does not."))
	g.Expect(w.after[1].Message).To(Equal("spec.paused is true: the controller changes nothing."))
	g.Expect(w.after[2].Message).To(HaveSuffix("goes on with what it was told to roll back: MachineDeployment " +
		"kube-system/workers; to stop one, set its spec.paused."))
	g.Expect(w.after[3].Message).To(HavePrefix("spec.paused is true: the controller changes nothing, and this Cluster, " +
		"which is being deleted, stays until that is taken back. The machine"))
	for _, said := range w.after {
		g.Expect(strings.Count(said.Message, ". ")).To(BeNumerically("<", 2), "a message has two sentences at most")
	}
}

func TestPausedBeforeTheFirstLook(t *testing.T) {
	after := reported(
		t,
		passOf(passes.ClusterOf(ucv1.OriginInTree, passes.Paused), passes.Decided(ucv1.OriginInTree, ucv1.StepInTree, passes.Nothing)),
	)
	NewWithT(t).Expect(passes.Condition(after, "Ready").Reason).To(
		Equal("InTree"), "a Cluster without the feature has nothing to pause",
	)
	for _, origin := range []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal} {
		t.Run(string(origin), func(t *testing.T) {
			after := reported(t, passOf(passes.ClusterOf(origin, passes.Paused), passes.Decided(origin, ucv1.StepAddons, passes.Nothing)))
			NewWithT(t).Expect(summaryOf(t, after)).To(Equal(summary{
				kstatus.InProgressStatus, metav1.ConditionUnknown, "Paused", "", "", "spec.paused was set before the first look.",
			}))
		})
	}
}

func TestUserClusterReachable(t *testing.T) {
	for name, tc := range map[string]struct {
		connection observation.Connection
		want       metav1.ConditionStatus
	}{
		"an answer is True":       {observation.Connection{Reachable: true, Reason: "Reachable", Message: "It answers"}, metav1.ConditionTrue},
		"no answer is Unknown":    {observation.Connection{Reason: "Unreachable", Message: "It hangs"}, metav1.ConditionUnknown},
		"a refused one is False":  {observation.Connection{Refused: true, Reason: "KubeconfigRefused", Message: "It uses exec"}, metav1.ConditionFalse},
		"too much is Unknown":     {observation.Connection{Reachable: true, Reason: "ResponseTooLarge", Message: "Too much"}, metav1.ConditionUnknown},
		"old secrets are Unknown": {observation.Connection{Reason: "Unauthorized", Message: "Renew them"}, metav1.ConditionUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := passOf(
				passes.ClusterOf(ucv1.OriginMigrating),
				passes.Decided(ucv1.OriginMigrating, ucv1.StepPreflight, passes.Blind("Could not look.")),
			)
			s.Observed.Connection = tc.connection
			got := passes.Condition(reported(t, s), "UserClusterReachable")
			g.Expect(got.Status).To(Equal(tc.want))
			g.Expect(got.Reason).To(Equal(tc.connection.Reason))
			g.Expect(got.Message).To(Equal(tc.connection.Message + "."))
		})
	}
}

func TestStepConditions(t *testing.T) {
	g := NewWithT(t)
	s := passOf(
		passes.ClusterOf(ucv1.OriginMigrating),
		passes.Decided(ucv1.OriginMigrating, ucv1.StepHandover, passes.Blind("Could not look at the fence: it hangs.")),
	)
	after := reported(t, s)
	for kind, want := range map[string]metav1.ConditionStatus{
		"Admitted": metav1.ConditionTrue, "PreflightPassed": metav1.ConditionTrue, "HandoverCompleted": metav1.ConditionUnknown,
		"VolumeMigrationReady": metav1.ConditionFalse, "InTreeConfigurationRemoved": metav1.ConditionFalse,
	} {
		g.Expect(passes.Condition(after, kind).Status).To(Equal(want), kind)
	}
	g.Expect(passes.Condition(after, "CSIKubeletMigrationCompleted")).To(And(
		HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "CSIKubeletMigrationInProgress"),
		HaveField("Message", "Migrating to the external CCM and CSI driver; the current step is Handover.")))
}

func TestCompletionIsToldOnceItIsPersisted(t *testing.T) {
	for name, tc := range map[string]struct {
		actErr error
		want   metav1.ConditionStatus
	}{
		"in the pass that records it":         {nil, metav1.ConditionTrue},
		"not in a pass that could not record": {errors.New("no"), metav1.ConditionFalse},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			decision := passes.Decided(
				ucv1.OriginMigrating, ucv1.StepComplete, passes.Doing(outcome.ActionRecord, "The migration is completed."),
			)
			decision.Facts = &ucv1.Facts{Origin: ucv1.OriginMigrating, CompletedAt: passes.At(passes.Start())}
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating), decision)
			s.ActErr = tc.actErr
			after := reported(t, s)
			g.Expect(passes.Condition(after, "CSIKubeletMigrationCompleted").Status).To(Equal(tc.want))
			g.Expect(after.Status.CompletedAt != nil).To(Equal(tc.want == metav1.ConditionTrue))
		})
	}
}

func TestFactsOfAFailedVerbAreNotPersisted(t *testing.T) {
	for name, tc := range map[string]struct {
		kind outcome.ActionKind
		want string
	}{
		"because what they rest on was not done":    {outcome.ActionTakeBaseline, ""},
		"but for the annotations, nothing rests on": {outcome.ActionRestoreAnnotations, "42"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			decision := passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Waiting("WaitingForMachines", "Waiting."))
			decision.Action = &outcome.Action{Kind: tc.kind, Why: "Trying."}
			decision.Facts = &ucv1.Facts{Origin: ucv1.OriginMigrating, RollGeneration: "42"}
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating), decision)
			s.ActErr = errors.New("denied")
			after := reported(t, s)
			g.Expect(after.Status.RollGeneration).To(Equal(tc.want))
			g.Expect(passes.Condition(after, "Ready").Reason).To(Equal("CouldNotAct"))
		})
	}
}

func TestWhatCouldNotBeLookedAtTakesNoCallBack(t *testing.T) {
	g := NewWithT(t)
	stalled := reported(
		t,
		passOf(
			passes.ClusterOf(ucv1.OriginMigrating),
			passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Failing("SLOViolated", "Look.")),
		),
	)
	after := reported(t, passOf(stalled, passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Blind("Could not look."))))
	g.Expect(passes.Condition(after, "Stalled")).To(And(HaveField("Reason", "SLOViolated"), HaveField("Message", "Look.")))
	g.Expect(passes.Condition(after, "Ready").Status).To(Equal(metav1.ConditionUnknown))
	g.Expect(meta.FindStatusCondition(after.Status.Conditions, "Reconciling")).To(BeNil(), "never both")
	again := reported(
		t, passOf(after, passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Waiting("WaitingForMachines", "Waiting."))),
	)
	g.Expect(meta.FindStatusCondition(again.Status.Conditions, "Stalled")).To(BeNil())
}

func TestTransitionTimes(t *testing.T) {
	g := NewWithT(t)
	c := passes.ClusterOf(ucv1.OriginMigrating)
	first := reported(t, passOf(c, passes.Decided(ucv1.OriginMigrating, ucv1.StepAddons, passes.Waiting("RollingOut", "One."))))

	later := passOf(first, passes.Decided(ucv1.OriginMigrating, ucv1.StepAddons, passes.Waiting("RollingOut", "Two.")))
	later.Now = passes.Start().Add(time.Minute)
	second := reported(t, later)
	g.Expect(passes.Condition(second, "Ready").Message).To(Equal("Two."))
	for _, kind := range []string{"Ready", "Reconciling", "Paused", "Admitted"} {
		g.Expect(passes.Condition(second, kind).LastTransitionTime.Time).To(Equal(passes.Start()), "%s did not change its status", kind)
	}

	failed := passOf(second, passes.Decided(ucv1.OriginMigrating, ucv1.StepAddons, passes.Failing("ForeignObjects", "Theirs.")))
	failed.Now = passes.Start().Add(2 * time.Minute)
	third := reported(t, failed)
	g.Expect(passes.Condition(third, "Ready").LastTransitionTime.Time).To(Equal(passes.Start()), "False stays False")
	g.Expect(passes.Condition(third, "Stalled").LastTransitionTime.Time).To(Equal(failed.Now), "Stalled is new")
	g.Expect(passes.Condition(third, "Reconciling").Status).To(BeEmpty())
}

func TestCountsStayWhenTheyCannotBeTaken(t *testing.T) {
	g := NewWithT(t)
	c := passes.ClusterOf(ucv1.OriginMigrating)
	s := passOf(c, passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Waiting("WaitingForMachines", "Waiting.")))
	s.Observed.Machines = observation.Known(observation.Machines{
		Deployments: []observation.MachineDeployment{
			{Ref: observation.Ref{Kind: "MachineDeployment", Name: "a", UID: "a"}, Replicas: 1},
		},
		Machines: []observation.Machine{{Ref: observation.Ref{Kind: "Machine", Name: "a-1", UID: "a-1"}}},
	})
	s.Observed.Nodes = observation.Known([]observation.Node{{Name: "a-1", Ready: true}})
	s.Observed.Addons = observation.Known(observation.Addons{
		CCM: observation.AddonSet{Version: "v1.30.14"}, CSI: observation.AddonSet{Version: "v1.30.14"}, InventoryObjects: 15,
	})
	seen := reported(t, s)
	g.Expect(seen.Status.Machines).To(HaveValue(Equal(ucv1.ProgressCount{Total: 1, Blocked: 1, Summary: "0/1"})))
	g.Expect(seen.Status.MachineDeployments).To(HaveValue(Equal(ucv1.ProgressCount{Total: 1, Summary: "0/1"})))
	g.Expect(seen.Status.Nodes).To(HaveValue(Equal(ucv1.NodeCount{Total: 1})))
	g.Expect(seen.Status.Addons).To(
		HaveValue(Equal(ucv1.AddonsStatus{CloudControllerManagerVersion: "v1.30.14", CSIVersion: "v1.30.14", Objects: 15})),
	)

	blind := passOf(seen, passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Blind("Could not look.")))
	blind.Observed.Addons = observation.Unknown[observation.Addons]("no answer")
	unseen := reported(t, blind)
	g.Expect(unseen.Status.Machines).To(Equal(seen.Status.Machines))
	g.Expect(unseen.Status.Addons).To(Equal(seen.Status.Addons))
}

func TestADeletedClusterThatCouldNotActSaysWhatItWaitsFor(t *testing.T) {
	s := &Pass{ActErr: errors.New("no such host: 10.0.0.1")}
	s.Decision.Step = ucv1.StepHandover
	passes.Leaving(outcome.ActionOpenFence, "Opening the fence.")(&s.Decision)
	NewWithT(t).Expect(progressMessage(s).Words).To(Equal("The Cluster is being deleted; it goes later. Could not act, trying " +
		"again; the cause is in the controller's log: Opening the fence."))
}
