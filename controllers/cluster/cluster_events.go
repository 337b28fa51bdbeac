package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The reasons of events that are no reasons of conditions.
const (
	stepChangedEvent = "StepChanged"
	resumedEvent     = "Resumed"
	acceptedEvent    = "Accepted"
	releasedEvent    = "Released"
)

// tell records what the saved status changed: one event a transition, and the metrics of it. What the controller did is in
// the timeline only.
func (r *Reconciler) tell(s *scope, before, after ucv1.ClusterStatus) {
	for _, entry := range entriesOf(s, after) {
		switch entry.Kind {
		case ucv1.TimelineStep:
			r.event(s, entry, corev1.EventTypeNormal, stepChangedEvent, "The current step is "+string(after.Step)+".")
			r.Metrics.stepEnded(before, s.now)
		case ucv1.TimelineFailure:
			r.event(s, entry, corev1.EventTypeWarning, entry.Reason, entry.Message)
			r.Metrics.stalled(entry.Reason)
		case ucv1.TimelineHalt:
			r.event(s, entry, corev1.EventTypeNormal, entry.Reason, entry.Message+" By "+entry.Actor+".")
		case ucv1.TimelineResume:
			r.event(s, entry, corev1.EventTypeNormal, resumedEvent, entry.Message)
		case ucv1.TimelineAcceptance:
			r.event(s, entry, corev1.EventTypeNormal, acceptedEvent, entry.Message+" By "+entry.Actor+".")
		case ucv1.TimelineVerb:
		}
	}
	r.Metrics.sampled(before.SLO, after.SLO)
	r.tellAhead(s, before, after)
}

// tellAhead says what will be done: each is told once, when it is first written into the status.
func (r *Reconciler) tellAhead(s *scope, before, after ucv1.ClusterStatus) {
	if s.decision.Leaving != "" && before.ObservedGeneration != after.ObservedGeneration {
		// The deletion is a generation of its own: who deleted it learns once that it waits.
		r.event(s, ucv1.TimelineEntry{Step: after.Step}, corev1.EventTypeWarning, ucv1.DeletingReason, s.decision.Leaving)
	}
	if plan := after.Adoption; plan != nil && (before.Adoption == nil || !before.Adoption.PlannedAt.Equal(&plan.PlannedAt)) {
		r.event(s, ucv1.TimelineEntry{Step: after.Step, Objects: plan.Changes}, corev1.EventTypeNormal, ucv1.AdoptionPlannedReason,
			"Adopting changes: "+strings.Join(plan.Changes, "; "))
	}
}

func (r *Reconciler) event(s *scope, entry ucv1.TimelineEntry, kind, reason, note string) {
	var related runtime.Object
	if reference := relatedTo(s, entry); reference != nil {
		related = reference
	}
	r.Recorder.Eventf(s.cluster, related, kind, reason, string(entry.Step), "%s", wording.Bounded(note, maxMessage))
}
