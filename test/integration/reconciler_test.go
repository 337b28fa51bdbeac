package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestAControlPlaneThatOthersReconcileIsNotChanged(t *testing.T) {
	t.Parallel()
	applied := func(w *world) {
		container := applycorev1.Container().WithName(kcm).WithCommand(w.deployment(kcm).Spec.Template.Spec.Containers[0].Command...)
		patch := applyappsv1.Deployment(kcm, w.namespace).WithSpec(applyappsv1.DeploymentSpec().WithTemplate(
			applycorev1.PodTemplateSpec().WithSpec(applycorev1.PodSpec().WithContainers(container))))
		NewWithT(w.t).Expect(suite.client.Apply(w.t.Context(), patch, client.FieldOwner("tenants"), client.ForceOwnership)).To(Succeed())
	}
	marked := func(mark func(*appsv1.Deployment)) func(*world) {
		return func(w *world) {
			deployment := w.deployment(kcm)
			mark(deployment)
			NewWithT(w.t).Expect(suite.client.Update(w.t.Context(), deployment)).To(Succeed())
		}
	}
	for name, tc := range map[string]struct {
		by   string
		mark func(*world)
	}{
		"by Argo CD": {"Argo CD application tenants", marked(func(d *appsv1.Deployment) {
			d.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "tenants:apps/Deployment:x/kube-controller-manager"}
		})},
		"by whoever applies its arguments": {"field manager tenants", applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			w.deployControlPlane(loopsOn()...)
			w.pool("pool", 1)
			w.playKCM(kcm + "-r1-0")
			tc.mark(w)
			w.flip()
			before := w.deployment(kcm)
			w.until("a call", func(*ucv1.Cluster) bool { return w.condition("Stalled").Status == metav1.ConditionTrue }, w.playLeaders)
			g.Expect(w.findings()).To(ContainElement(And(HaveField("ID", "ControlPlaneReconciled"),
				HaveField("Objects", ConsistOf(ContainSubstring("kube-controller-manager ("+tc.by))))))
			g.Expect(w.deployment(kcm).ResourceVersion).To(Equal(before.ResourceVersion))
			w.edit(accepting("ControlPlaneReconciled"))
			w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil }, w.playLeaders)
		})
	}
}

// Whoever reconciles KCM may be asleep when we change it, and see the touch only.
func TestAReconcilerWithoutAMarkIsFoundBeforeTheCCMMayLead(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the touch", func(c *ucv1.Cluster) bool {
		return c.Status.Handover != nil && c.Status.Handover.TouchedAt != nil
	}, "pool")
	touched := w.deployment(kcm)
	g.Expect(touched.Annotations).To(HaveKey(ucv1.TouchedAnnotation))
	g.Expect(touched.Spec.Template.Annotations).NotTo(HaveKey(ucv1.TouchedAnnotation), "a touch rolls nothing")
	w.clock.Step(2900 * time.Millisecond)
	w.playEverybody()
	w.pass()
	g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil(), "it has three seconds")
	g.Expect(w.condition("HandoverCompleted").Message).To(ContainSubstring("to write its former arguments back"))
	deployment := w.deployment(kcm)
	deployment.Spec.Template.Spec.Containers[0].Command = append([]string{kcm}, loopsOn()...)
	g.Expect(suite.client.Update(t.Context(), deployment, client.FieldOwner("reconciler"))).To(Succeed())
	w.clock.Step(time.Second)
	w.passes(3)
	g.Expect(w.status().Handover.FenceOpenedAt).To(BeNil())
	g.Expect(w.condition("Stalled")).To(
		And(HaveField("Reason", "CloudLoopsContended"), HaveField("Message", ContainSubstring("reconciler"))),
	)
}
