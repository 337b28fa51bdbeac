package leases

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	restfake "k8s.io/client-go/rest/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// ccmPod is a pod of the CCM's identity.
func ccmPod(name string, ended bool) *corev1.Pod {
	id := simcloud.Profile{}.Identity()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: id.ServiceAccountNamespace, Name: name, UID: types.UID("uid-" +
			name), Finalizers: []string{"test/kept"}},
		Spec: corev1.PodSpec{ServiceAccountName: id.ServiceAccountName, NodeName: "n", Containers: []corev1.Container{{Name: "ccm"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "ccm", ContainerID: "c-" + name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
	if ended {
		pod.DeletionTimestamp = new(metav1.NewTime(start))
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: "c-" +
			name}}
	}
	return pod
}

func TestProcessesThatMayHoldTheLease(t *testing.T) {
	g := NewWithT(t)
	lists := 0
	s, clk := electionsWith(
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
			lists++
			return c.List(ctx, l, o...)
		}},
		ccmPod("b", false),
	)
	store := &formerStore{former: s.former, wake: func() {}}
	look := func(holder string) []observation.Process {
		seen := s.Processes(t.Context(), simcloud.Profile{}.Identity(), nil, observation.Lease{Holder: holder}, nil)
		g.Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
		return seen.Value()
	}
	g.Expect(store.Replace([]any{ccmPod("a", false), ccmPod("b", false)}, "1")).To(Succeed())
	g.Expect(look("a_1")).To(BeEmpty())
	g.Expect(store.Update(ccmPod("a", true))).To(Succeed())
	g.Expect(store.Delete(ccmPod("a", true))).To(Succeed())
	g.Expect(look("b_1")).To(BeEmpty())
	g.Expect(lists).To(BeZero(), "no end that concerns the Lease costs no request")
	g.Expect(look("a_1")).To(ConsistOf(
		And(HaveField("PodName", "a"), HaveField("Ended", true), HaveField("EndedAt", clk.Now())),
		And(HaveField("PodName", "b"), HaveField("Ended", false))))
	g.Expect(lists).To(Equal(1))
}

func TestProcessesThatCannotBeListedAreUnknown(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(failing(errors.New("timeout")))
	s.former.See(ccmPod("a", true))
	seen := s.Processes(t.Context(), simcloud.Profile{}.Identity(), nil, observation.Lease{Holder: "a_1"}, nil)
	g.Expect(seen.IsUnknown()).To(BeTrue())
}

// watchingPods lets reads be kept, while a watch shows the pods, of which there are none.
func watchingPods(t *testing.T, s *Elections) {
	served := &restfake.RESTClient{
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(), GroupVersion: corev1.SchemeGroupVersion, VersionedAPIPath: "/api/v1",
		Client: restfake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
			body := io.NopCloser(strings.NewReader(`{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"1"}}`))
			if r.URL.Query().Get("watch") != "" {
				body, _ = io.Pipe()
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
		}),
	}
	s.watches = watches.New(watches.Clients{Pods: served}, func() {}, logr.Discard())
	s.watches.Keep(kept.NewTotal(1 << 20))
	s.watches.Set(true)
	t.Cleanup(s.watches.Close)
	id := simcloud.Profile{}.Identity()
	s.watchProcesses(id)
	account := types.NamespacedName{Namespace: id.ServiceAccountNamespace, Name: id.ServiceAccountName}
	NewWithT(t).Eventually(func() bool { return s.watches.MarkOfPods(account).Watched }, time.Minute).Should(BeTrue())
}

func TestProcessesAreKeptWhereAWatchShowsThem(t *testing.T) {
	beside := &manifest.Access{Secret: observation.Ref{Kind: "Secret", Namespace: "user-a", Name: "credentials"}}
	for name, tc := range map[string]struct {
		access *manifest.Access
		lists  int
	}{
		"those in the user cluster are read once":                    {nil, 1},
		"those beside the control plane are read each time, of both": {beside, 4},
	} {
		t.Run(name, func(t *testing.T) {
			g, lists := NewWithT(t), 0
			counting := interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
					lists++
					return c.List(ctx, l, o...)
				},
			}
			s, clk := electionsWith(counting)
			s.management = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(counting).Build()
			watchingPods(t, s)
			s.former.See(ccmPod("a", true))
			for range 2 {
				seen := s.Processes(t.Context(), simcloud.Profile{}.Identity(), tc.access, observation.Lease{Holder: "a_1"},
					controlplane.NewFormer(clk))
				g.Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
			}
			g.Expect(lists).To(Equal(tc.lists))
		})
	}
}

func TestALeaseIsFreedAsItWasSeen(t *testing.T) {
	g := NewWithT(t)
	s, _ := electionsWith(interceptor.Funcs{}, lease("a", start))
	seen := s.Lease(t.Context(), "kube-system", "manager").Value()
	g.Expect(s.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "manager"}, lease("", start))).To(Succeed())
	renewed := lease("a", start)
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(renewed), renewed)).To(Succeed())
	renewed.Annotations = map[string]string{"written": "since"}
	g.Expect(s.client.Update(t.Context(), renewed)).To(Succeed())
	g.Expect(s.FreeLease(t.Context(), seen)).To(
		MatchError(ContainSubstring("free Lease kube-system/manager")),
		"it was written since",
	)

	g.Expect(s.FreeLease(t.Context(), s.Lease(t.Context(), "kube-system", "manager").Value())).To(Succeed())
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(renewed), renewed)).To(Succeed())
	g.Expect(renewed.Spec.HolderIdentity).To(BeNil())
	g.Expect(renewed.Spec.LeaseDurationSeconds).To(HaveValue(Equal(int32(15))))
	g.Expect(renewed.Spec.RenewTime.Time.Equal(start)).To(BeTrue())
	cleared := s.Lease(t.Context(), "kube-system", "manager").Value()
	g.Expect(cleared.Holder).To(BeEmpty())
	g.Expect(cleared.RenewedBy).To(Equal(start), "who clears it does not renew it")

	g.Expect(s.client.Delete(t.Context(), renewed)).To(Succeed())
	g.Expect(s.FreeLease(t.Context(), seen)).To(Succeed(), "one that is gone is free")
}

func TestALeaseTellsWhoWasSeenToTakeIt(t *testing.T) {
	g := NewWithT(t)
	s, clk := electionsWith(interceptor.Funcs{}, lease("a", start))
	g.Expect(s.Lease(t.Context(), "kube-system", "manager").Value().HeldSince).To(BeZero(), "it was held when we looked first")
	clk.SetTime(start.Add(1))
	live := lease("b", start)
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(live), live)).To(Succeed())
	live.Spec.HolderIdentity = new("b")
	g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
	g.Expect(s.Lease(t.Context(), "kube-system", "manager").Value().HeldSince).To(Equal(start.Add(1)))
}
