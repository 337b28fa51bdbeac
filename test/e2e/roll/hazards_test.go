package e2e_test

import (
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/hazards"
)

// TestHazards makes some hazards of make hazards: preflight finds them before anything is touched, and is right about them.
func TestHazards(t *testing.T) {
	g := NewWithT(t)
	options, _ := bedOptions(t, "hazards")
	groups := slices.DeleteFunc(hazards.Groups(), func(group hazards.Group) bool { return !group.CI })
	var testbed *bed.Bed
	var verdicts *verdicts
	rows, err := hazards.Run(t.Context(), hazards.Options{Bed: options, Beside: len(groups), Started: func(b *bed.Bed) {
		testbed, verdicts = b, watchClusters(t, b)
	}}, groups)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rows).NotTo(BeEmpty())
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			NewWithT(t).Expect(row.Unmet).To(BeEmpty(), "raw records: %s", testbed.File(row.Cluster))
		})
	}
	expectNoneAlive(t, descendants(os.Getpid()))
	expectEmptyRegistry(t, options.Dir)
	verdicts.expectGood(t)
}
