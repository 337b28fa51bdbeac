package integration_test

import (
	"context"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/providerprofile"
)

const (
	simcloudImages = "registry.example/simcloud/"
	someDigest     = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// putProfile makes a ProviderProfile of simcloud, or changes the one that is there.
func putProfile(t *testing.T, name string, change func(*ucv1.ProviderProfileSpec)) {
	t.Helper()
	g := NewWithT(t)
	profile := &ucv1.ProviderProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := suite.client.Get(t.Context(), client.ObjectKeyFromObject(profile), profile)
	profile.Spec = ucv1.ProviderProfileSpec{ProviderName: "simcloud"}
	change(&profile.Spec)
	if apierrors.IsNotFound(err) {
		g.Expect(suite.client.Create(t.Context(), profile)).To(Succeed())
		t.Cleanup(func() { removeProfile(t, name) })
		return
	}
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(suite.client.Update(t.Context(), profile)).To(Succeed())
}

// removeProfile is also called when the test is over, and its context with it.
func removeProfile(t *testing.T, name string) {
	t.Helper()
	profile := &ucv1.ProviderProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
	NewWithT(t).Expect(client.IgnoreNotFound(suite.client.Delete(context.WithoutCancel(t.Context()), profile))).To(Succeed())
}

// airGapped has all that a profile can say.
func airGapped(spec *ucv1.ProviderProfileSpec) {
	cpu := resource.MustParse("200m")
	spec.Mirrors = []ucv1.ImageMirror{{Source: "registry.example", Mirror: "mirror.example.com/all"}}
	spec.Images = []ucv1.ImageOverride{{Image: simcloudImages + ccm, Kubernetes: "1.30", Tag: "v1.30.99", Digest: someDigest}}
	spec.Workloads = []ucv1.WorkloadOverride{{
		Name: ccm, ExtraArguments: []string{"--concurrent-service-syncs=3"}, PriorityClassName: "system-node-critical",
		Resources:   &ucv1.ContainerResources{Requests: ucv1.ResourceAmounts{CPU: &cpu}},
		Tolerations: []ucv1.Toleration{{Key: "example.com/dedicated", Operator: ucv1.TolerationExists}},
	}}
}

// takingTheLead sets what no one but the controller does.
func takingTheLead(spec *ucv1.ProviderProfileSpec) {
	airGapped(spec)
	spec.Workloads[0].ExtraArguments = []string{"--leader-elect=false"}
}

func badProfiles() map[string]badInput {
	remove := func(w *world) { removeProfile(w.t, "simcloud") }
	return map[string]badInput{
		"a ProviderProfile with a flag that the hand-over rests on": {
			shared:  true,
			spoil:   func(w *world) { putProfile(w.t, "simcloud", takingTheLead) },
			verdict: kstatus.FailedStatus, reason: "InputInvalid",
			says: []string{"ProviderProfile simcloud cannot be used, and nothing of it is applied: " +
				"spec.workloads[0].extraArguments[0]: --leader-elect is the controller's", "Fix it, or delete it"},
			fix: func(w *world) { putProfile(w.t, "simcloud", airGapped) },
		},
		"a ProviderProfile with an image that no one knows": {
			shared: true,
			spoil: func(w *world) {
				putProfile(w.t, "simcloud", func(spec *ucv1.ProviderProfileSpec) {
					spec.Images = []ucv1.ImageOverride{{Image: "registry.example/other", Tag: "v1"}}
				})
			},
			verdict: kstatus.FailedStatus, reason: "InputInvalid",
			says: []string{`spec.images[0].image "registry.example/other" is not in the catalogue of simcloud`}, fix: remove,
		},
	}
}

// podSpecOf a workload of the user cluster.
func (w *world) podSpecOf(object client.Object, name string) corev1.PodSpec {
	w.t.Helper()
	NewWithT(w.t).Expect(
		w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}, object),
	).To(Succeed())
	if deployment, ok := object.(*appsv1.Deployment); ok {
		return deployment.Spec.Template.Spec
	}
	return object.(*appsv1.DaemonSet).Spec.Template.Spec
}

func TestProviderProfileArrivesInTheUserClusterAndGoes(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	putProfile(t, "simcloud", airGapped)

	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm + "-probe"}
	probe := func(*ucv1.Cluster) bool { return w.user.client.Get(t.Context(), key, &appsv1.Deployment{}) == nil }
	w.until("a probe", probe, w.playAddons)
	for _, name := range []string{ccm, ccm + "-probe"} {
		pod := w.podSpecOf(&appsv1.Deployment{}, name)
		g.Expect(pod.Containers[0].Image).To(Equal("mirror.example.com/all/simcloud/"+ccm+":v1.30.99@"+someDigest), name)
		g.Expect(pod.Containers[0].Args).To(ContainElements("--concurrent-service-syncs=3", "--leader-elect=true"), name)
		g.Expect(pod.Containers[0].Resources.Requests).To(And(HaveLen(1), HaveKey(corev1.ResourceCPU)))
		g.Expect(pod.Tolerations).To(
			ContainElements(HaveField("Key", "example.com/dedicated"), HaveField("Key", "node.cloudprovider.kubernetes.io/uninitialized")),
		)
		g.Expect(pod.PriorityClassName).To(Equal("system-node-critical"))
	}
	g.Expect(w.podSpecOf(&appsv1.DaemonSet{}, "simcloud-csi-node").Containers[0].Image).To(
		Equal("mirror.example.com/all/simcloud/csi-driver:v1.30.14"),
	)
	g.Expect(w.status().Addons.CloudControllerManagerVersion).To(Equal("v1.30.99"))

	putProfile(t, "simcloud", takingTheLead)
	w.pass()
	management, user := w.snapshot(), w.userSnapshot()
	w.passes(5)
	g.Expect(w.condition("Stalled").Message).To(ContainSubstring("ProviderProfile simcloud cannot be used"))
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.snapshot()).To(Equal(management))
	g.Expect(w.userSnapshot()).To(Equal(user), "what runs goes on as it is")

	removeProfile(t, "simcloud")
	builtIn := func(*ucv1.Cluster) bool {
		return w.podSpecOf(&appsv1.Deployment{}, ccm).Containers[0].Image == simcloudImages+ccm+":v1.30.14"
	}
	w.until("the built-in CCM", builtIn, w.playAddons)
	g.Expect(w.podSpecOf(&appsv1.Deployment{}, ccm).Containers[0].Args).NotTo(
		ContainElement(ContainSubstring("--concurrent-service-syncs")),
	)
	g.Expect(w.podSpecOf(&appsv1.DaemonSet{}, "simcloud-csi-node").Containers[0].Image).To(Equal(simcloudImages +
		"csi-driver:v1.30.14"))
	w.until("the roll", at(ucv1.StepRoll), w.playEverybody, func() { w.playCCM() })
}

