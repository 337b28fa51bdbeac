package cluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

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
	attendance, message, stalled := s.decision.Attendance, s.decision.Attendance.Message, meta.FindStatusCondition(w.before, ucv1.StalledCondition)
	if was := meta.FindStatusCondition(w.before, ucv1.ReadyCondition); attendance.Undecided && was != nil && was.Reason == ucv1.CloudLoopsUnattendedReason {
		message = was.Message
	}
	w.set(ucv1.ReadyCondition, metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason, message)
	switch {
	case attendance.NeedsPerson, s.decision.Failure != nil, stalled != nil && unknownProgress(s):
		w.set(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.CloudLoopsUnattendedReason, message)
	case !s.cluster.Spec.Paused:
		w.set(ucv1.ReconcilingCondition, metav1.ConditionTrue, ucv1.CloudLoopsUnattendedReason, message)
	}
}

// unattendedEntries: for too long no manager has run the cloud loops. When a person is called for it, stallEntries says so.
func unattendedEntries(before, after []metav1.Condition) []ucv1.TimelineEntry {
	was, is := meta.FindStatusCondition(before, ucv1.ReadyCondition), meta.FindStatusCondition(after, ucv1.ReadyCondition)
	begins := is != nil && is.Reason == ucv1.CloudLoopsUnattendedReason && (was == nil || was.Reason != is.Reason)
	if !begins || meta.IsStatusConditionTrue(after, ucv1.StalledCondition) {
		return nil
	}
	return []ucv1.TimelineEntry{{Kind: ucv1.TimelineFailure, Reason: is.Reason, Message: is.Message}}
}
