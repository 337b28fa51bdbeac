package fleet_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/fleet"
)

var _ = Describe("A FleetMigration", Ordered, ContinueOnFailure, func() {
	var story *fleet.Story
	var verdicts *suite.Verdicts
	var end context.CancelFunc
	cast := fleet.Small()

	BeforeAll(func(ctx SpecContext) {
		outlasting, cancel, release := suite.Outlasting(ctx)
		defer release()
		end = cancel
		DeferCleanup(end)
		options, _ := suite.BedOptions("fleet/small")
		suite.TakePlaces(ctx, 1) // The budget lets one migrate at a time.
		var err error
		story, err = fleet.Begin(outlasting, options, cast)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(SpecContext) { suite.ExpectStopped(story.Bed, story.End) }, NodeTimeout(suite.StartTime))
		verdicts = suite.WatchClusters(outlasting, story.Bed)
	}, NodeTimeout(suite.StartTime))

	It("lets its Clusters go as its budget and a person allow", func(ctx SpecContext) {
		defer context.AfterFunc(ctx, end)()
		Expect(story.Tell()).To(Succeed())
		report, err := story.Report()
		Expect(err).NotTo(HaveOccurred())
		for _, c := range report.Clusters {
			GinkgoWriter.Printf("%s: %s/%s, admitted %s, took %.0f s\n", c.Name, c.Fleet, c.Wave, c.AdmittedAt,
				c.CompletedAt.Sub(c.AdmittedAt).Seconds())
		}
		Expect(cast.Unmet(report)).To(BeEmpty())
	}, NodeTimeout(suite.StoryTime))

	It("is forbidden nothing", func(SpecContext) {
		suite.ExpectNothingForbidden(suite.ThisSpec(), story.Bed)
	}, NodeTimeout(suite.SpecTime))

	It("leaves statuses that other tools understand", func(SpecContext) {
		verdicts.ExpectGood(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
})
