package integration_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const occmImage = "mirror.example:5000/provider-os/openstack-cloud-controller-manager:v1.30.0"

// occm is how the pods of another CCM are.
func occm(arguments ...string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name: "ccm", Image: occmImage, Args: append([]string{"--cloud-provider=openstack"}, arguments...),
	}}}
}

func theirMeta(change func(*metav1.ObjectMeta)) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "occm"}
	change(&meta)
	return meta
}

func theirDeployment(meta metav1.ObjectMeta, pod corev1.PodSpec) *appsv1.Deployment {
	labels := map[string]string{"app": "theirs"}
	return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
}

// installTheirs makes an object of someone else's in the user cluster; remove takes it away again, and so does the end of the
// test.
func (w *world) installTheirs(object client.Object) (remove func()) {
	w.t.Helper()
	g := NewWithT(w.t)
	g.Expect(w.user.client.Create(w.t.Context(), object)).To(Succeed())
	remove = func() {
		err := w.user.client.Delete(context.WithoutCancel(w.t.Context()), object, client.GracePeriodSeconds(0))
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	w.t.Cleanup(remove)
	return remove
}

func TestOtherManagersAreFoundBeforeAnythingIsTouched(t *testing.T) {
	t.Parallel()
	helm := theirMeta(func(m *metav1.ObjectMeta) {
		m.Annotations = map[string]string{"meta.helm.sh/release-name": "openstack-ccm", "meta.helm.sh/release-namespace": "default"}
		m.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	})
	flux := theirMeta(func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "cloud"} })
	daemons := &appsv1.DaemonSet{ObjectMeta: flux}
	daemons.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}}
	daemons.Spec.Template = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: daemons.Spec.Selector.MatchLabels}, Spec: occm("--leader-elect-resource-name=occm"),
	}
	daemons.Generation = 1
	for name, tc := range map[string]struct {
		object client.Object
		says   []string
	}{
		"by Helm": {theirDeployment(helm, occm()), []string{
			"Deployment default/occm (Helm release openstack-ccm", "known by its image openstack-cloud-controller-manager",
			"as system:serviceaccount:default:default, which our fence does not bind",
			"Lease kube-system/cloud-controller-manager has run out",
		}},
		"by Flux, with a Lease of its own": {daemons, []string{
			"DaemonSet default/occm (Flux Kustomization cloud",
			"with Lease kube-system/occm, and ours with kube-system/cloud-controller-manager",
		}},
		"by hand, without leader election": {
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "by-hand"}, Spec: occm("--leader-elect=false"),
			},
			[]string{"Pod default/by-hand", "with --leader-elect=false: neither our fence nor a Lease"},
		},
	} {
		for _, origin := range []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal} {
			t.Run(name+", origin "+string(origin), func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				w := newWorld(t)
				remove := w.installTheirs(tc.object.DeepCopyObject().(client.Object))
				w.spoiled(badInput{spoil: func(*world) {}}, origin)
				user := w.userSnapshot()
				w.passes(5)
				w.reconnect("Reachable")
				w.expectVerdict(kstatus.FailedStatus)
				stalled := w.condition("Stalled")
				g.Expect(stalled.Reason).To(Equal("ForeignObjects"), stalled.Message)
				for _, part := range append(tc.says, "Stop it, or uninstall it", "spec.handover.acceptOtherManagers") {
					g.Expect(stalled.Message).To(ContainSubstring(part))
				}
				g.Expect(w.status().Inherited).To(BeNil(), "it has not started")
				g.Expect(w.userSnapshot()).To(Equal(user))

				remove()
				w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.Inherited != nil })
				g.Expect(w.condition("Stalled").Status).To(BeEmpty())
			})
		}
	}
}

func TestOtherManagersThatAPersonVouchesForOrStopped(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	tenant := w.installTheirs(
		theirDeployment(theirMeta(func(m *metav1.ObjectMeta) { m.Name = "tenant-1" }), occm("--kubeconfig=/etc/kubeconfig")),
	)
	defer tenant()
	stopped := theirDeployment(theirMeta(func(m *metav1.ObjectMeta) { m.Name = "stopped" }), occm("--leader-elect=false"))
	stopped.Spec.Replicas = new(int32(0))
	w.installTheirs(stopped)
	w.spoiled(badInput{spoil: func(*world) {}}, ucv1.OriginMigrating)
	w.passes(5)
	w.reconnect("Reachable")
	g.Expect(w.condition("Stalled").Message).To(
		And(ContainSubstring(`like "Deployment default/tenant-1"`), Not(ContainSubstring("default/stopped"))),
	)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.AcceptOtherManagers = []string{"Deployment default/tenant-1"} })
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
}

