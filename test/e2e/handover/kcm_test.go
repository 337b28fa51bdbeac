package handover_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// holdRollouts makes the Deployment's controller keep the old pods, whatever becomes of the new ones.
func (h *handovers) holdRollouts(ctx context.Context, s *suite.Scene, u *bed.UserCluster, hold bool) {
	GinkgoHelper()
	seconds := 0
	if hold {
		seconds = 3600
	}
	patch := fmt.Appendf(nil, `{"spec":{"minReadySeconds":%d,"progressDeadlineSeconds":%d}}`, seconds, seconds+600)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: suite.KCM}}
	s.Expect(h.Client.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// leaderPod is the pod that holds KCM's Lease; standbyPod is another one.
func (h *handovers) leaderPod(ctx context.Context, s *suite.Scene, u *bed.UserCluster) *corev1.Pod {
	GinkgoHelper()
	return h.kcmPod(ctx, s, u, true)
}

func (h *handovers) standbyPod(ctx context.Context, s *suite.Scene, u *bed.UserCluster) *corev1.Pod {
	GinkgoHelper()
	return h.kcmPod(ctx, s, u, false)
}

func (h *handovers) kcmPod(ctx context.Context, s *suite.Scene, u *bed.UserCluster, leads bool) *corev1.Pod {
	GinkgoHelper()
	var found *corev1.Pod
	what := fmt.Sprintf("a KCM pod of %s whose leadership is %t", u.Options.Name, leads)
	err := h.WaitFor(ctx, what, suite.Patience, func(ctx context.Context) (string, error) {
		lease := &coordinationv1.Lease{}
		if err := u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: suite.KCM}, lease); err != nil {
			return "", err
		}
		pods := &corev1.PodList{}
		ofKCM := client.MatchingLabels{"app": suite.KCM}
		if err := h.Client.List(ctx, pods, client.InNamespace(u.Namespace), ofKCM); err != nil {
			return "", err
		}
		for i := range pods.Items {
			holds := strings.HasPrefix(ptr.Deref(lease.Spec.HolderIdentity, ""), pods.Items[i].Name+"_")
			if holds == leads && pods.Items[i].DeletionTimestamp == nil {
				found = &pods.Items[i]
				return "", nil
			}
		}
		return "the Lease is held by " + ptr.Deref(lease.Spec.HolderIdentity, "no one"), nil
	})
	s.Expect(err).NotTo(HaveOccurred())
	return found
}

// deleteAtOnce is what kubectl delete --force does: the kubelet is not asked.
func (h *handovers) deleteAtOnce(ctx context.Context, s *suite.Scene, pod *corev1.Pod) {
	GinkgoHelper()
	s.Expect(h.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})).To(Succeed())
}
