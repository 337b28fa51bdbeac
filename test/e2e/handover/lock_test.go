package handover_test

import (
	"context"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// handsOverByLock is protocol LeaderMigration with the real managers.
func (h *handovers) handsOverByLock(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.ByLock(ctx, s, u)
	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)

	handover := suite.Cluster(ctx, s, u).Status.Handover
	s.Expect(handover.Protocol).To(Equal(ucv1.LeaderMigrationProtocol))
	calls, samples := suite.Records(s, h.Bed)
	taken := handover.LockTakenAt.Add(time.Second) // The status has whole seconds.
	gaps := loops.Gaps(loops.OfCluster(samples, "lock"), handover.LoopsOffAt.Time, taken)
	for _, loop := range loops.CloudLoops() {
		s.Logf("gap of %s from KCM to the CCM: %.1f s, which is %.2f leases",
			loop, gaps[loop].Seconds(), gaps[loop].Seconds()/suite.LeaseDuration.Seconds())
	}
	balancers := loops.LoadBalancers(loops.OfCluster(calls, "lock"), handover.StartedAt.Time)
	s.Expect(balancers).To(Equal(loops.LoadBalancerSummary{Before: 1, Kept: 1}))
}
