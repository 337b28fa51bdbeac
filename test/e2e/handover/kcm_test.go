package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const kcmName = "kube-controller-manager"

// survivors are pods whose processes outlive them.
type survivors struct {
	mu   sync.Mutex
	pods map[types.UID]bool
}

func (s *survivors) outlive(pod *corev1.Pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[pod.UID]
}

func (s *survivors) set(pod *corev1.Pod, outlives bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[pod.UID] = outlives
}

// holdRollouts makes the Deployment's controller keep the old pods, whatever becomes of the new ones.
func holdRollouts(t *testing.T, b *bed.Bed, u *bed.UserCluster, hold bool) {
	t.Helper()
	seconds := 0
	if hold {
		seconds = 3600
	}
	patch := fmt.Appendf(nil, `{"spec":{"minReadySeconds":%d,"progressDeadlineSeconds":%d}}`, seconds, seconds+600)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: kcmName}}
	NewWithT(t).Expect(b.Client.Patch(t.Context(), deployment, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// leaderPod is the pod that holds KCM's Lease; standbyPod is another one.
func leaderPod(t *testing.T, b *bed.Bed, u *bed.UserCluster) *corev1.Pod {
	t.Helper()
	return kcmPod(t, b, u, true)
}

func standbyPod(t *testing.T, b *bed.Bed, u *bed.UserCluster) *corev1.Pod {
	t.Helper()
	return kcmPod(t, b, u, false)
}

func kcmPod(t *testing.T, b *bed.Bed, u *bed.UserCluster, leads bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	err := b.WaitFor(t.Context(), fmt.Sprintf("a KCM pod of %s whose leadership is %t", u.Options.Name, leads), patience, func(ctx context.Context) (string, error) {
		lease := &coordinationv1.Lease{}
		if err := u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmName}, lease); err != nil {
			return "", err
		}
		pods := &corev1.PodList{}
		if err := b.Client.List(ctx, pods, client.InNamespace(u.Namespace), client.MatchingLabels{"app": kcmName}); err != nil {
			return "", err
		}
		for i := range pods.Items {
			holds := strings.HasPrefix(ptr.Deref(lease.Spec.HolderIdentity, ""), pods.Items[i].Name+"_")
			if holds == leads && pods.Items[i].DeletionTimestamp == nil {
				found = &pods.Items[i]
				return "", nil
			}
		}
		return "the Lease is held by " + ptr.Deref(lease.Spec.HolderIdentity, "nobody"), nil
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return found
}

// deleteAtOnce is what kubectl delete --force does: nobody asks the kubelet.
func deleteAtOnce(t *testing.T, b *bed.Bed, pod *corev1.Pod) {
	t.Helper()
	NewWithT(t).Expect(b.Client.Delete(t.Context(), pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})).To(Succeed())
}
