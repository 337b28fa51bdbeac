package conformance

import (
	"fmt"
	"slices"
	"unicode/utf8"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// maxMessage is what a person reads; the API allows much more.
const maxMessage = 1024

// Verdict is what kstatus, and so Flux, says of the Cluster.
func Verdict(cluster *ucv1.Cluster) (kstatus.Status, error) {
	object, err := asTools(cluster)
	if err != nil {
		return kstatus.UnknownStatus, err
	}
	result, err := kstatus.Compute(object)
	if err != nil {
		return kstatus.UnknownStatus, fmt.Errorf("compute the verdict of Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	return result.Status, nil
}

// asTools have the Cluster that know nothing of its kind.
func asTools(cluster *ucv1.Cluster) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	if err != nil {
		return nil, fmt.Errorf("convert Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(ucv1.GroupVersion().WithKind("Cluster"))
	return object, nil
}

// Objections are all points in which the status breaks a promise; none is what a test wants. The Cluster has to be as
// the API server has it after a pass that wrote a status.
func (c *Checker) Objections(cluster *ucv1.Cluster) []string {
	o := &objections{}
	c.checkDeclared(o, cluster)
	checkSet(o, cluster)
	checkSummary(o, cluster)
	checkVerdict(o, cluster)
	c.checkArgo(o, cluster)
	checkPromises(o, cluster)
	checkBounds(o, cluster.Status)
	return *o
}

type objections []string

func (o *objections) add(format string, args ...any) { *o = append(*o, fmt.Sprintf(format, args...)) }

func (o *objections) unless(fine bool, format string, args ...any) {
	if !fine {
		o.add(format, args...)
	}
}

// checkDeclared looks at each condition by itself.
func (c *Checker) checkDeclared(o *objections, cluster *ucv1.Cluster) {
	seen := map[string]bool{}
	for _, condition := range cluster.Status.Conditions {
		kind := condition.Type
		o.unless(!seen[kind], "condition %s is there twice", kind)
		seen[kind] = true
		o.unless(c.conditions[kind], "condition %s is not declared", kind)
		o.unless(c.reasons[condition.Reason], "condition %s has reason %q, which is not declared", kind, condition.Reason)
		o.unless(condition.Message != "", "condition %s has no message", kind)
		o.unless(len(condition.Message) <= maxMessage, "condition %s has a message of %d bytes", kind, len(condition.Message))
		o.unless(utf8.ValidString(condition.Message), "condition %s has a message that is cut within a character", kind)
		o.unless(!condition.LastTransitionTime.IsZero(), "condition %s has no lastTransitionTime", kind)
		o.unless(condition.ObservedGeneration == cluster.Status.ObservedGeneration,
			"condition %s is of generation %d, the status of %d", kind, condition.ObservedGeneration, cluster.Status.ObservedGeneration)
	}
}

// always are the conditions that every status has.
func always() []string { return []string{ucv1.ReadyCondition, ucv1.PausedCondition} }

// external are the conditions of a cluster that was created with the feature.
func external() []string {
	return append(always(), ucv1.CloudLoopsAttendedCondition, ucv1.UserClusterReachableCondition, ucv1.CSIReadyCondition,
		ucv1.CloudControllerManagerReadyCondition, ucv1.HandoverCompletedCondition)
}

// migrating are the conditions of a cluster that moves, or moved.
func migrating() []string {
	return append(external(), ucv1.AdmittedCondition, ucv1.PreflightPassedCondition, ucv1.VolumeMigrationReadyCondition,
		ucv1.MachineControllerConfiguredCondition, ucv1.MachineDeploymentsRolledOutCondition, ucv1.NodesInitializedCondition,
		ucv1.CSIKubeletMigrationCompletedCondition, ucv1.InTreeConfigurationRemovedCondition)
}

// waitsForItsTurn: of its user cluster nothing is looked at but by a look ahead.
func waitsForItsTurn(cluster *ucv1.Cluster) bool {
	admitted := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.AdmittedCondition)
	reachable := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.UserClusterReachableCondition)
	return admitted != nil && admitted.Status != metav1.ConditionTrue && cluster.Status.StartedAt == nil && reachable == nil
}

// isQueued: it is ready as long as its turn is known not to have come, and Ready says no more than that.
func isQueued(cluster *ucv1.Cluster) bool {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	return waitsForItsTurn(cluster) && ready != nil && (ready.Status != metav1.ConditionTrue ||
		ready.Reason == ucv1.QueuedReason && meta.IsStatusConditionFalse(cluster.Status.Conditions, ucv1.AdmittedCondition))
}

// queued are the conditions of a cluster that waits for its turn. A look ahead says what ReadyToMigrate is, and
// CloudLoopsAttended where it saw no leader.
func queued() [][]string {
	unreached := slices.DeleteFunc(migrating(), func(kind string) bool {
		return kind == ucv1.UserClusterReachableCondition || kind == ucv1.CloudLoopsAttendedCondition
	})
	attended := append(slices.Clone(unreached), ucv1.CloudLoopsAttendedCondition)
	return [][]string{
		unreached, attended, append(slices.Clone(unreached), ucv1.ReadyToMigrateCondition),
		append(slices.Clone(attended), ucv1.ReadyToMigrateCondition),
	}
}

// checkSet wants exactly the conditions that apply to the origin. An origin that could not be told yet may show either
// set. The step says which feature the status is about: the spec may be newer.
func checkSet(o *objections, cluster *ucv1.Cluster) {
	var got []string
	for _, condition := range cluster.Status.Conditions {
		if condition.Type != ucv1.ReconcilingCondition && condition.Type != ucv1.StalledCondition {
			got = append(got, condition.Type)
		}
	}
	var allowed [][]string
	switch {
	case cluster.Status.Step == ucv1.StepInTree:
		// ReadyToMigrate is there unless spec.preflight.lookAhead is Never, or the Cluster is being deleted.
		allowed = [][]string{always(), append(always(), ucv1.ReadyToMigrateCondition)}
	case cluster.Status.Origin == ucv1.OriginExternal:
		allowed = [][]string{external()}
	case waitsForItsTurn(cluster):
		allowed = queued()
	case cluster.Status.Origin == ucv1.OriginMigrating:
		allowed = [][]string{migrating()}
	default:
		allowed = [][]string{external(), migrating()}
	}
	slices.Sort(got)
	for _, want := range allowed {
		if slices.Equal(got, slices.Sorted(slices.Values(want))) {
			return
		}
	}
	o.add("the conditions of a cluster of origin %q are %v, want %v", cluster.Status.Origin, got, allowed)
}

// checkSummary holds the three conditions that tools read against each other.
func checkSummary(o *objections, cluster *ucv1.Cluster) {
	conditions := cluster.Status.Conditions
	ready := meta.FindStatusCondition(conditions, ucv1.ReadyCondition)
	reconciling := meta.FindStatusCondition(conditions, ucv1.ReconcilingCondition)
	stalled := meta.FindStatusCondition(conditions, ucv1.StalledCondition)
	paused := meta.IsStatusConditionTrue(conditions, ucv1.PausedCondition)
	if ready == nil {
		o.add("there is no condition Ready")
		return
	}
	for _, present := range []*metav1.Condition{reconciling, stalled} {
		o.unless(present == nil || present.Status == metav1.ConditionTrue, "%s or %s is there and not True",
			ucv1.ReconcilingCondition, ucv1.StalledCondition)
	}
	o.unless(reconciling == nil || stalled == nil, "Reconciling and Stalled are both there")
	o.unless(stalled == nil || ready.Status != metav1.ConditionTrue, "Stalled and Ready are both True")
	o.unless(reconciling == nil || ready.Status != metav1.ConditionTrue, "Reconciling and Ready are both True")
	o.unless(paused == cluster.Spec.Paused || cluster.Status.ObservedGeneration != cluster.Generation,
		"spec.paused is %t and condition Paused says %t", cluster.Spec.Paused, paused)
	if paused {
		o.unless(reconciling == nil, "Reconciling is there although the cluster is paused")
		return
	}
	o.unless(ready.Status == metav1.ConditionTrue || reconciling != nil || stalled != nil,
		"Ready is %s, and neither Reconciling nor Stalled says why", ready.Status)
}

// checkVerdict holds kstatus against the table: what it says follows from what the conditions mean.
func checkVerdict(o *objections, cluster *ucv1.Cluster) {
	got, err := Verdict(cluster)
	if err != nil {
		o.add("%s", err)
		return
	}
	conditions, want := cluster.Status.Conditions, kstatus.InProgressStatus
	switch {
	case !cluster.DeletionTimestamp.IsZero():
		want = kstatus.TerminatingStatus
	case cluster.Status.ObservedGeneration != cluster.Generation:
	case meta.IsStatusConditionTrue(conditions, ucv1.StalledCondition):
		want = kstatus.FailedStatus
	case meta.IsStatusConditionTrue(conditions, ucv1.ReadyCondition):
		want = kstatus.CurrentStatus
	}
	o.unless(got == want, "kstatus says %s, want %s", got, want)
	o.unless(cluster.Status.ObservedGeneration > 0 && cluster.Status.ObservedGeneration <= cluster.Generation,
		"observedGeneration is %d at generation %d", cluster.Status.ObservedGeneration, cluster.Generation)
}

// checkPromises holds the step and the promises of the manual against the facts.
func checkPromises(o *objections, cluster *ucv1.Cluster) {
	status := cluster.Status
	inTree := status.Step == ucv1.StepInTree
	o.unless(inTree == !cluster.ExternalCloudProvider() || status.ObservedGeneration != cluster.Generation,
		"the step is %s and the feature is %t", status.Step, cluster.ExternalCloudProvider())
	ready := meta.IsStatusConditionTrue(status.Conditions, ucv1.ReadyCondition)
	refused := meta.IsStatusConditionTrue(status.Conditions, ucv1.StalledCondition)
	idle := (inTree || status.Step == ucv1.StepFinished) && !notSeen(status) && !refused && !unattended(status)
	rolledBack := status.Step == ucv1.StepRolledBack // It is ready as long as KCM is seen to run the cloud loops.
	queued := isQueued(cluster)
	o.unless(
		ready == idle || rolledBack || queued || cluster.Spec.Paused || !cluster.DeletionTimestamp.IsZero(),
		"Ready is %t at step %s",
		ready,
		status.Step,
	)
	o.unless(!ready || !unattended(status), "Ready is True although it says that no manager runs the cloud loops")
	checkWordsOfHonor(o, status)
}

// checkWordsOfHonor: what a condition says rests on what was recorded.
func checkWordsOfHonor(o *objections, status ucv1.ClusterStatus) {
	if completed := meta.FindStatusCondition(status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition); completed != nil {
		want := ucv1.CSIKubeletMigrationInProgressReason
		if completed.Status == metav1.ConditionTrue {
			want = ucv1.CSIKubeletMigrationSuccessReason
		}
		o.unless(completed.Reason == want, "%s is %s with reason %s", completed.Type, completed.Status, completed.Reason)
		o.unless((completed.Status == metav1.ConditionTrue) == (status.CompletedAt != nil),
			"%s is %s and completedAt is %v", completed.Type, completed.Status, status.CompletedAt)
	}
	if reachable := meta.FindStatusCondition(status.Conditions, ucv1.UserClusterReachableCondition); reachable != nil {
		o.unless((reachable.Status == metav1.ConditionTrue) == (reachable.Reason == ucv1.ReachableReason),
			"%s is %s with reason %s", reachable.Type, reachable.Status, reachable.Reason)
	}
}

// unattended says that Ready tells of cloud loops that no manager runs.
func unattended(status ucv1.ClusterStatus) bool {
	ready := meta.FindStatusCondition(status.Conditions, ucv1.ReadyCondition)
	return ready != nil && ready.Reason == ucv1.CloudLoopsUnattendedReason
}

// notSeen says that Ready tells of something that could not be looked at.
func notSeen(status ucv1.ClusterStatus) bool {
	ready := meta.FindStatusCondition(status.Conditions, ucv1.ReadyCondition)
	return ready != nil && ready.Reason == ucv1.CouldNotLookReason
}

// checkBounds repeats the bounds of the API: a status that breaks one is refused, and the cluster stands still.
func checkBounds(o *objections, status ucv1.ClusterStatus) {
	o.unless(len(status.Conditions) <= 32, "there are %d conditions", len(status.Conditions))
	o.unless(len(status.Timeline) <= 80, "the timeline has %d entries", len(status.Timeline))
	for _, entry := range status.Timeline {
		o.unless(len(entry.Objects) <= 10, "an entry of the timeline names %d objects", len(entry.Objects))
		o.unless(
			utf8.RuneCountInString(entry.Message) <= 512,
			"an entry of the timeline has a message of %d characters",
			len(entry.Message),
		)
		o.unless(utf8.ValidString(entry.Message), "an entry of the timeline has a message that is cut within a character")
		o.unless(!entry.Time.IsZero() && entry.Actor != "", "an entry of the timeline lacks its time or its actor")
	}
	o.unless(len(status.Acceptances) <= 100, "there are %d acceptances", len(status.Acceptances))
	o.unless(
		len(status.RolledMachineDeployments) <= 200,
		"there are %d rolled MachineDeployments",
		len(status.RolledMachineDeployments),
	)
	if status.Handover != nil {
		o.unless(len(status.Handover.Processes) <= 20, "there are %d recorded processes", len(status.Handover.Processes))
	}
	if status.Inherited != nil {
		o.unless(len(status.Inherited.Loops) <= 8, "there are %d inherited loops", len(status.Inherited.Loops))
	}
}
