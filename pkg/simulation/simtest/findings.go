package simtest

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Fix takes the findings of an ID away, as a person does who does what they say.
func Fix(id string) func(*World) {
	return func(w *World) {
		w.Findings = slices.DeleteFunc(slices.Clone(w.Findings), func(finding observation.Finding) bool { return finding.ID == id })
	}
}
