package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// TestExternal hands over user clusters whose KCM runs as static pods that only their administrators can change.
func TestExternal(t *testing.T) {
	h := startHandovers(t, "external",
		bed.UserClusterOptions{Name: "three", ControlPlaneNodes: 3},
		bed.UserClusterOptions{Name: "one", ControlPlaneNodes: 1, WithoutElection: true},
		bed.UserClusterOptions{Name: "astray", ControlPlaneNodes: 3},
	)
	defer expectStopped(t, h.Bed, h.Stop)
	verdicts := watchClusters(t, h.Bed)

	t.Run("administrators", func(t *testing.T) {
		t.Run("one who follows the instructions gets to the end", h.follows)
		t.Run("one with a single Node without leader election, too", h.followsAlone)
		t.Run("nothing opens for one who takes the wrong order and stops half way", h.goesAstray)
	})
	expectNothingRanTwice(t, h.Bed)
	expectNothingForbidden(t, h.Bed)
	verdicts.expectGood(t)
}

func (h *handovers) follows(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["three"]
	h.flip(t, u)
	instructions := h.instructions(t, u, "the first ones", func(all []ucv1.Instruction) bool { return len(all) == 3 && all[2].Leader })
	g.Expect(instructions[2].Node).To(Equal(h.leaderNode(t, u)), "the leader's Node is last")
	h.expectSilentCCM(t, u)
	h.administer(t, u, ucv1.StepHandover)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
	h.administer(t, u, ucv1.StepFinalize)
	waitForCluster(t, h.Bed, u, "the end", isTrue(ucv1.InTreeConfigurationRemovedCondition))
}

func (h *handovers) followsAlone(t *testing.T) {
	t.Parallel()
	u := h.clusters["one"]
	h.flip(t, u)
	h.administer(t, u, ucv1.StepHandover)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
}

func (h *handovers) goesAstray(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["astray"]
	h.flip(t, u)
	first := h.instructions(t, u, "the first ones", func(all []ucv1.Instruction) bool { return len(all) == 3 && all[2].Leader })
	leader := first[2].Node
	g.Expect(u.Follow(first[2])).To(Succeed(), "the leader's Node, which is the last one")
	second := h.instructions(t, u, "the leader's Node to be done", func(all []ucv1.Instruction) bool { return len(undone(all)) == 2 && !undoneNode(all, leader) })
	left := undone(second)
	g.Expect(u.Follow(left[0])).To(Succeed())
	h.instructions(t, u, "one to be left", func(all []ucv1.Instruction) bool { return len(undone(all)) == 1 && undoneNode(all, left[1].Node) })

	g.Consistently(func(g Gomega) {
		g.Expect(h.Err()).NotTo(HaveOccurred())
		g.Expect(h.fenceIsClosed(t.Context(), u)).To(Succeed())
	}).WithTimeout(4 * leaseDuration).WithPolling(pollTime).Should(Succeed())
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	g.Expect(ready.Reason).To(Equal(ucv1.WaitingForAdministratorReason))
	g.Expect(ready.Message).To(And(ContainSubstring("Node "+left[1].Node), Not(ContainSubstring("Node "+leader)), Not(ContainSubstring("Node "+left[0].Node))))
	h.expectSilentCCM(t, u)

	h.administer(t, u, ucv1.StepHandover)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
}

// leaderNode is the Node whose KCM holds the Lease: its identity begins with the Node's name.
func (h *handovers) leaderNode(t *testing.T, u *bed.UserCluster) string {
	t.Helper()
	g := NewWithT(t)
	lease := &coordinationv1.Lease{}
	g.Expect(u.Client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmName}, lease)).To(Succeed())
	node, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	g.Expect(u.ControlPlaneNodes()).To(ContainElement(node))
	return node
}

// instructions waits until those in the status fit.
func (h *handovers) instructions(t *testing.T, u *bed.UserCluster, what string, fit func([]ucv1.Instruction) bool) []ucv1.Instruction {
	t.Helper()
	var found []ucv1.Instruction
	waitForCluster(t, h.Bed, u, "instructions: "+what, func(cluster *ucv1.Cluster) string {
		if found = cluster.Status.Instructions; fit(found) {
			return ""
		}
		return fmt.Sprintf("step %s, %+v", cluster.Status.Step, found)
	})
	return found
}

func undone(all []ucv1.Instruction) []ucv1.Instruction {
	return slices.DeleteFunc(slices.Clone(all), func(i ucv1.Instruction) bool { return i.Done })
}

func undoneNode(all []ucv1.Instruction, node string) bool {
	return slices.ContainsFunc(undone(all), func(i ucv1.Instruction) bool { return i.Node == node })
}

// administer does the next thing that the instructions say, each once and one after the other, until the step is over.
func (h *handovers) administer(t *testing.T, u *bed.UserCluster, last ucv1.Step) {
	t.Helper()
	followed := map[string]bool{}
	err := h.WaitFor(t.Context(), "Cluster "+u.Options.Name+": the administrator to be done with step "+string(last), 2*patience, func(ctx context.Context) (string, error) {
		cluster, err := u.Get(ctx)
		if err != nil {
			return "", err
		}
		if last == ucv1.StepHandover && cluster.Status.Handover != nil && cluster.Status.Handover.FinishedAt != nil || cluster.Status.Step == ucv1.StepFinished {
			return "", nil
		}
		if left := undone(cluster.Status.Instructions); len(left) > 0 && len(left[0].Set)+len(left[0].Remove) > 0 {
			next := left[0]
			if key := fmt.Sprint(next.Node, next.Set, next.Remove); !followed[key] {
				followed[key] = true
				t.Logf("%s: Node %s: set %v, remove %v", time.Now().Format(time.TimeOnly), next.Node, next.Set, next.Remove)
				return "the next one", u.Follow(next)
			}
		}
		ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
		return fmt.Sprintf("step %s: %+v", cluster.Status.Step, ready), nil
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}
