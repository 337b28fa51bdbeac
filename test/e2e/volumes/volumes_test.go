//go:build volumes

package volumes_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/keeper"
)

// volumes is one testbed with a user cluster for each story.
type volumes struct{ *suite.Testbed }

var _ = Describe("Volumes", Ordered, ContinueOnFailure, func() {
	h := &volumes{Testbed: suite.NewTestbed()}
	BeforeAll(func(ctx SpecContext) {
		options, _ := suite.BedOptions("volumes/bed")
		h.Start(ctx, options)
	}, NodeTimeout(suite.StartTime))

	h.Stories.It("a pod's data survive hand-over, roll and Finalize",
		h.With(bed.UserClusterOptions{Name: "kept"}, h.survive))
	h.Stories.It("one that the CSI driver makes after the hand-over blocks the rollback until it is deleted",
		h.With(bed.UserClusterOptions{Name: "late"}, h.blockRollback))
	h.Stories.It("one that is lost in the middle blocks Verify by name",
		h.With(bed.UserClusterOptions{Name: "lost"}, h.blockVerify))

	It("none was attached to two Nodes at once", func(SpecContext) {
		s := suite.ThisSpec()
		calls, _ := suite.Records(s, h.Bed)
		moves := follow(calls)
		s.Expect(moves.twice).To(BeEmpty(), "volumes that the cloud attached to a second instance")
		s.Expect(moves.places).NotTo(BeEmpty())
	}, NodeTimeout(suite.SpecTime))
	It("no cloud loop ran in two managers", func(SpecContext) {
		h.ExpectNothingRanTwice(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
	It("the manager was forbidden nothing", func(SpecContext) {
		h.ExpectNothingForbidden(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
	It("every status was one that other tools understand", func(SpecContext) {
		h.ExpectGoodVerdicts(suite.ThisSpec())
	}, NodeTimeout(suite.SpecTime))
})

// survive has data on a volume before anything is migrated.
func (h *volumes) survive(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.serve(ctx, s, u)
	volume := h.keep(ctx, s, u)
	checksum := h.checksum(s, u, volume)
	first := h.visits(s, u, volume)
	s.Expect(first).To(HaveLen(1))
	s.Expect(first[0].Did).To(Equal(keeper.Wrote))

	h.Patch(ctx, s, u, `{"spec":{"rollout":{"canary":"Machine"}}}`)
	h.Flip(ctx, s, u)
	for _, step := range []string{
		ucv1.HandoverCompletedCondition, ucv1.MachineDeploymentsRolledOutCondition, ucv1.CSIKubeletMigrationCompletedCondition,
		ucv1.InTreeConfigurationRemovedCondition,
	} {
		h.WaitForCluster(ctx, s, u, step, suite.IsTrue(step))
	}
	h.waitForKeeper(ctx, s, u)
	visits := h.visits(s, u, volume)
	s.Logf("the data were used at %v", visits)
	before, after := first[0].Node, visits[len(visits)-1].Node
	s.Expect(after).NotTo(Equal(before), "its Node was replaced")
	s.Expect(visits).To(Equal([]keeper.Visit{
		{Node: before, Did: keeper.Wrote}, {Node: before, Did: keeper.Left}, {Node: after, Did: keeper.Found},
	}), "the second process began when the first had ended")
	s.Expect(h.checksum(s, u, volume)).To(Equal(checksum))
	s.Expect(keeper.Check(h.disk(s, u, volume))).To(Succeed())

	calls, _ := suite.Records(s, h.Bed)
	places := follow(calls).places[place{cluster: u.Options.Name, volume: volume}]
	s.Expect(places).To(HaveLen(2), "the cloud attached it to one instance after the other: %v", places)
	s.Expect(h.Cloud.Snapshot(u.Options.Name).Volumes).To(HaveLen(1), "that of the canary is gone")
	s.Expect(madeIn(calls, u.Options.Name)).To(HaveLen(2), "the canary had one")
}

// blockRollback has a volume made when the driver is ours.
func (h *volumes) blockRollback(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.serve(ctx, s, u)
	h.hold(ctx, s, u, true)
	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	volume := h.keep(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the point of no return", func(cluster *ucv1.Cluster) string {
		if now := noReturn(cluster); now.State != ucv1.PointOfNoReturnPassed {
			return fmt.Sprintf("it is %s: %s", now.State, now.Reason)
		}
		return ""
	})
	cluster := suite.Cluster(ctx, s, u)
	s.Expect(noReturn(cluster).Reason).To(Equal("Only the CSI driver can serve these: PersistentVolume " + volume + "."))
	rollback := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"handover":{"rollback":true}}}`))
	s.Expect(h.Client.Patch(ctx, cluster, rollback)).To(MatchError(And(
		ContainSubstring("spec.handover.rollback is refused"), ContainSubstring("PersistentVolume "+volume))))

	h.letGo(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "a way back", func(cluster *ucv1.Cluster) string {
		if now := noReturn(cluster); now.State != ucv1.PointOfNoReturnAhead {
			return fmt.Sprintf("the point of no return is %s: %s", now.State, now.Reason)
		}
		return ""
	})
	s.Expect(h.Cloud.Snapshot(u.Options.Name).Volumes).To(BeEmpty(), "the provisioner deletes what no claim has any more")
	s.Expect(h.Client.Patch(ctx, suite.Cluster(ctx, s, u), rollback)).To(Succeed())
	h.WaitForCluster(ctx, s, u, "the end of its rollback", func(cluster *ucv1.Cluster) string {
		if cluster.Status.Step != ucv1.StepRolledBack {
			return "step " + string(cluster.Status.Step)
		}
		return ""
	})
}

// hold has the roll wait for the owner of the MachineDeployment. spec.handover.pauseBeforePointOfNoReturn would hold nothing
// once the point is passed.
func (h *volumes) hold(ctx context.Context, s *suite.Scene, u *bed.UserCluster, paused bool) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"paused":%t}}`, paused))
	s.Expect(u.Client.Patch(ctx, bed.MachineDeployment("pool", 1), patch)).To(Succeed())
}

func noReturn(cluster *ucv1.Cluster) ucv1.PointOfNoReturnStatus {
	if cluster.Status.Handover == nil || cluster.Status.Handover.PointOfNoReturn == nil {
		return ucv1.PointOfNoReturnStatus{}
	}
	return *cluster.Status.Handover.PointOfNoReturn
}

// blockVerify loses a volume whose pod the roll then moves: the attacher cannot attach it any more, and says so.
func (h *volumes) blockVerify(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.serve(ctx, s, u)
	volume := h.keep(ctx, s, u)
	h.hold(ctx, s, u, true)
	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "the hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	s.Expect(h.Cloud.LoseVolume(u.Options.Name, volume)).To(Succeed())
	h.hold(ctx, s, u, false)
	cluster := h.WaitForCluster(ctx, s, u, "a person to be called", func(cluster *ucv1.Cluster) string {
		stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition)
		if stalled == nil || stalled.Reason != ucv1.InventoryChangedReason {
			return fmt.Sprintf("step %s, Stalled is %+v", cluster.Status.Step, stalled)
		}
		return ""
	})
	stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition)
	s.Logf("%s", stalled.Message)
	s.Expect(stalled.Message).To(ContainSubstring("PersistentVolume " + volume + " fails"))
	s.Expect(strings.Count(stalled.Message, "PersistentVolume")).To(Equal(1), "nothing else is wrong")
	s.Expect(cluster.Status.Step).To(Equal(ucv1.StepVerify))
	s.Expect(cluster.Status.CompletedAt).To(BeNil())
}
