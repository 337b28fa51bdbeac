package conformance_test

import (
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
)

// inTree is a Cluster that keeps every promise.
func inTree() *ucv1.Cluster {
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "alpha", Generation: 2}}
	c.Status = ucv1.ClusterStatus{ObservedGeneration: 2, Step: ucv1.StepInTree, Facts: ucv1.Facts{Origin: ucv1.OriginInTree}}
	set(c, "Ready", metav1.ConditionTrue, "InTree")
	set(c, "Paused", metav1.ConditionFalse, "NotPaused")
	return c
}

// inQueue is a Cluster that waits for its turn.
func inQueue() *ucv1.Cluster {
	c := inTree()
	c.Spec.Features.ExternalCloudProvider = new(true)
	c.Status.Origin, c.Status.Step = ucv1.OriginMigrating, ucv1.StepAdmitted
	for _, kind := range []string{
		"CSIReady", "CloudControllerManagerReady", "HandoverCompleted", "PreflightPassed", "VolumeMigrationReady",
		"MachineControllerConfigured", "MachineDeploymentsRolledOut", "NodesInitialized", "InTreeConfigurationRemoved",
	} {
		set(c, kind, metav1.ConditionFalse, "WaitingForEarlierStep")
	}
	set(c, "Ready", metav1.ConditionTrue, "Queued")
	set(c, "Paused", metav1.ConditionFalse, "NotPaused")
	set(c, "Admitted", metav1.ConditionFalse, "Queued")
	set(c, "CSIKubeletMigrationCompleted", metav1.ConditionFalse, "CSIKubeletMigrationInProgress")
	return c
}

// working is a Cluster of origin External that waits for its addons.
func working() *ucv1.Cluster {
	c := inTree()
	on := true
	c.Spec.Features.ExternalCloudProvider = &on
	c.Status.Origin, c.Status.Step = ucv1.OriginExternal, ucv1.StepAddons
	set(c, "Ready", metav1.ConditionFalse, "RollingOut")
	set(c, "Reconciling", metav1.ConditionTrue, "RollingOut")
	set(c, "UserClusterReachable", metav1.ConditionTrue, "Reachable")
	set(c, "CloudLoopsAttended", metav1.ConditionTrue, "Attended")
	set(c, "CSIReady", metav1.ConditionFalse, "RollingOut")
	set(c, "CloudControllerManagerReady", metav1.ConditionFalse, "RollingOut")
	set(c, "HandoverCompleted", metav1.ConditionFalse, "WaitingForEarlierStep")
	return c
}

func set(c *ucv1.Cluster, kind string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: "Something.",
		ObservedGeneration: c.Generation, LastTransitionTime: metav1.Unix(1700000000, 0),
	})
}

func ready(c *ucv1.Cluster) *metav1.Condition {
	return meta.FindStatusCondition(c.Status.Conditions, "Ready")
}

func TestVerdictFollowsTheConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster *ucv1.Cluster
		change  func(*ucv1.Cluster)
		want    kstatus.Status
	}{
		"ready is current":                         {inTree(), func(*ucv1.Cluster) {}, kstatus.CurrentStatus},
		"queued is current":                        {inQueue(), func(*ucv1.Cluster) {}, kstatus.CurrentStatus},
		"reconciling is in progress":               {working(), func(*ucv1.Cluster) {}, kstatus.InProgressStatus},
		"a spec that was not looked at is waiting": {inTree(), func(c *ucv1.Cluster) { c.Generation = 3 }, kstatus.InProgressStatus},
		"stalled has failed": {working(), func(c *ucv1.Cluster) {
			meta.RemoveStatusCondition(&c.Status.Conditions, "Reconciling")
			set(c, "Stalled", metav1.ConditionTrue, "InputInvalid")
		}, kstatus.FailedStatus},
		"deleted is terminating": {inTree(), func(c *ucv1.Cluster) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, kstatus.TerminatingStatus},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tc.change(tc.cluster)
			verdict, err := conformance.Verdict(tc.cluster)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(verdict).To(Equal(tc.want))
			checker, err := conformance.New()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(checker.Objections(tc.cluster)).To(BeEmpty())
		})
	}
}

