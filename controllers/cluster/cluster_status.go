package cluster

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// maxMessage bounds a condition's message; the API allows 32768 characters, a person reads fewer.
const maxMessage = 1024

// conditionsOf maps a step to its condition. Step Addons has two; they are set from what was observed.
func conditionsOf() map[ucv1.Step]string {
	return map[ucv1.Step]string{
		ucv1.StepAdmitted:          ucv1.AdmittedCondition,
		ucv1.StepPreflight:         ucv1.PreflightPassedCondition,
		ucv1.StepHandover:          ucv1.HandoverCompletedCondition,
		ucv1.StepVolumeMigration:   ucv1.VolumeMigrationReadyCondition,
		ucv1.StepMachineController: ucv1.MachineControllerConfiguredCondition,
		ucv1.StepRoll:              ucv1.MachineDeploymentsRolledOutCondition,
		ucv1.StepVerify:            ucv1.NodesInitializedCondition,
		ucv1.StepComplete:          ucv1.CSIKubeletMigrationCompletedCondition,
		ucv1.StepFinalize:          ucv1.InTreeConfigurationRemovedCondition,
	}
}

// statusWriter collects the conditions of one pass. Those that are not set in a pass are gone after it.
type statusWriter struct {
	before []metav1.Condition
	after  []metav1.Condition
	now    time.Time
	gen    int64
}

func (w *statusWriter) set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	condition := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: wording.Bounded(message, maxMessage),
		ObservedGeneration: w.gen, LastTransitionTime: metav1.NewTime(w.now),
	}
	if old := meta.FindStatusCondition(w.before, conditionType); old != nil && old.Status == status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	w.after = append(w.after, condition)
}

func (w *statusWriter) keep(conditionType string) bool {
	old := meta.FindStatusCondition(w.before, conditionType)
	if old == nil {
		return false
	}
	w.set(conditionType, old.Status, old.Reason, old.Message)
	return true
}

// computeStatus is the whole intent of a pass: every condition that applies to the cluster's origin, every time.
func computeStatus(s *scope) ucv1.ClusterStatus {
	status := *s.cluster.Status.DeepCopy()
	if s.decision.Facts != nil && s.factsHold() {
		status.Facts = *s.decision.Facts.DeepCopy()
	}
	if s.decision.Facts != nil {
		status.UnattendedSince = s.decision.Facts.UnattendedSince // It is so whether a verb failed or not.
	}
	setProof(&status, s.decision.Proof)
	setPointOfNoReturn(&status, s.decision.PointOfNoReturn)
	setPreflight(&status, s)
	setPlan(&status, s)
	status.ObservedGeneration = s.cluster.Generation
	status.Step = s.decision.Step
	if s.decision.Wait == nil || !s.decision.Wait.Unknown {
		status.Instructions = s.decision.Instructions
	}
	if s.cluster.ExternalCloudProvider() {
		setCounts(&status, s)
		setInventory(&status, s)
	}
	w := &statusWriter{before: s.cluster.Status.Conditions, now: s.now, gen: s.cluster.Generation}
	setReady(w, s, status.Facts)
	setPaused(w, s.cluster, s.decision.RollsOn)
	setReadiness(w, s.decision.Readiness)
	if s.cluster.ExternalCloudProvider() {
		setAttended(w, s.decision.Attendance)
		setReachable(w, s.observed.Connection)
		setSteps(w, s)
	}
	status.Conditions = w.after
	status.Acceptances = s.acceptances
	neutral(&status)
	status.Timeline = extendTimeline(s, status)
	return status
}

// setProof shows the items as they were last seen.
func setProof(status *ucv1.ClusterStatus, proof []ucv1.ProofItem) {
	if status.Handover == nil || len(proof) == 0 {
		return
	}
	status.Handover.Proof = slices.Clone(proof)
	for i := range status.Handover.Proof {
		status.Handover.Proof[i].Message = wording.Bounded(status.Handover.Proof[i].Message, maxMessage)
	}
}

// setPointOfNoReturn shows it as it was last seen.
func setPointOfNoReturn(status *ucv1.ClusterStatus, seen *ucv1.PointOfNoReturnStatus) {
	if status.Handover == nil || seen == nil {
		return
	}
	seen.Reason, seen.Next = wording.Bounded(seen.Reason, maxMessage), wording.Bounded(seen.Next, maxMessage)
	status.Handover.PointOfNoReturn = seen
}

// factsHold: what a verb that failed was to bring about is not so. Neither the annotations nor a Lease that is freed are what
// facts rest on: were they refused for good, the ends of processes would be forgotten in every pass.
func (s *scope) factsHold() bool {
	if s.actErr == nil {
		return true
	}
	return !s.unkept && (s.decision.Verb.Kind == migration.VerbRestoreAnnotations || s.decision.Verb.Kind == migration.VerbFreeLease)
}

