package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// probeObjects says how much of the probe is in the user cluster.
func (w *world) probeObjects() (there int) {
	w.t.Helper()
	g := NewWithT(w.t)
	for _, object := range []client.Object{&appsv1.Deployment{}, &coordinationv1.Lease{}} {
		err := w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm + "-probe"}, object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		if err == nil {
			there++
		}
	}
	bindings := &rbacv1.RoleBindingList{}
	g.Expect(w.user.client.List(w.t.Context(), bindings, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	for _, binding := range bindings.Items {
		for _, subject := range binding.Subjects {
			if subject.Name == ccm+"-probe" {
				there++
			}
		}
	}
	return there
}

func TestAProbeThatDoesNotLeadLeavesKCMAlone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.probeDies = true
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	generation := w.deployment(kcm).Generation
	w.until("a probe", func(*ucv1.Cluster) bool { return w.probeObjects() == 4 }, w.playEverybody)
	w.until(
		"a failure",
		func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "ProbeFailed" },
		w.playEverybody,
		func() {
			w.clock.Step(10 * time.Second)
		},
	)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("HandoverCompleted").Message).To(ContainSubstring("KCM was not touched"))
	g.Expect(w.deployment(kcm).Generation).To(Equal(generation))
	g.Expect(w.probeObjects()).To(BeZero(), "it is removed whatever happens")

	w.probeDies = false
	configuration := simcloudConfig()
	configuration["token"] = []byte("another")
	w.secret("cloud-config", configuration)
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.probeObjects()).To(BeZero())
}
