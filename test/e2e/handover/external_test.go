package handover_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// These are user clusters whose KCM runs as static pods that only their administrators can change.

func (h *handovers) follows(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.Flip(ctx, s, u)
	instructions := h.instructions(ctx, s, u, "the first ones", leaderIsLast)
	s.Expect(instructions[2].Node).To(Equal(h.leaderNode(ctx, s, u)), "the leader's Node is last")
	h.expectSilentCCM(s, u)
	h.administer(ctx, s, u, ucv1.StepHandover)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)
	h.administer(ctx, s, u, ucv1.StepFinalize)
	h.WaitForCluster(ctx, s, u, "the end", suite.IsTrue(ucv1.InTreeConfigurationRemovedCondition))
}

func (h *handovers) followsAlone(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.Flip(ctx, s, u)
	h.administer(ctx, s, u, ucv1.StepHandover)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)
}

func (h *handovers) goesAstray(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	h.Flip(ctx, s, u)
	first := h.instructions(ctx, s, u, "the first ones", leaderIsLast)
	leader := first[2].Node
	s.Expect(u.Follow(first[2])).To(Succeed(), "the leader's Node, which is the last one")
	second := h.instructions(ctx, s, u, "the leader's Node to be done", func(all []ucv1.Instruction) bool {
		return len(open(all)) == 2 && !isOpen(all, leader)
	})
	left := open(second)
	s.Expect(u.Follow(left[0])).To(Succeed())
	h.instructions(ctx, s, u, "one to be left", func(all []ucv1.Instruction) bool {
		return len(open(all)) == 1 && isOpen(all, left[1].Node)
	})

	s.Consistently(func(g Gomega) {
		g.Expect(h.Err()).NotTo(HaveOccurred())
		g.Expect(h.fenceIsClosed(ctx, u)).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.AstrayTime).WithPolling(suite.PollTime).Should(Succeed())
	cluster, err := u.Get(ctx)
	s.Expect(err).NotTo(HaveOccurred())
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	s.Expect(ready.Reason).To(Equal(ucv1.WaitingForAdministratorReason))
	s.Expect(ready.Message).To(And(ContainSubstring("Node "+left[1].Node),
		Not(ContainSubstring("Node "+leader)), Not(ContainSubstring("Node "+left[0].Node))))
	h.expectSilentCCM(s, u)

	h.administer(ctx, s, u, ucv1.StepHandover)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)
}

func leaderIsLast(all []ucv1.Instruction) bool { return len(all) == 3 && all[2].Leader }

// leaderNode is the Node whose KCM holds the Lease: its identity begins with the Node's name.
func (h *handovers) leaderNode(ctx context.Context, s *suite.Scene, u *bed.UserCluster) string {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	s.Expect(u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: suite.KCM}, lease)).To(Succeed())
	node, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	s.Expect(u.ControlPlaneNodes()).To(ContainElement(node))
	return node
}

// instructions waits until those in the status fit.
func (h *handovers) instructions(
	ctx context.Context, s *suite.Scene, u *bed.UserCluster, what string, fit func([]ucv1.Instruction) bool,
) []ucv1.Instruction {
	GinkgoHelper()
	var found []ucv1.Instruction
	h.WaitForCluster(ctx, s, u, "instructions: "+what, func(cluster *ucv1.Cluster) string {
		if found = cluster.Status.Instructions; fit(found) {
			return ""
		}
		return fmt.Sprintf("step %s, %+v", cluster.Status.Step, found)
	})
	return found
}

// open are those that are not done yet.
func open(all []ucv1.Instruction) []ucv1.Instruction {
	return slices.DeleteFunc(slices.Clone(all), func(i ucv1.Instruction) bool { return i.Done })
}

func isOpen(all []ucv1.Instruction, node string) bool {
	return slices.ContainsFunc(open(all), func(i ucv1.Instruction) bool { return i.Node == node })
}

// administer does the next thing that the instructions say, each once and one after the other, until the step is over.
func (h *handovers) administer(ctx context.Context, s *suite.Scene, u *bed.UserCluster, last ucv1.Step) {
	GinkgoHelper()
	followed := map[string]bool{}
	what := "Cluster " + u.Options.Name + ": the administrator to be done with step " + string(last)
	err := h.WaitFor(ctx, what, 2*suite.Patience, func(ctx context.Context) (string, error) {
		cluster, err := u.Get(ctx)
		if err != nil {
			return "", err
		}
		handover := cluster.Status.Handover
		isHandedOver := handover != nil && handover.FinishedAt != nil
		if last == ucv1.StepHandover && isHandedOver || cluster.Status.Step == ucv1.StepFinished {
			return "", nil
		}
		if left := open(cluster.Status.Instructions); len(left) > 0 && len(left[0].Set)+len(left[0].Remove) > 0 {
			next := left[0]
			if key := fmt.Sprint(next.Node, next.Set, next.Remove); !followed[key] {
				followed[key] = true
				s.Logf("Node %s: set %v, remove %v", next.Node, next.Set, next.Remove)
				return "the next one", u.Follow(next)
			}
		}
		ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
		return fmt.Sprintf("step %s: %+v", cluster.Status.Step, ready), nil
	})
	s.Expect(err).NotTo(HaveOccurred())
}