// setReady sets the summary, and Reconciling or Stalled beside it, never both.
func setReady(w *statusWriter, s *scope, facts ucv1.Facts) {
	switch {
	case s.decision.Attendance.IsOverdue():
		setReadyUnattended(w, s)
	case s.decision.Failure != nil:
		setReadyFailed(w, s)
	case s.decision.Step == ucv1.StepInTree && s.cluster.DeletionTimestamp.IsZero():
		setReadyInTree(w, s)
	case s.cluster.Spec.Paused:
		setReadyPaused(w)
	case !s.cluster.DeletionTimestamp.IsZero():
		setProgress(w, ucv1.DeletingReason, progressMessage(s), false)
	case s.actErr != nil:
		setProgress(w, progressReason(s), progressMessage(s), unknownProgress(s))
	case s.decision.Step == ucv1.StepFinished:
		setReadyFinished(w, s, facts)
	case s.decision.Step == ucv1.StepRolledBack && s.decision.Wait == nil:
		w.set(ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.RolledBackReason, "The migration is undone; "+undoneRuns(s)+
			" It starts again at spec.handover.retryAfter when that is later than status.rollback.finishedAt and spec.handover.rollback is false.")
	default:
		setProgress(w, progressReason(s), progressMessage(s), unknownProgress(s))
	}
}

// setReadyInTree claims what was looked at: the arguments of KCM in this pass, its Lease in the last look ahead.
func setReadyInTree(w *statusWriter, s *scope) {
	unknown := s.decision.Wait
	if seen := s.decision.Attendance; unknown == nil && seen != nil && seen.Status == metav1.ConditionUnknown {
		unknown = &migration.Wait{Reason: seen.Reason, Message: seen.Message, Unknown: true}
	}
	switch {
	case unknown == nil:
		w.set(ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.InTreeReason, "The feature externalCloudProvider is off. "+migration.LookedAt(s.observed))
	case s.cluster.Spec.Paused:
		w.set(ucv1.ReadyCondition, metav1.ConditionUnknown, unknown.Reason, unknown.Message)
	default:
		setProgress(w, unknown.Reason, unknown.Message, unknown.Unknown)
	}
}

// undoneRuns is what an undo left, as far as it was looked at.
func undoneRuns(s *scope) string {
	if seen := s.decision.Attendance; seen != nil && seen.Reason == ucv1.HibernatedReason {
		return "the control plane is scaled to 0, so whether KCM runs the cloud loops was not looked at."
	}
	return "KCM runs the cloud loops."
}

func setReadyFailed(w *statusWriter, s *scope) {
	message := s.decision.Failure.Message
	if s.actErr != nil {
		message = progressMessage(s) + " " + message
	}
	w.set(ucv1.ReadyCondition, metav1.ConditionFalse, s.decision.Failure.Reason, message)
	w.set(ucv1.StalledCondition, metav1.ConditionTrue, s.decision.Failure.Reason, message)
}

// setReadyPaused leaves the verdict as it was before the pause.
func setReadyPaused(w *statusWriter) {
	if !w.keep(ucv1.ReadyCondition) {
		w.set(ucv1.ReadyCondition, metav1.ConditionUnknown, ucv1.PausedReason, "spec.paused was set before the first look.")
	}
	w.keep(ucv1.StalledCondition)
}

// setReadyFinished does not claim what is not seen: that a manager runs the cloud loops.
func setReadyFinished(w *statusWriter, s *scope, facts ucv1.Facts) {
	if unseenForLong(w, s) {
		setProgress(w, s.decision.Attendance.Reason, s.decision.Attendance.Message, true)
		return
	}
	if facts.Origin == ucv1.OriginExternal {
		w.set(ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.ExternalReason, "The cluster was created with the external cloud provider; its addons are applied.")
		return
	}
	w.set(ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.MigratedReason, "The migration to the external cloud provider is completed.")
}

// setProgress takes no call for a person back that could not be looked at.
func setProgress(w *statusWriter, reason, message string, unknown bool) {
	status := metav1.ConditionFalse
	if unknown {
		status = metav1.ConditionUnknown
	}
	w.set(ucv1.ReadyCondition, status, reason, message)
	if reason == ucv1.CouldNotLookReason && w.keep(ucv1.StalledCondition) {
		return
	}
	w.set(ucv1.ReconcilingCondition, metav1.ConditionTrue, reason, message)
}

func unknownProgress(s *scope) bool {
	return s.actErr != nil || (s.decision.Wait != nil && s.decision.Wait.Unknown)
}

func progressReason(s *scope) string {
	switch {
	case s.actErr != nil:
		return ucv1.CouldNotActReason
	case s.decision.Wait != nil:
		return s.decision.Wait.Reason
	}
	return ucv1.ActingReason
}

func progressMessage(s *scope) string {
	prefix, leaving := fmt.Sprintf("Step %s: ", s.decision.Step), ""
	if s.decision.Failure == nil && s.decision.Leaving != "" { // A failure says it itself, as a wait does.
		leaving = s.decision.Leaving + " "
	}
	switch {
	case s.actErr != nil:
		return prefix + "could not act, trying again; the cause is in the controller's log. " + leaving + s.tried()
	case s.decision.Wait != nil:
		return prefix + s.decision.Wait.Message
	case s.decision.Verb != nil:
		return prefix + leaving + s.decision.Verb.Why
	}
	return prefix + "working."
}

