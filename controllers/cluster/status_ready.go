package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// setReady sets the summary, and Reconciling or Stalled beside it, never both.
func setReady(w *statusWriter, s *scope, facts ucv1.Facts) {
	switch {
	case s.decision.Attendance.IsOverdue():
		setReadyUnattended(w, s)
	case s.decision.Calls() != nil:
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
		w.ready(metav1.ConditionTrue, ucv1.RolledBackReason, "The migration is rolled back; "+rolledBackRuns(s)+
			" It starts again at spec.handover.retryAfter when that is later than status.rollback.finishedAt and "+
			"spec.handover.rollback is false.")
	default:
		setProgress(w, progressReason(s), progressMessage(s), unknownProgress(s))
	}
}

// setReadyInTree claims what was looked at: the arguments of KCM in this pass, its Lease in the last look ahead.
func setReadyInTree(w *statusWriter, s *scope) {
	unknown := s.decision.Wait
	if seen := s.decision.Attendance; unknown == nil && seen != nil && seen.Status == metav1.ConditionUnknown {
		unknown = &outcome.Wait{Reason: seen.Reason, Message: seen.Message, Objects: seen.Objects, Unknown: true}
	}
	switch {
	case unknown == nil:
		w.ready(metav1.ConditionTrue, ucv1.InTreeReason, "The feature externalCloudProvider is off. "+migration.LookedAt(s.observed))
	case s.cluster.Spec.Paused:
		w.ready(metav1.ConditionUnknown, unknown.Reason, unknown.Text())
	default:
		setProgress(w, unknown.Reason, unknown.Text(), unknown.Unknown)
	}
}

// rolledBackRuns is what a rollback left, as far as it was looked at.
func rolledBackRuns(s *scope) string {
	if seen := s.decision.Attendance; seen != nil && seen.Reason == ucv1.HibernatedReason {
		return "the control plane is scaled to 0, so whether KCM runs the cloud loops was not looked at."
	}
	return "KCM runs the cloud loops."
}

func setReadyFailed(w *statusWriter, s *scope) {
	message := s.decision.Calls().Text()
	if s.actErr != nil {
		message = observation.Say(progressMessage(s), " ", message)
	}
	w.ready(metav1.ConditionFalse, s.decision.Calls().Reason, message)
	w.set(ucv1.StalledCondition, metav1.ConditionTrue, s.decision.Calls().Reason, message.Words)
}

// setReadyPaused leaves the verdict as it was before the pause.
func setReadyPaused(w *statusWriter) {
	if w.keep(ucv1.ReadyCondition) {
		w.about = w.aboutBefore
	} else {
		w.ready(metav1.ConditionUnknown, ucv1.PausedReason, "spec.paused was set before the first look.")
	}
	w.keep(ucv1.StalledCondition)
}

// setReadyFinished does not claim what is not seen: that a manager runs the cloud loops.
func setReadyFinished(w *statusWriter, s *scope, facts ucv1.Facts) {
	if unseenForLong(w, s) {
		setProgress(w, s.decision.Attendance.Reason, s.decision.Attendance.Text(), true)
		return
	}
	if facts.Origin == ucv1.OriginExternal {
		w.ready(metav1.ConditionTrue, ucv1.ExternalReason, "The cluster was created with the external cloud "+
			"provider; its addons are applied.")
		return
	}
	w.ready(metav1.ConditionTrue, ucv1.MigratedReason, "The migration to the external cloud provider is "+
		"completed.")
}

// setProgress takes no call for a person back that could not be looked at.
func setProgress(w *statusWriter, reason string, message observation.Text, unknown bool) {
	status := metav1.ConditionFalse
	if unknown {
		status = metav1.ConditionUnknown
	}
	w.ready(status, reason, message)
	if reason == ucv1.CouldNotLookReason && w.keep(ucv1.StalledCondition) {
		return
	}
	w.set(ucv1.ReconcilingCondition, metav1.ConditionTrue, reason, message.Words)
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

func progressMessage(s *scope) observation.Text {
	prefix, leaving := fmt.Sprintf("Step %s: ", s.decision.Step), ""
	if s.decision.Calls() == nil && s.decision.Leaving != "" { // A failure says it itself, as a wait does.
		leaving = s.decision.Leaving + " "
	}
	switch {
	case s.actErr != nil:
		return observation.Say(prefix + "could not act, trying again; the cause is in the controller's log. " + leaving + s.tried())
	case s.decision.Wait != nil:
		return observation.Say(prefix, s.decision.Wait.Text())
	case s.decision.Next() != nil:
		return observation.Say(prefix + leaving + s.decision.Next().Why)
	}
	return observation.Say(prefix + "working.")
}

// setAttended keeps what was said while nothing new is known, so that a restart of ours changes nothing.
func setAttended(w *statusWriter, attendance *migration.Attendance) {
	if attendance == nil || attendance.Undecided && w.keep(ucv1.CloudLoopsAttendedCondition) {
		return
	}
	w.set(ucv1.CloudLoopsAttendedCondition, attendance.Status, attendance.Reason, attendance.Message)
}

// unseenForLong: whether a manager runs the cloud loops could not be looked at for longer than they may be unattended. One read
// that fails is no trouble.
func unseenForLong(w *statusWriter, s *scope) bool {
	seen, before := s.decision.Attendance, meta.FindStatusCondition(w.before, ucv1.CloudLoopsAttendedCondition)
	return seen != nil && seen.Reason == ucv1.CouldNotLookReason && before != nil && before.Status == metav1.ConditionUnknown &&
		w.now.Sub(before.LastTransitionTime.Time) >= migration.UnattendedLimit(s.cluster)
}

// setReadyUnattended says first that no manager runs the cloud loops, whatever else is in the way. It outweighs a pause.
func setReadyUnattended(w *statusWriter, s *scope) {
	attendance, message := s.decision.Attendance, s.decision.Attendance.Text()
	stalled := meta.FindStatusCondition(w.before, ucv1.StalledCondition)
	if was := meta.FindStatusCondition(
		w.before,
		ucv1.ReadyCondition,
	); attendance.Undecided && was != nil &&
		was.Reason == ucv1.CloudLoopsUnattendedReason {
		message = observation.Say(was.Message).About(observation.RefsOf(w.aboutBefore)...)
	}
	w.ready(metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason, message)
	switch {
	case attendance.NeedsPerson, s.decision.Calls() != nil, stalled != nil && unknownProgress(s):
		w.set(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.CloudLoopsUnattendedReason, message.Words)
	case !s.cluster.Spec.Paused:
		w.set(ucv1.ReconcilingCondition, metav1.ConditionTrue, ucv1.CloudLoopsUnattendedReason, message.Words)
	}
}

// setReadiness keeps what the last look found until the next one.
func setReadiness(w *statusWriter, readiness *migration.Readiness) {
	old := meta.FindStatusCondition(w.before, ucv1.ReadyToMigrateCondition)
	switch {
	case readiness == nil:
		return
	case readiness.Undecided && old != nil && old.ObservedGeneration != w.gen:
		w.set(ucv1.ReadyToMigrateCondition, metav1.ConditionUnknown, ucv1.NotLookedYetReason, "The spec was changed since the last "+
			"look ahead; the next one judges it.")
		return
	case readiness.Undecided && w.keep(ucv1.ReadyToMigrateCondition):
		return
	}
	w.set(ucv1.ReadyToMigrateCondition, readiness.Status, readiness.Reason, readiness.Message)
}