func TestProviderProfileOfAFinishedCluster(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane("--cloud-provider=external")
	w.externalNode("a")
	w.create(feature(true))
	w.until("the end", at(ucv1.StepFinished), w.playEverybody, func() { w.playCCM() })
	w.passes(2)

	user := w.userSnapshot()
	putProfile(t, "simcloud", takingTheLead)
	w.clock.Step(time.Hour)
	w.playLeaders()
	w.passes(3)
	g.Expect(w.userSnapshot()).To(Equal(user))
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.condition("CloudControllerManagerReady")).To(And(HaveField("Status", metav1.ConditionUnknown),
		HaveField("Message", ContainSubstring("ProviderProfile simcloud cannot be used"))))

	putProfile(t, "other", airGapped)
	removeProfile(t, "simcloud")
	w.clock.Step(time.Hour)
	w.playLeaders()
	w.passes(3)
	g.Expect(w.userSnapshot()).To(Equal(user), "a profile of another name is not used")

	putProfile(t, "simcloud", airGapped)
	mirrored := func(*ucv1.Cluster) bool {
		image := w.podSpecOf(&appsv1.Deployment{}, ccm).Containers[0].Image
		return image == "mirror.example.com/all/simcloud/"+ccm+":v1.30.99@"+someDigest
	}
	w.until("the CCM of the mirror", mirrored)
}

func TestStatusOfProviderProfiles(t *testing.T) {
	w := newWorld(t)
	reconciler := &providerprofile.Reconciler{Client: w.manager, Catalogue: suite.catalogue, Clock: w.clock}
	reconcile := func(name string) ucv1.ProviderProfileStatus {
		t.Helper()
		g := NewWithT(t)
		request, profile := ctrl.Request{NamespacedName: client.ObjectKey{Name: name}}, &ucv1.ProviderProfile{}
		_, err := reconciler.Reconcile(t.Context(), request)
		g.Expect(err).NotTo(HaveOccurred())
		w.requests.take()
		_, err = reconciler.Reconcile(t.Context(), request)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(w.requests.take()).To(BeEmpty(), "nothing is written twice")
		g.Expect(suite.client.Get(t.Context(), request.NamespacedName, profile)).To(Succeed())
		g.Expect(profile.Status.ObservedGeneration).To(Equal(profile.Generation))
		return profile.Status
	}
	ready := func(reason string, status metav1.ConditionStatus) types.GomegaMatcher {
		return ContainElement(And(HaveField("Type", "Ready"), HaveField("Status", status), HaveField("Reason", reason)))
	}
	g := NewWithT(t)
	putProfile(t, "simcloud", airGapped)
	g.Expect(reconcile("simcloud").Conditions).To(And(HaveLen(1), ready("Applied", metav1.ConditionTrue)))
	g.Expect(profileVerdict(t, "simcloud")).To(Equal(kstatus.CurrentStatus))
	putProfile(t, "simcloud", takingTheLead)
	w.clock.Step(time.Minute)
	g.Expect(reconcile("simcloud").Conditions).To(And(HaveLen(2), ready("Invalid", metav1.ConditionFalse),
		HaveEach(HaveField("Message", ContainSubstring("--leader-elect is the controller's")))))
	g.Expect(profileVerdict(t, "simcloud")).To(Equal(kstatus.FailedStatus))
	putProfile(t, "next", airGapped)
	g.Expect(reconcile("next").Conditions).To(And(HaveLen(2), ready("NotUsed", metav1.ConditionFalse)))
	_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "gone"}})
	g.Expect(err).NotTo(HaveOccurred())
}

func profileVerdict(t *testing.T, name string) kstatus.Status {
	t.Helper()
	g := NewWithT(t)
	profile := &ucv1.ProviderProfile{}
	g.Expect(suite.client.Get(t.Context(), client.ObjectKey{Name: name}, profile)).To(Succeed())
	profile.SetGroupVersionKind(ucv1.GroupVersion().WithKind("ProviderProfile"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(profile)
	g.Expect(err).NotTo(HaveOccurred())
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: content})
	g.Expect(err).NotTo(HaveOccurred())
	return result.Status
}