func setPaused(w *statusWriter, cluster *ucv1.Cluster, rollsOn string) {
	if cluster.Spec.Paused {
		w.set(ucv1.PausedCondition, metav1.ConditionTrue, ucv1.PausedReason, pausedMessage(cluster, rollsOn))
		return
	}
	w.set(ucv1.PausedCondition, metav1.ConditionFalse, ucv1.NotPausedReason, "spec.paused is not true.")
}

// pausedMessage also says what a pause does not stop, and what would: a person who pauses in the middle of a roll counts on both.
func pausedMessage(cluster *ucv1.Cluster, rollsOn string) string {
	message := "spec.paused is true: the controller changes nothing."
	if !cluster.DeletionTimestamp.IsZero() {
		message = "spec.paused is true: the controller changes nothing, and this Cluster, which is being deleted, stays until that is taken back."
	}
	switch {
	case rollsOn == "":
	case cluster.Status.Rollback != nil:
		message += " The machine-controller goes on with what it was told to roll back: " + rollsOn + "; to stop one, set its spec.paused."
	default:
		message += " No further step is granted to " + rollsOn + ", but the machine-controller still replaces what maxSurge and maxUnavailable allow, and " +
			"goes on deleting the Machines that are going; its own Deployment at 0 replicas stops that, spec.paused of a MachineDeployment does not."
	}
	return message
}

func setReachable(w *statusWriter, connection observation.Connection) {
	status := metav1.ConditionUnknown
	switch {
	case connection.Reachable && connection.Reason == ucv1.ReachableReason:
		status = metav1.ConditionTrue
	case connection.Refused:
		status = metav1.ConditionFalse
	}
	w.set(ucv1.UserClusterReachableCondition, status, connection.Reason, connection.Message)
}

// setSteps sets the condition of every row, and the two of row Addons.
func setSteps(w *statusWriter, s *scope) {
	conditions := conditionsOf()
	for _, row := range s.decision.Rows {
		switch row.Step {
		case ucv1.StepAddons:
			setRow(w, ucv1.CSIReadyCondition, *s.shown.CSI)
			setRow(w, ucv1.CloudControllerManagerReadyCondition, *s.shown.CCM)
		case ucv1.StepComplete:
			setCompleted(w, s, row)
		default:
			setRow(w, conditions[row.Step], row)
		}
	}
}

func setRow(w *statusWriter, conditionType string, row migration.RowState) {
	status := metav1.ConditionFalse
	switch {
	case row.Holds:
		status = metav1.ConditionTrue
	case row.Unknown:
		status = metav1.ConditionUnknown
	}
	reason, message := row.Reason, row.Message
	if message == "" {
		message = "The step's post-condition holds."
	}
	w.set(conditionType, status, reason, message)
}

// setCompleted keeps the promise of the manual: two reasons, and nothing else.
func setCompleted(w *statusWriter, s *scope, row migration.RowState) {
	completed := s.cluster.Status.CompletedAt != nil || (s.decision.Facts != nil && s.decision.Facts.CompletedAt != nil && s.actErr == nil)
	if row.Holds || completed {
		w.set(ucv1.CSIKubeletMigrationCompletedCondition, metav1.ConditionTrue, ucv1.CSIKubeletMigrationSuccessReason, "The migration to the external CCM and CSI driver is completed.")
		return
	}
	if row.Reason == ucv1.UndoInProgressReason || row.Reason == ucv1.RolledBackReason {
		w.set(ucv1.CSIKubeletMigrationCompletedCondition, metav1.ConditionFalse, ucv1.CSIKubeletMigrationInProgressReason, row.Message)
		return
	}
	w.set(ucv1.CSIKubeletMigrationCompletedCondition, metav1.ConditionFalse, ucv1.CSIKubeletMigrationInProgressReason,
		fmt.Sprintf("Migrating to the external CCM and CSI driver; the current step is %s.", s.decision.Step))
}

func setCounts(status *ucv1.ClusterStatus, s *scope) {
	if seen := s.shown.Progress; seen != nil {
		progress := *seen
		progress.Machines.Summary = fmt.Sprintf("%d/%d", progress.Machines.UpToDate, progress.Machines.Total)
		progress.MachineDeployments.Summary = fmt.Sprintf("%d/%d", progress.MachineDeployments.UpToDate, progress.MachineDeployments.Total)
		if before := s.cluster.Status; before.CompletedAt != nil && before.Nodes != nil {
			progress.Nodes.Proven = before.Nodes.Proven // Nothing is proven any more of Nodes that join later.
		}
		status.Machines, status.MachineDeployments, status.Nodes = &progress.Machines, &progress.MachineDeployments, &progress.Nodes
	}
	if addons, known := s.observed.Addons.Get(); known {
		status.Addons = &ucv1.AddonsStatus{
			CloudControllerManagerVersion: addons.CCM.Version, CSIVersion: addons.CSI.Version, Objects: int32(addons.InventoryObjects),
		}
	}
}
