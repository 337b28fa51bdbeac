package e2e_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/handover"
)

// TestScenarios plays some scenarios of make handover, three at once. How long anything takes depends on the machine, and
// make handover judges it.
func TestScenarios(t *testing.T) {
	g := NewWithT(t)
	options, _ := bedOptions(t, "scenarios")
	scenarios := slices.DeleteFunc(handover.Scenarios(), func(scenario handover.Scenario) bool { return !scenario.CI })
	var testbed *bed.Bed
	var verdicts *verdicts
	outcomes, err := handover.Run(t.Context(), handover.Options{Bed: options, Beside: 3, Seed: 1, Started: func(b *bed.Bed) {
		testbed, verdicts = b, watchClusters(t, b)
	}}, scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	for _, outcome := range outcomes {
		t.Run(outcome.Scenario.Name, func(t *testing.T) {
			g := NewWithT(t)
			t.Logf("%s with %s", outcome.Row.Result, outcome.Row.Protocol)
			g.Expect(outcome.Unmet).To(BeEmpty(), "raw records: %s", testbed.File(outcome.Scenario.Name))
		})
	}
	expectNothingForbidden(t, testbed)
	expectEmptyRegistry(t, options.Dir)
	verdicts.expectGood(t)
}
