package roll_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/hazards"
)

// hazards makes some hazards of make hazards: preflight finds them before anything is touched, and is right about them.
func (h *rolls) hazards() {
	for _, group := range hazards.Groups() {
		if !group.CI {
			continue
		}
		var rows []hazards.Row
		story := h.Stories.Add(func(ctx context.Context, s *suite.Scene) {
			h.Installed(ctx, s)
			var err error
			rows, err = hazards.One(ctx, h.Bed, group)
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(rows).To(HaveLen(len(group.Hazards)))
		})
		for at, hazard := range group.Hazards {
			story.It("hazard "+hazard.ID, func(s *suite.Scene) {
				s.Expect(rows[at].ID).To(Equal(hazard.ID))
				s.Expect(rows[at].Unmet).To(BeEmpty(), "raw records: %s", h.File(group.Name))
			}, Label(hazardous))
		}
	}
}
