package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// vanished is a hand-over in which the pods of the old KCM were deleted by force: no one saw their processes end.
func vanished(t *testing.T) *world {
	t.Helper()
	w := startedWorld(t, "the change of KCM", provingSilence, "pool")
	w.losePods()
	w.playKCM(kcm + "-r2-0")
	w.passes(2)
	return w
}

// losePods starts the new pods of KCM and deletes the old ones by force.
func (w *world) losePods() {
	w.t.Helper()
	deployment := w.deployment(kcm)
	newest := w.newest(deployment)
	w.startPods(newest)
	for _, pod := range w.pods(kcm) {
		if !metav1.IsControlledBy(&pod, newest) {
			w.forceDelete(&pod)
		}
	}
	w.report(deployment, newest)
}

func opened(c *ucv1.Cluster) bool { return c.Status.Handover.FenceOpenedAt != nil }

func TestAProcessThatOutlivesItsPodIsNeverProvenSilent(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := vanished(t)
	w.expectClosed("a vanished pod proves nothing")
	message := w.condition("HandoverCompleted").Message
	g.Expect(message).To(
		And(
			ContainSubstring(kcm+"-r1-0 vanished"),
			ContainSubstring("1 more process: Pod "+w.namespace+"/"+kcm+"-r1-1"),
			ContainSubstring("spec.handover.acceptLostManagers"),
		),
	)

	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.AcceptLostManagers = []string{kcm + "-r1-0"} })
	w.expectClosed("one of them is not accepted")
	g.Expect(w.condition("HandoverCompleted").Message).NotTo(ContainSubstring(kcm + "-r1-0"))

	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.AcceptLostManagers = []string{kcm + "-r1-0", kcm + "-r1-1"} })
	w.until("an open fence", opened, w.playEverybody)
}

func TestAKubeletThatGoesOnProvesTheEnd(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the change of KCM", provingSilence, "pool")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: w.namespace}}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(w.clock.Now()))
	g.Expect(suite.client.Create(t.Context(), lease)).To(Succeed())
	w.pass()
	w.losePods()
	w.playKCM(kcm + "-r2-0")
	w.pass()
	gone := w.clock.Now()
	w.until("an open fence", opened, func() {
		w.clock.Step(4 * time.Second)
		lease.Spec.RenewTime = new(metav1.NewMicroTime(w.clock.Now()))
		g.Expect(suite.client.Update(t.Context(), lease)).To(Succeed())
	})
	g.Expect(w.clock.Now().Sub(gone)).To(BeNumerically(">", 35*time.Second), "its grace period and 30 seconds more")
	g.Expect(w.status().Handover.Processes[0].EndedBecause).To(ContainSubstring("the kubelet of Node " + w.namespace))
}

func TestALeaseThatSomeoneElseRenewsContradictsSilence(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the change of KCM", provingSilence, "pool")
	stranger := func() { w.playKCM("another-host") }
	for range 12 {
		w.clock.Step(10 * time.Second)
		w.playControlPlane()
		stranger()
		w.pass()
		g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil())
	}
	g.Expect(w.condition("HandoverCompleted")).To(
		And(HaveField("Reason", "ProvingSilence"), HaveField("Message", ContainSubstring("another-host_1"))),
	)
	w.until("an open fence", opened, w.playEverybody)
}
