package integration_test

import (
	"context"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// externalNode is a Node that an external kubelet registered and that no Machine stands behind.
func (w *world) externalNode(name string) {
	w.t.Helper()
	w.node(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
	})
	w.registerDriver(name)
}

func TestClusterCreatedWithTheFeature(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane("--cloud-provider=external", "--controllers=*")
	w.pool("pool", 1)
	w.externalNode("standing-alone")
	w.create(feature(true))
	control := w.touched()

	w.until("the hand-over", at(ucv1.StepHandover), w.playAddons)
	g.Expect(w.playCCM()).To(BeFalse(), "the fence is closed here, too")
	w.until("the end", at(ucv1.StepFinished), w.playEverybody)
	w.expectVerdict(kstatus.CurrentStatus)
	c, _ := w.cluster()
	g.Expect(w.condition("Ready").Reason).To(Equal("External"))
	g.Expect(w.condition("CSIKubeletMigrationCompleted")).To(BeZero(), "there is no such condition")
	g.Expect(c.Annotations).To(BeEmpty())
	g.Expect(c.Status.Origin).To(Equal(ucv1.OriginExternal))
	g.Expect(c.Status.StartedAt).To(BeNil())
	g.Expect(c.Status.RollGeneration).To(BeEmpty())
	g.Expect(w.machineNames()).To(ConsistOf("pool-0-0"), "nothing is rolled")
	after := w.snapshot()
	for object, version := range control {
		g.Expect(after).To(HaveKeyWithValue(object, version), "nothing of the control plane is changed")
	}
	w.expectIdle()
}

func TestClusterCreatedWithTheFeatureWhoseKCMRunsLoops(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.create(feature(true))
	management, user := w.touched(), w.userSnapshot()
	w.passes(6)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled")).To(And(HaveField("Reason", "CloudLoopsRunning"), HaveField("Message", And(
		ContainSubstring("cloud-node-lifecycle-controller, service-lb-controller"),
		ContainSubstring("--cloud-provider=simcloud --controllers=*,bootstrapsigner"), ContainSubstring(w.namespace+"/"+kcm)))))
	g.Expect(w.ccmDeployed()).To(BeFalse(), "never a CCM beside it")
	g.Expect(w.touched()).To(Equal(management))
	g.Expect(w.userSnapshot()).To(Equal(user))

	// Its template says external, but a pod of the old one is left.
	deployment := w.deployment(kcm)
	deployment.Spec.Template.Spec.Containers[0].Command = []string{kcm, "--cloud-provider=external"}
	g.Expect(suite.client.Update(t.Context(), deployment)).To(Succeed())
	w.playDeployment(kcm)
	w.passes(2)
	g.Expect(w.condition("Stalled").Reason).To(Equal("CloudLoopsRunning"))
	g.Expect(w.ccmDeployed()).To(BeFalse())

	w.until("the end", at(ucv1.StepFinished), w.playEverybody)
	g.Expect(w.condition("Ready").Reason).To(Equal("External"))
}

func TestClusterEditedBeforeItWasSeen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments []string
		want      ucv1.Origin
	}{
		"comes from in-tree when its KCM runs loops": {loopsOn(), ucv1.OriginMigrating},
		"was external when its KCM runs none":        {[]string{"--cloud-provider=external"}, ucv1.OriginExternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			w.create()
			w.edit(feature(true))
			w.passes(3)
			g.Expect(w.status().Origin).To(BeEmpty(), "it cannot be told")
			w.expectVerdict(kstatus.FailedStatus)
			g.Expect(w.condition("Stalled").Message).To(ContainSubstring(w.namespace + "/" + kcm + " does not exist"))
			w.deployControlPlane(tc.arguments...)
			w.passes(2)
			g.Expect(w.status().Origin).To(Equal(tc.want))
		})
	}
}

func TestForeignAddonsBlockUntilTheyAreAdopted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane("--cloud-provider=external")
	w.externalNode("a")
	theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceSystem, Name: ccm, Annotations: map[string]string{"meta.helm.sh/release-name": "simcloud-ccm"},
	}}
	g.Expect(w.user.client.Create(t.Context(), theirs)).To(Succeed())
	t.Cleanup(func() {
		g.Expect(client.IgnoreNotFound(w.user.client.Delete(context.WithoutCancel(t.Context()), theirs))).To(Succeed())
	})
	w.create(feature(true))
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "ForeignObjects" }, w.playEverybody)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled").Message).To(And(
		ContainSubstring(
			"ServiceAccount kube-system/cloud-controller-manager (Helm release simcloud-ccm",
		),
		ContainSubstring("spec.addons.adoption"),
	))
	g.Expect(w.condition("CloudControllerManagerReady").Reason).To(Equal("ForeignObjects"))
	g.Expect(w.ccmDeployed()).To(BeFalse())

	w.edit(func(c *ucv1.Cluster) { c.Spec.Addons.Adoption = ucv1.Adopt })
	w.until("the end", at(ucv1.StepFinished), w.playEverybody)
	w.expectVerdict(kstatus.CurrentStatus)
}
