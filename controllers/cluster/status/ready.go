package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// setReady sets the summary, and Reconciling or Stalled beside it, never both.
func setReady(w *statusWriter, p *Pass, facts ucv1.Facts) {
	switch {
	case p.Decision.Attendance.IsOverdue():
		setReadyUnattended(w, p)
	case p.Decision.Calls() != nil:
		setReadyFailed(w, p)
	case p.Decision.Step == ucv1.StepInTree && p.Cluster.DeletionTimestamp.IsZero():
		setReadyInTree(w, p)
	case p.Cluster.Spec.Paused:
		setReadyPaused(w)
	case !p.Cluster.DeletionTimestamp.IsZero():
		setProgress(w, ucv1.DeletingReason, progressMessage(p), false)
	default:
		setReadyUnderway(w, p, facts)
	}
}

// setReadyUnderway is for a migration that goes on, waits for its turn, or has come to its end.
func setReadyUnderway(w *statusWriter, p *Pass, facts ucv1.Facts) {
	switch {
	case p.ActErr != nil:
		setProgress(w, progressReason(p), progressMessage(p), unknownProgress(p))
	case p.Decision.Queued:
		setReadyQueued(w, p)
	case p.Decision.Step == ucv1.StepFinished:
		setReadyFinished(w, p, facts)
	case p.Decision.Step == ucv1.StepRolledBack && p.Decision.Wait == nil:
		w.ready(metav1.ConditionTrue, ucv1.RolledBackReason, "The migration is rolled back; "+rolledBackRuns(p)+
			" It starts again at spec.handover.retryAfter when that is later than status.rollback.finishedAt and "+
			"spec.handover.rollback is false.")
	default:
		setProgress(w, progressReason(p), progressMessage(p), unknownProgress(p))
	}
}

// setReadyInTree claims what was looked at: the arguments of KCM in this pass, its Lease in the last look ahead.
func setReadyInTree(w *statusWriter, p *Pass) {
	unknown := p.Decision.Wait
	if seen := p.Decision.Attendance; unknown == nil && seen != nil && seen.Status == metav1.ConditionUnknown {
		unknown = &outcome.Wait{Reason: seen.Reason, Message: seen.Message, Objects: seen.Objects, Unknown: true}
	}
	switch {
	case unknown == nil:
		w.ready(metav1.ConditionTrue, ucv1.InTreeReason, "The feature externalCloudProvider is off; "+migration.LookedAt(p.Observed))
	case p.Cluster.Spec.Paused:
		w.ready(metav1.ConditionUnknown, unknown.Reason, unknown.Text())
	default:
		setProgress(w, unknown.Reason, unknown.Text(), unknown.Unknown)
	}
}

// setReadyQueued: the cluster works, and nothing is being changed, for weeks perhaps. A sync of GitOps that waits for health
// must not wait for that; condition Admitted says that it waits.
func setReadyQueued(w *statusWriter, p *Pass) {
	if seen := p.Decision.Attendance; seen != nil && seen.Status == metav1.ConditionUnknown {
		setProgress(w, seen.Reason, seen.Text(), true)
		return
	}
	w.ready(metav1.ConditionTrue, ucv1.QueuedReason, p.Decision.Wait.Text())
}

// rolledBackRuns is what a rollback left, as far as it was looked at.
func rolledBackRuns(p *Pass) string {
	if seen := p.Decision.Attendance; seen != nil && seen.Reason == ucv1.HibernatedReason {
		return "the control plane is scaled to 0, so whether KCM runs the cloud loops was not looked at."
	}
	return "KCM runs the cloud loops."
}

func setReadyFailed(w *statusWriter, p *Pass) {
	message := p.Decision.Calls().Text()
	if p.ActErr != nil {
		message = observation.Say(progressMessage(p), " ", message)
	}
	w.ready(metav1.ConditionFalse, p.Decision.Calls().Reason, message)
	w.set(ucv1.StalledCondition, metav1.ConditionTrue, p.Decision.Calls().Reason, message.Words)
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

// setReadyFinished does not claim what is not seen: that a manager runs the cloud loops, or that the addons are there. Objects of
// someone else that were in their way are not gone because they cannot be looked at.
func setReadyFinished(w *statusWriter, p *Pass, facts ucv1.Facts) {
	if unseenForLong(w, p) {
		setProgress(w, p.Decision.Attendance.Reason, p.Decision.Attendance.Text(), true)
		return
	}
	unseen := p.Shown.CSI != nil && p.Shown.CSI.Reason == ucv1.CouldNotLookReason
	called := meta.FindStatusCondition(w.before, ucv1.StalledCondition)
	if unseen && called != nil && called.Reason == ucv1.ForeignObjectsReason && w.keep(ucv1.ReadyCondition) {
		w.about = w.aboutBefore
		w.keep(ucv1.StalledCondition)
		return
	}
	reason, message := ucv1.MigratedReason, "The migration to the external cloud provider is completed."
	if facts.Origin == ucv1.OriginExternal {
		reason, message = ucv1.ExternalReason, "The cluster was created with the external cloud provider; its addons are applied."
	}
	if unseen {
		message = "The cluster runs with the external cloud provider. Whether its addons are as they were applied could not be " +
			"looked at; condition CSIReady says why."
	}
	w.ready(metav1.ConditionTrue, reason, message)
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

func unknownProgress(p *Pass) bool {
	return p.ActErr != nil || (p.Decision.Wait != nil && p.Decision.Wait.Unknown)
}

func progressReason(p *Pass) string {
	switch {
	case p.ActErr != nil:
		return ucv1.CouldNotActReason
	case p.Decision.Wait != nil:
		return p.Decision.Wait.Reason
	}
	return ucv1.ActingReason
}

// progressMessage does not name the step: status.step does.
func progressMessage(p *Pass) observation.Text {
	leaving := ""
	if p.Decision.Calls() == nil && p.Decision.Leaving != "" { // A failure says it itself, as a wait does.
		leaving = p.Decision.Leaving + " "
	}
	switch {
	case p.ActErr != nil:
		return observation.Say(leaving + "Could not act, trying again; the cause is in the controller's log: " + p.tried())
	case p.Decision.Wait != nil:
		return p.Decision.Wait.Text()
	case p.Decision.Next() != nil:
		return observation.Say(leaving + p.Decision.Next().Why)
	}
	return observation.Say("Working.")
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
func unseenForLong(w *statusWriter, p *Pass) bool {
	seen, before := p.Decision.Attendance, meta.FindStatusCondition(w.before, ucv1.CloudLoopsAttendedCondition)
	return seen != nil && seen.Reason == ucv1.CouldNotLookReason && before != nil && before.Status == metav1.ConditionUnknown &&
		w.now.Sub(before.LastTransitionTime.Time) >= migration.UnattendedLimit(p.Cluster)
}

// setReadyUnattended says first that no manager runs the cloud loops, whatever else is in the way. It outweighs a pause.
func setReadyUnattended(w *statusWriter, p *Pass) {
	attendance, message := p.Decision.Attendance, p.Decision.Attendance.Text()
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
	case attendance.NeedsPerson, p.Decision.Calls() != nil, stalled != nil && unknownProgress(p):
		w.set(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.CloudLoopsUnattendedReason, message.Words)
	case !p.Cluster.Spec.Paused:
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

// tried is what acting could not do.
func (p *Pass) tried() string {
	if p.Unkept || p.Decision.Next() == nil {
		return "Keeping the proofs of kubelets in the Secret with the baseline; nothing rests on them before."
	}
	return p.Decision.Next().Why
}
