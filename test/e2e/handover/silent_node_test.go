package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	firstNode  = "management-0"
	secondNode = "management-1"
	// kubeletTime is what a kubelet gets to end a KCM process whose pod is gone: the grace period, and 30 seconds.
	kubeletTime = 40 * time.Second
)

// standbyOutlives: the pod of KCM's standby, which the Lease says nothing about, is deleted by force on a Node whose
// kubelet is cut off. When the kubelet comes back it needs its time to end the process, however long it was away.
func (h *handovers) standbyOutlives(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["standby"]
	standby := h.moveStandby(t, u)
	holdRollouts(t, h.Bed, u, true)
	h.flip(t, u)
	h.recorded(t, u)
	management := h.Kubelet(bed.ManagementName)
	management.SetNodeSilent(secondNode, true)
	h.survivors.set(standby, true)
	deleteAtOnce(t, h.Bed, standby)
	holdRollouts(t, h.Bed, u, false)
	g.Expect(h.WaitForDeployment(u.Namespace, kcmName)).To(Succeed())

	g.Expect(h.unvouched(t.Context(), u, standby.Name, kubeletTime+leaseDuration)).To(Succeed(), "while the kubelet is away")
	management.SetNodeSilent(secondNode, false)
	g.Expect(h.unvouched(t.Context(), u, standby.Name, kubeletTime/2)).To(Succeed(), "when the kubelet has just come back")
	h.expectSilentCCM(t, u)
	g.Expect(h.processesOf(t, bed.ManagementName, standby.Name)).To(HaveLen(1), "the process that outlives its pod")

	h.survivors.set(standby, false)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
}

// unvouched fails when within the time the hand-over went on, or somebody vouched for the end of the pod's process.
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
func (h *handovers) moveStandby(t *testing.T, u *bed.UserCluster) *corev1.Pod {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: secondNode, Labels: map[string]string{corev1.LabelHostname: secondNode, corev1.LabelOSStable: "linux"}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
	}
	g.Expect(h.Client.Create(ctx, node)).To(Succeed())
	old := standbyPod(t, h.Bed, u)
	h.cordon(t, firstNode, true)
	defer h.cordon(t, firstNode, false)
	g.Expect(h.Client.Delete(ctx, old)).To(Succeed())

	pending := &corev1.Pod{}
	g.Expect(h.waitForPod(ctx, u, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }, pending)).To(Succeed())
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: secondNode}}
	g.Expect(h.Client.SubResource("binding").Create(ctx, pending, binding)).To(Succeed())
	g.Expect(h.WaitForDeployment(u.Namespace, kcmName)).To(Succeed())
	moved := &corev1.Pod{}
	g.Expect(h.waitForPod(ctx, u, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == secondNode }, moved)).To(Succeed())
	return moved
}

func (h *handovers) cordon(t *testing.T, node string, on bool) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on))
	NewWithT(t).Expect(h.Client.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, patch)).To(Succeed())
}

// waitForPod fills in the first KCM pod that is not being deleted and fits.
func (h *handovers) waitForPod(ctx context.Context, u *bed.UserCluster, fits func(*corev1.Pod) bool, into *corev1.Pod) error {
	return h.WaitFor(ctx, "a KCM pod of "+u.Options.Name, patience, func(ctx context.Context) (string, error) {
		pods := &corev1.PodList{}
		if err := h.Client.List(ctx, pods, client.InNamespace(u.Namespace), client.MatchingLabels{"app": kcmName}); err != nil {
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
