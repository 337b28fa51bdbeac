package applied

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

const (
	// maxChanges and maxChange are the bounds of status.adoption.changes.
	maxChanges = 64
	maxChange  = 512
)

// takeoverLine names the object and its first fields.
func takeoverLine(t observation.Takeover, most int) observation.Text {
	line := t.Text()
	switch {
	case t.Problem != "":
		line.Words += ": " + t.Problem
	case len(t.Fields) == 0:
		line.Words += ": nothing but its owner"
	case len(t.Fields) > most:
		line.Words += ": " + strings.Join(t.Fields[:most], ", ") + " and " +
			wording.Count(len(t.Fields)-most, "more field", "more fields")
	default:
		line.Words += ": " + strings.Join(t.Fields, ", ")
	}
	return line
}

// changesOf are the lines of the status, and of a message where few fit. Without a comparison they are only names.
func changesOf(s observation.AddonSet, most int) []observation.Text {
	if len(s.Takeovers) == 0 {
		return slices.Clone(s.Foreign)
	}
	lines := make([]observation.Text, 0, len(s.Takeovers))
	for _, takeover := range s.Takeovers {
		line := takeoverLine(takeover, most)
		line.Words = wording.Bounded(line.Words, maxChange)
		lines = append(lines, line)
	}
	return lines
}

// mayTakeOver asks, before anything of someone else's is overwritten, whether that is wanted, whether it can be done, and
// whether a person could read what changes. What exists and is not ours blocks, because the apply engine forces ownership.
func mayTakeOver(in pass.Input, name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	if in.Cluster.Spec.Addons.Adoption != ucv1.Adopt {
		return outcome.Fails(ucv1.ForeignObjectsReason, foreign(in, name, set))
	}
	var refused []observation.Text
	for _, takeover := range set.Takeovers {
		if takeover.Problem != "" {
			refused = append(refused, takeoverLine(takeover, 0))
		}
	}
	if len(refused) > 0 {
		return outcome.Fails(
			ucv1.ForeignObjectsReason,
			"These "+string(name)+" objects cannot be adopted: ", observation.Names(refused), ". Delete them.",
		)
	}
	return planned(in, name, set)
}

func foreign(in pass.Input, name outcome.AddonSetName, set observation.AddonSet) observation.Text {
	message := observation.Say("These "+string(name)+" objects were not created for this Cluster: ",
		observation.Names(set.Foreign), ".").Also(set.DriverProblem.Without("."))
	message = observation.Say(message, " Delete them, or set spec.addons.adoption to Adopt.")
	if len(set.Takeovers) > 0 {
		message = message.Also("that would change, among others, ", observation.Names(changesOf(set, 2)),
			"; all of it: ccm-migration-controller adoption "+in.Cluster.Name+" -n "+in.Cluster.Namespace)
	}
	return message
}

// planned writes the plan of both sets into the status first. In the hand-over no one may be running the cloud loops, so that
// it stands there for one pass only.
func planned(in pass.Input, name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	const many = 20
	plan := in.Facts.Adoption
	missing := func(line observation.Text) bool { return !slices.Contains(plan.Changes, line.Words) }
	if plan == nil || (len(plan.Changes) < maxChanges && slices.ContainsFunc(changesOf(set, many), missing)) {
		addons := in.Addons.Value()
		lines := slices.Concat(changesOf(addons.CSI, many), changesOf(addons.CCM, many), changesOf(set, many))
		changes := observation.Words(observation.SortTexts(lines))
		few := observation.Names(changesOf(set, 2))
		return in.Records("Recording what adopting changes, before it is done: "+few.Words+".", func(facts *ucv1.Facts) {
			facts.Adoption = &ucv1.AdoptionStatus{PlannedAt: *in.Stamp(), Changes: changes[:min(len(changes), maxChanges)]}
		})
	}
	handover := in.Facts.Handover
	gap := handover != nil && handover.StartedAt != nil && handover.FinishedAt == nil
	if wait := in.Deadlines.AdoptionNotice - in.Now.Sub(plan.PlannedAt.Time); wait > 0 && !gap {
		return outcome.WaitsUntil(ucv1.AdoptionPlannedReason, observation.Say("The "+string(name)+" objects of someone else are "+
			"adopted a minute after the plan stood in status.adoption: ", observation.Names(changesOf(set, 2)),
			". To keep them, set spec.addons.adoption to Never, or spec.paused."), wait)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
