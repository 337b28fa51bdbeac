package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// observeFindings are those of the scenario. What needs the cloud is looked at when the CCM leads.
func (w *World) observeFindings() []observation.Finding {
	findings := slices.Clone(w.Findings)
	for i := range findings {
		if handover := w.Facts().Handover; findings[i].BeforeRoll && (handover == nil || handover.FinishedAt == nil) {
			findings[i].NotLookedAt = true
		}
	}
	return findings
}