// Each promise has to be able to break.
func TestCheckerObjects(t *testing.T) {
	checker, err := conformance.New()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		cluster *ucv1.Cluster
		change  func(*ucv1.Cluster)
		want    string
	}{
		"a condition that is not declared": {inTree(), func(c *ucv1.Cluster) { set(c, "Odd", metav1.ConditionTrue, "InTree") }, "condition Odd is not declared"},
		"a reason that is not declared":    {inTree(), func(c *ucv1.Cluster) { set(c, "Ready", metav1.ConditionTrue, "Odd") }, `reason "Odd"`},
		"an empty message":                 {inTree(), func(c *ucv1.Cluster) { ready(c).Message = "" }, "no message"},
		"a message without end": {inTree(), func(c *ucv1.Cluster) {
			ready(c).Message = strings.Repeat("a", 1025)
		}, "message of 1025 bytes"},
		"a message cut within a character": {inTree(), func(c *ucv1.Cluster) {
			ready(c).Message = "a\xc3"
		}, "cut within a character"},
		"a condition of another generation": {inTree(), func(c *ucv1.Cluster) { ready(c).ObservedGeneration = 1 }, "is of generation 1"},
		"a condition that is missing":       {working(), func(c *ucv1.Cluster) { meta.RemoveStatusCondition(&c.Status.Conditions, "CSIReady") }, "the conditions of"},
		"a condition of another origin":     {working(), func(c *ucv1.Cluster) { set(c, "Admitted", metav1.ConditionTrue, "Holds") }, "the conditions of"},
		"both summaries at once":            {working(), func(c *ucv1.Cluster) { set(c, "Stalled", metav1.ConditionTrue, "InputInvalid") }, "both there"},
		"a summary that is False":           {inTree(), func(c *ucv1.Cluster) { set(c, "Stalled", metav1.ConditionFalse, "InTree") }, "not True"},
		"work that nothing shows": {working(), func(c *ucv1.Cluster) {
			meta.RemoveStatusCondition(&c.Status.Conditions, "Reconciling")
		}, "neither Reconciling nor Stalled"},
		"reconciling while paused": {working(), func(c *ucv1.Cluster) {
			c.Spec.Paused = true
			set(c, "Paused", metav1.ConditionTrue, "Paused")
		}, "although the cluster is paused"},
		"ready while a step is current": {working(), func(c *ucv1.Cluster) {
			meta.RemoveStatusCondition(&c.Status.Conditions, "Reconciling")
			set(c, "Ready", metav1.ConditionTrue, "External")
		}, "Ready is true at step Addons"},
		"ready in a queue of which no one knows": {inQueue(), func(c *ucv1.Cluster) {
			set(c, "Admitted", metav1.ConditionUnknown, "CouldNotLook")
		}, "Ready is true at step Admitted"},
		"more than queued in a queue": {inQueue(), func(c *ucv1.Cluster) {
			set(c, "Ready", metav1.ConditionTrue, "Migrated")
		}, "Ready is true at step Admitted"},
		"no observedGeneration": {inTree(), func(c *ucv1.Cluster) { c.Status.ObservedGeneration = 0 }, "observedGeneration is 0"},
		"a timeline without end": {inTree(), func(c *ucv1.Cluster) {
			c.Status.Timeline = make([]ucv1.TimelineEntry, 81)
		}, "timeline has 81 entries"},
		"more processes than the API takes": {inTree(), func(c *ucv1.Cluster) {
			c.Status.Handover = &ucv1.HandoverStatus{Processes: make([]ucv1.ManagerProcess, 21)}
		}, "21 recorded processes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(checker.Objections(tc.cluster)).To(BeEmpty(), "before")
			tc.change(tc.cluster)
			g.Expect(checker.Objections(tc.cluster)).To(ContainElement(ContainSubstring(tc.want)))
		})
	}
}