func TestAnotherManagerKeepsTheFenceClosedAndIsGuardedAgainst(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof", provingSilence, w.playAddons)
	remove := w.installTheirs(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "by-hand"}, Spec: occm("--leader-elect=false"),
	})
	w.clock.Step(time.Minute)
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "ForeignObjects" }, w.playEverybody)
	g.Expect(w.status().Handover).To(And(HaveField("Stage", "FenceOpen"), HaveField("FenceOpenedAt", BeNil())))
	g.Expect(w.playCCM()).To(BeFalse(), "the fence is closed")

	remove()
	everybody := []func(){w.playEverybody, func() { w.playCCM() }}
	w.until("the roll", at(ucv1.StepRoll), everybody...)
	remove = w.installTheirs(theirDeployment(theirMeta(func(*metav1.ObjectMeta) {}), occm("--leader-elect-resource-name=occm")))
	w.clock.Step(time.Hour)
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "CloudLoopsContended" }, everybody...)
	g.Expect(w.condition("HandoverCompleted").Message).To(
		And(ContainSubstring("Deployment default/occm"), ContainSubstring("nothing is rolled until then")),
	)
	remove()
	w.until("the end", at(ucv1.StepFinished), everybody...)
}

func TestAdoptionIsPlannedBeforeItIsDone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane("--cloud-provider=external")
	w.externalNode("a")
	mine := func(name string) metav1.ObjectMeta {
		annotations := map[string]string{"meta.helm.sh/release-name": "mine"}
		return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Annotations: annotations}
	}
	w.installTheirs(&corev1.Secret{ObjectMeta: mine("cloud-config"), StringData: map[string]string{"cloud.conf": confidential}})
	w.installTheirs(&corev1.ServiceAccount{ObjectMeta: mine(ccm)})
	w.create(feature(true))
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "ForeignObjects" }, w.playAddons)
	g.Expect(w.condition("Stalled").Message).To(And(
		ContainSubstring("that would change, among others, Secret kube-system/cloud-config (Helm release mine"),
		ContainSubstring("ccm-migration-controller adoption alpha -n "+w.namespace)))

	before := w.userSnapshot()
	run := w.commandLineOf("admin-"+w.namespace, "system:masters").run
	out, code := run("adoption", alpha, "-o=json")
	g.Expect(code).To(BeZero(), out)
	report := struct {
		Adoption string
		Objects  []struct {
			Object  string
			Changes []struct{ Path, From, To string }
		}
	}{}
	g.Expect(json.Unmarshal([]byte(out), &report)).To(Succeed(), out)
	g.Expect(report.Adoption).To(Equal("Never"))
	g.Expect(report.Objects).To(ConsistOf(
		And(
			HaveField("Object", HavePrefix("Secret kube-system/cloud-config (Helm release mine")),
			HaveField("Changes", ContainElement(HaveField("Path", "data[cloud.conf]"))),
		),
		And(
			HaveField("Object", HavePrefix("ServiceAccount kube-system/"+ccm)),
			HaveField("Changes", ContainElement(HaveField("Path", HavePrefix("metadata.labels")))),
		)))
	text, code := run("adoption", alpha)
	g.Expect(code).To(BeZero(), text)
	for _, printed := range []string{out, text} {
		g.Expect(printed).NotTo(Or(ContainSubstring(confidential), ContainSubstring("ZXhhbXBsZS1vbmx5")), "nor in base64")
		g.Expect(printed).To(ContainSubstring("(masked)"))
	}

	w.edit(func(c *ucv1.Cluster) { c.Spec.Addons.Adoption = ucv1.Adopt })
	w.until("a plan", func(c *ucv1.Cluster) bool { return c.Status.Adoption != nil })
	g.Expect(w.status().Adoption.Changes).To(ConsistOf(
		And(HavePrefix("Secret kube-system/cloud-config (Helm release mine"), ContainSubstring("data[cloud.conf]")),
		HavePrefix("ServiceAccount kube-system/"+ccm)))
	w.passes(3)
	g.Expect(w.condition("Ready")).To(HaveField("Reason", "AdoptionPlanned"))
	for object, version := range before {
		g.Expect(w.userSnapshot()).To(HaveKeyWithValue(object, version), "nothing of theirs is written yet")
	}
	g.Expect(pretty(w.status())).NotTo(ContainSubstring(confidential))
	w.clock.Step(time.Minute)
	w.until("the end", at(ucv1.StepFinished), w.playEverybody)
	w.expectVerdict(kstatus.CurrentStatus)
}
