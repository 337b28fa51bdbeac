package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// observeFindings are those of the scenario. What needs the cloud is looked at when the CCM leads.
func (w *World) observeFindings() []observation.Finding {
	findings := slices.Clone(w.findings)
	for i := range findings {
		if handover := w.facts().Handover; findings[i].BeforeRoll && (handover == nil || handover.FinishedAt == nil) {
			findings[i].NotLookedAt = true
		}
	}
	return findings
}

// Fix takes the findings of an ID away, as a person does who does what they say.
func Fix(id string) func(*World) {
	return func(w *World) {
		w.findings = slices.DeleteFunc(slices.Clone(w.findings), func(finding observation.Finding) bool { return finding.ID == id })
	}
}
