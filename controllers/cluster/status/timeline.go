package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// The bounds of status.timeline: its entries, the objects and the characters of one.
const (
	MaxTimeline        = 80
	maxTimelineObjects = 10
	maxTimelineMessage = 512
)

// extendTimeline appends what this pass changed. When it is full, old actions go before steps: steps are what people ask for.
func extendTimeline(p *Pass, status ucv1.ClusterStatus) []ucv1.TimelineEntry {
	timeline := append(slices.Clone(p.Cluster.Status.Timeline), Entries(p, status)...)
	for len(timeline) > MaxTimeline {
		at := max(
			slices.IndexFunc(timeline[:MaxTimeline-3], func(e ucv1.TimelineEntry) bool { return e.Kind == ucv1.TimelineAction }),
			0,
		)
		timeline = slices.Delete(timeline, at, at+1)
	}
	return timeline
}

// Entries are what a pass adds to the timeline, given the status that it computed. The events are made from them, too.
func Entries(p *Pass, status ucv1.ClusterStatus) []ucv1.TimelineEntry {
	if !p.Cluster.ExternalCloudProvider() {
		return nil
	}
	entries := slices.Clone(p.Pending)
	add := func(e ucv1.TimelineEntry) {
		e.Time, e.Step, e.Message = metav1.NewTime(p.Now), status.Step, wording.Bounded(e.Message, maxTimelineMessage)
		e.Objects = e.Objects[:min(len(e.Objects), maxTimelineObjects)]
		if e.Actor == "" {
			e.Actor = ucv1.FieldManager
		}
		neutral(&e)
		entries = append(entries, e)
	}
	for _, e := range acceptanceEntries(p.Cluster.Status.Acceptances, status.Acceptances) {
		add(e)
	}
	if p.Cluster.Status.Step != status.Step {
		add(ucv1.TimelineEntry{Kind: ucv1.TimelineStep})
	}
	if action := p.Decision.Next(); action != nil && p.ActErr == nil && action.Kind != outcome.ActionRecord {
		add(ucv1.TimelineEntry{
			Kind: ucv1.TimelineAction, Action: string(action.Kind), Objects: namesOf(action.Objects), Message: action.Why,
		})
	}
	about := namesOf(observation.RefsOf(status.About))
	for _, e := range unattendedEntries(p.Cluster.Status.Conditions, status.Conditions, about) {
		add(e)
	}
	for _, e := range stallEntries(p.Cluster.Status.Conditions, status.Conditions, about) {
		add(e)
	}
	for _, e := range pauseEntries(p, status.Conditions) {
		add(e)
	}
	return entries
}

func namesOf(refs []observation.Ref) []string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return names
}

// stallEntries: a failure begins, has another reason, or is over. The objects are those of the message that calls for a person.
func stallEntries(before, after []metav1.Condition, about []string) []ucv1.TimelineEntry {
	was, is := meta.FindStatusCondition(before, ucv1.StalledCondition), meta.FindStatusCondition(after, ucv1.StalledCondition)
	switch {
	case is != nil && (was == nil || was.Reason != is.Reason):
		return []ucv1.TimelineEntry{{Kind: ucv1.TimelineFailure, Reason: is.Reason, Objects: about, Message: is.Message}}
	case is == nil && was != nil:
		return []ucv1.TimelineEntry{{Kind: ucv1.TimelineResume, Reason: was.Reason, Message: "No one has to act any more: " +
			was.Reason + " is over."}}
	}
	return nil
}

// pauseEntries: a pause begins or is taken back. The first pass of a Cluster that is not paused is no end of a pause.
func pauseEntries(p *Pass, after []metav1.Condition) []ucv1.TimelineEntry {
	was := meta.IsStatusConditionTrue(p.Cluster.Status.Conditions, ucv1.PausedCondition)
	is := meta.IsStatusConditionTrue(after, ucv1.PausedCondition)
	switch {
	case is && !was:
		return []ucv1.TimelineEntry{
			{
				Kind:    ucv1.TimelineHalt,
				Reason:  ucv1.PausedReason,
				Actor:   p.PausedBy,
				Message: "spec.paused was set: the controller changes nothing.",
			},
		}
	case was && !is:
		return []ucv1.TimelineEntry{
			{Kind: ucv1.TimelineResume, Reason: ucv1.PausedReason, Actor: p.PausedBy, Message: "spec.paused was taken back."},
		}
	}
	return nil
}

// acceptanceEntries has one entry for each field and person, with what is new, and one for each field with what is gone.
func acceptanceEntries(before, after []ucv1.AcceptanceStatus) []ucv1.TimelineEntry {
	entries := groupAcceptances(missingIn(before, after), "accepted in")
	gone := missingIn(after, before)
	for i := range gone {
		// No one owns a value that is gone, so the object does not say who took it out.
		gone[i].By = ucv1.UnknownActor
	}
	return append(entries, groupAcceptances(gone, "no longer accepted in")...)
}

func groupAcceptances(list []ucv1.AcceptanceStatus, what string) []ucv1.TimelineEntry {
	var entries []ucv1.TimelineEntry
	index := map[string]int{}
	for _, a := range list {
		at, found := index[a.Field+" "+a.By]
		if !found {
			at = len(entries)
			index[a.Field+" "+a.By] = at
			entries = append(entries, ucv1.TimelineEntry{Kind: ucv1.TimelineAcceptance, Actor: a.By})
		}
		entries[at].Objects = append(entries[at].Objects, a.Value)
		entries[at].Message = fmt.Sprintf("%s %s: %s.", what, a.Field, strings.Join(entries[at].Objects, ", "))
	}
	for i := range entries {
		entries[i].Message = strings.ToUpper(entries[i].Message[:1]) + entries[i].Message[1:]
	}
	return entries
}

// missingIn are the elements of list that others lacks.
func missingIn(others, list []ucv1.AcceptanceStatus) []ucv1.AcceptanceStatus {
	var missing []ucv1.AcceptanceStatus
	for _, a := range list {
		if !slices.ContainsFunc(others, func(b ucv1.AcceptanceStatus) bool { return a.Field == b.Field && a.Value == b.Value }) {
			missing = append(missing, a)
		}
	}
	return missing
}

// unattendedEntries: for too long no manager has run the cloud loops. When a person is called for it, stallEntries says so.
func unattendedEntries(before, after []metav1.Condition, about []string) []ucv1.TimelineEntry {
	was, is := meta.FindStatusCondition(before, ucv1.ReadyCondition), meta.FindStatusCondition(after, ucv1.ReadyCondition)
	begins := is != nil && is.Reason == ucv1.CloudLoopsUnattendedReason && (was == nil || was.Reason != is.Reason)
	if !begins || meta.IsStatusConditionTrue(after, ucv1.StalledCondition) {
		return nil
	}
	return []ucv1.TimelineEntry{{Kind: ucv1.TimelineFailure, Reason: is.Reason, Objects: about, Message: is.Message}}
}
