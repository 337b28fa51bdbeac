package migration

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
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
func takeoverLine(t observation.Takeover, most int) string {
	switch {
	case t.Problem != "":
		return t.Object + ": " + t.Problem
	case len(t.Fields) == 0:
		return t.Object + ": nothing but its owner"
	case len(t.Fields) > most:
		return t.Object + ": " + strings.Join(t.Fields[:most], ", ") + " and " +
			wording.Count(len(t.Fields)-most, "more field", "more fields")
	}
	return t.Object + ": " + strings.Join(t.Fields, ", ")
}

// changesOf are the lines of the status, and of a message where few fit. Without a comparison they are only names.
func changesOf(s observation.AddonSet, most int) []string {
	if len(s.Takeovers) == 0 {
		return slices.Clone(s.Foreign)
	}
	lines := make([]string, 0, len(s.Takeovers))
	for _, takeover := range s.Takeovers {
		line := takeoverLine(takeover, most)
		if len(line) > maxChange {
			line = strings.ToValidUTF8(line[:maxChange-3], "") + "..."
		}
		lines = append(lines, line)
	}
	return lines
}

// mayTakeOver asks, before anything of someone else's is overwritten, whether that is wanted, whether it can be done, and
// whether a person could read what changes. What exists and is not ours blocks, because the apply engine forces ownership.
func (p *pass) mayTakeOver(name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	if p.o.Cluster.Spec.Addons.Adoption != ucv1.Adopt {
		return outcome.Fails(ucv1.ForeignObjectsReason, p.foreign(name, set))
	}
	var refused []string
	for _, takeover := range set.Takeovers {
		if takeover.Problem != "" {
			refused = append(refused, takeoverLine(takeover, 0))
		}
	}
	if len(refused) > 0 {
		return outcome.Fails(
			ucv1.ForeignObjectsReason,
			"These "+string(name)+" objects cannot be adopted: "+wording.Names(refused)+". Delete them.",
		)
	}
	return p.planned(name, set)
}

func (p *pass) foreign(name outcome.AddonSetName, set observation.AddonSet) string {
	message := "These " + string(name) + " objects exist already and are not ours: " + wording.Names(set.Foreign) + "."
	if set.DriverProblem != "" {
		message += " " + set.DriverProblem
	}
	message += " Delete them, or set spec.addons.adoption to Adopt."
	if len(set.Takeovers) > 0 {
		message += " That would change, among others, " + wording.Names(changesOf(set, 2)) +
			"; all of it: ccm-migration-controller adoption " +
			p.o.Cluster.Name + " -n " + p.o.Cluster.Namespace + "."
	}
	return message
}

// planned writes the plan of both sets into the status first. In the hand-over no one may be running the cloud loops, so that
// it stands there for one pass only.
func (p *pass) planned(name outcome.AddonSetName, set observation.AddonSet) outcome.Outcome {
	const many = 20
	plan := p.facts.Adoption
	missing := func(line string) bool { return !slices.Contains(plan.Changes, line) }
	if plan == nil || (len(plan.Changes) < maxChanges && slices.ContainsFunc(changesOf(set, many), missing)) {
		addons := p.o.Addons.Value()
		lines := slices.Concat(changesOf(addons.CSI, many), changesOf(addons.CCM, many), changesOf(set, many))
		slices.Sort(lines)
		lines = slices.Compact(lines)
		p.facts.Adoption = &ucv1.AdoptionStatus{PlannedAt: *p.stamp(), Changes: lines[:min(len(lines), maxChanges)]}
		return outcome.Records("Recording what adopting changes, before it is done: " + wording.Names(changesOf(set, 2)) + ".")
	}
	handover := p.facts.Handover
	gap := handover != nil && handover.StartedAt != nil && handover.FinishedAt == nil
	if wait := p.o.Deadlines.AdoptionNotice - p.now.Sub(plan.PlannedAt.Time); wait > 0 && !gap {
		return outcome.WaitsUntil(ucv1.AdoptionPlannedReason, "The "+string(name)+" objects of someone else are adopted a minute "+
			"after the plan stood in status.adoption: "+
			wording.Names(changesOf(set, 2))+". To keep them, set spec.addons.adoption to Never, or spec.paused.", wait)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
