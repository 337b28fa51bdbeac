package handover_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	firstNode  = "management-0"
	secondNode = "management-1"
)

// standbyOutlives: the pod of KCM's standby, which the Lease says nothing about, is deleted by force on a Node whose
// kubelet is cut off. When the kubelet comes back it needs its time to end the process, however long it was away.
func (h *handovers) standbyOutlives(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	standby := h.moveStandby(ctx, s, u)
	h.holdRollouts(ctx, s, u, true)
	h.Flip(ctx, s, u)
	h.recorded(ctx, s, u)
	management := h.Kubelet(bed.ManagementName)
	management.SetNodeSilent(secondNode, true)
	h.Survivors.Set(standby, true)
	h.deleteAtOnce(ctx, s, standby)
	h.holdRollouts(ctx, s, u, false)
	s.Expect(h.WaitForDeployment(u.Namespace, suite.KCM)).To(Succeed())

	s.Expect(h.unvouched(ctx, u, standby.Name, suite.SilentTime)).To(Succeed(), "while the kubelet is away")
	management.SetNodeSilent(secondNode, false)
	s.Expect(h.unvouched(ctx, u, standby.Name, suite.BackTime)).To(Succeed(), "when the kubelet has just come back")
	h.expectSilentCCM(s, u)
	s.Expect(h.ProcessesOf(s, bed.ManagementName, standby.Name)).To(HaveLen(1), "the process that outlives its pod")

	h.Survivors.Set(standby, false)
	h.WaitForCluster(ctx, s, u, "the end of its hand-over", suite.IsTrue(ucv1.HandoverCompletedCondition))
	h.ExpectLeadingCCM(ctx, s, u)
}

// unvouched fails when within the time the hand-over went on, or the end of the pod's process was vouched for.
func (h *handovers) unvouched(ctx context.Context, u *bed.UserCluster, pod string, span time.Duration) error {
	until := time.Now().Add(span)
	return h.provingUntil(ctx, u, pod, func(process ucv1.ManagerProcess) (bool, error) {
		if process.EndedAt != nil {
			return false, fmt.Errorf("it counts as ended: %s", process.EndedBecause)
		}
		return time.Now().After(until), nil
	})
}

// moveStandby replaces the standby by one on a second Node, which nothing else is scheduled to.
func (h *handovers) moveStandby(ctx context.Context, s *suite.Scene, u *bed.UserCluster) *corev1.Pod {
	GinkgoHelper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: secondNode, Labels: map[string]string{
			corev1.LabelHostname: secondNode, corev1.LabelOSStable: "linux",
		}},
		Spec: corev1.NodeSpec{Unschedulable: true},
	}
	s.Expect(h.Client.Create(ctx, node)).To(Succeed())
	old := h.standbyPod(ctx, s, u)
	h.cordon(ctx, s, firstNode, true)
	defer h.cordon(ctx, s, firstNode, false)
	s.Expect(h.Client.Delete(ctx, old)).To(Succeed())

	pending := &corev1.Pod{}
	s.Expect(h.waitForPod(ctx, u, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }, pending)).To(Succeed())
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: secondNode}}
	s.Expect(h.Client.SubResource("binding").Create(ctx, pending, binding)).To(Succeed())
	s.Expect(h.WaitForDeployment(u.Namespace, suite.KCM)).To(Succeed())
	moved := &corev1.Pod{}
	isMoved := func(pod *corev1.Pod) bool { return pod.Spec.NodeName == secondNode }
	s.Expect(h.waitForPod(ctx, u, isMoved, moved)).To(Succeed())
	return moved
}

func (h *handovers) cordon(ctx context.Context, s *suite.Scene, node string, on bool) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on))
	s.Expect(h.Client.Patch(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, patch)).To(Succeed())
}

// waitForPod fills in the first KCM pod that is not being deleted and fits.
func (h *handovers) waitForPod(
	ctx context.Context, u *bed.UserCluster, fits func(*corev1.Pod) bool, into *corev1.Pod,
) error {
	return h.WaitFor(ctx, "a KCM pod of "+u.Options.Name, suite.Patience, func(ctx context.Context) (string, error) {
		pods := &corev1.PodList{}
		ofKCM := client.MatchingLabels{"app": suite.KCM}
		if err := h.Client.List(ctx, pods, client.InNamespace(u.Namespace), ofKCM); err != nil {
			return "", err
		}
		for i := range pods.Items {
			if pods.Items[i].DeletionTimestamp == nil && fits(&pods.Items[i]) {
				pods.Items[i].DeepCopyInto(into)
				return "", nil
			}
		}
		return fmt.Sprintf("none of %d fits", len(pods.Items)), nil
	})
}
