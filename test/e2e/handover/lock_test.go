package e2e_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// TestHandoverByTheMigrationLock is protocol LeaderMigration with the real managers.
func TestHandoverByTheMigrationLock(t *testing.T) {
	g := NewWithT(t)
	h := startHandovers(t, "lock", bed.UserClusterOptions{Name: "lock"})
	defer expectStopped(t, h.Bed, h.Stop)
	verdicts := watchClusters(t, h.Bed)
	u := h.clusters["lock"]

	h.byLock(t, u)
	h.flip(t, u)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)

	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	handover := cluster.Status.Handover
	g.Expect(handover.Protocol).To(Equal(ucv1.LeaderMigrationProtocol))
	calls, samples := records(t, h.Bed)
	taken := handover.LockTakenAt.Add(time.Second) // The status has whole seconds.
	gaps := loops.Gaps(loops.OfCluster(samples, "lock"), handover.LoopsOffAt.Time, taken)
	for _, loop := range loops.CloudLoops() {
		t.Logf("gap of %s from KCM to the CCM: %.1f s, which is %.2f leases", loop, gaps[loop].Seconds(), gaps[loop].Seconds()/leaseDuration.Seconds())
	}
	balancers := loops.LoadBalancers(loops.OfCluster(calls, "lock"), handover.StartedAt.Time)
	g.Expect(balancers).To(Equal(loops.LoadBalancerSummary{Before: 1, Kept: 1}))
	expectNothingRanTwice(t, h.Bed)
	expectNothingForbidden(t, h.Bed)
	verdicts.expectGood(t)
}

// byLock asks for protocol LeaderMigration.
func (h *handovers) byLock(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"handover":{"protocol":"LeaderMigration"}}}`))
	g.Expect(h.Client.Patch(t.Context(), cluster, patch)).To(Succeed())
}
