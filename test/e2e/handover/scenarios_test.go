package handover_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/handover"
)

// scenarios plays some scenarios of make handover. How long anything takes depends on the machine, and make handover
// judges it.
func (h *handovers) scenarios() {
	for _, scenario := range handover.Scenarios() {
		if !scenario.CI {
			continue
		}
		h.Stories.It("scenario "+scenario.Name, h.plays(scenario), Label(scenarios))
	}
}

// plays judges the records of the scenario's user cluster, in which a person may have two managers run a loop.
func (h *handovers) plays(scenario handover.Scenario) func(context.Context, *suite.Scene) {
	return func(ctx context.Context, s *suite.Scene) {
		s.Expect(scenario.Exclusive).To(BeFalse(), "it would disturb the stories beside it")
		h.Installed(ctx, s)
		h.Passes(ctx, s, h.managerBack)
		outcome, err := handover.One(ctx, h.Bed, 1, scenario)
		s.Expect(err).NotTo(HaveOccurred())
		s.Logf("%s with %s", outcome.Row.Result, outcome.Row.Protocol)
		s.Expect(outcome.Unmet).To(BeEmpty(), "raw records: %s", h.File(scenario.Name))
	}
}
