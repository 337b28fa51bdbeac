package roll_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// rolls is one testbed with a user cluster for each story.
type rolls struct{ *suite.Testbed }

// The labels of topics.
const (
	breaker    = "breaker"
	objectives = "objectives"
	planning   = "plan"
	hazardous  = "hazards"
)

var _ = Describe("Rolls", Ordered, ContinueOnFailure, func() {
	h := &rolls{Testbed: suite.NewTestbed()}
	BeforeAll(func(ctx SpecContext) {
		options, _ := suite.BedOptions("roll/bed")
		options.Audited = true
		h.Start(ctx, options)
	}, NodeTimeout(suite.StartTime))

	h.Stories.It("one in which the cloud stops to initialize Nodes half way",
		h.With(bed.UserClusterOptions{Name: "halfway"}, h.stopsHalfWay), Label(breaker))
	h.Stories.It("one whose MachineDeployments are paused while no new Node is initialized keeps all that serves",
		h.With(bed.UserClusterOptions{Name: "held"}, h.holdsWhateverIsPaused), Label(breaker))
	h.Stories.It("pools of odd shapes keep within their limits, also when the webhook refuses",
		h.With(bed.UserClusterOptions{Name: "odd"}, h.keepsWithinLimits), Label(breaker))
	h.Stories.It("one whose new Machines are made again and again calls for a person",
		h.With(bed.UserClusterOptions{Name: "joining", JoinTimeout: 40 * time.Second}, h.makesMachinesAgain), Label(breaker))
	h.Stories.It("one in which the objectives are violated halts until a person looked",
		h.With(bed.UserClusterOptions{Name: "slow"}, h.haltsWhenViolated), Label(objectives))

	h.Stories.It("what happens is what was planned: hosted",
		h.plans(bed.UserClusterOptions{Name: "hosted"}, h.withCanary), Label(planning))
	h.Stories.It("what happens is what was planned: external",
		h.plans(bed.UserClusterOptions{Name: "external", ControlPlaneNodes: 1}, nil), Label(planning))
	h.Stories.It("what happens is what was planned: beside",
		h.plans(bed.UserClusterOptions{Name: "beside", CCMBesideControlPlane: true}, nil), Label(planning))
	h.Stories.It("what happens is what was planned: paused",
		h.plans(bed.UserClusterOptions{Name: "paused"}, h.withPausedPool), Label(planning))

	h.hazards()

	// It comes after all stories, which have the same manager.
	It("one whose manager does not come back keeps all that serves", func(ctx SpecContext) {
		h.With(bed.UserClusterOptions{Name: "alone"}, h.goesOnWithoutManager)(ctx, suite.ThisSpec())
	}, NodeTimeout(suite.StoryTime), Label(breaker))

	all := Label(breaker, objectives, planning, hazardous)
	It("no cloud loop ran in two managers", func(SpecContext) {
		h.ExpectNothingRanTwice(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), Label(breaker, objectives, planning))
	It("the manager was forbidden nothing", func(SpecContext) {
		h.ExpectNothingForbidden(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), all)
	It("every status was one that other tools understand", func(SpecContext) {
		h.ExpectGoodVerdicts(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime), all)
})
