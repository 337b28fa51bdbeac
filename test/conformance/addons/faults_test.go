package addons_test

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// set makes one of objects that are in no provider.
func set(t *testing.T, objects ...manifest.Object) manifest.Set {
	t.Helper()
	made, err := manifest.NewSet("fault", "v1", objects)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return made
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name},
		Data:       map[string]string{"a": "1"},
	}
}

// removed takes objects out of the cluster when the test is over.
func removed(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		for _, object := range objects {
			NewWithT(t).Expect(client.IgnoreNotFound(suite.admin.Delete(ctx, object.DeepCopy()))).To(Succeed())
		}
	})
}

func TestFieldsThatTheAPIServerDoesNotKnowAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		fields []string
		want   string
	}{
		"a field of an object": {[]string{"spce"}, ".spce: field not declared in schema"},
		"a field of a template": {[]string{"spec", "template", "spec", "hostNetwrok"}, ".spec.template.spec.hostNetwrok: field not " +
			"declared in schema"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, r := connect(t, owner), newest(t, "openstack")
			at := slices.IndexFunc(r.addons.CCM.Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })
			object := r.addons.CCM.Objects[at]
			g.Expect(unstructured.SetNestedField(object.Object, true, tc.fields...)).To(Succeed())
			err := c.session.Addons.Apply(t.Context(), manifest.Set{Version: "v1", Objects: []*unstructured.Unstructured{object}})
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			live := object.DeepCopy()
			g.Expect(suite.admin.Get(t.Context(), client.ObjectKeyFromObject(object), live)).To(Satisfy(apierrors.IsNotFound))
		})
	}
}

func TestWarningsAreSeen(t *testing.T) {
	object := set(t, deployment("warned", corev1.PodSpec{
		Containers: []corev1.Container{{Name: "a", Image: "a"}}, NodeSelector: map[string]string{"beta.kubernetes.io/os": "linux"},
	})).Objects
	NewWithT(t).Expect(warnings(t, object)).To(ConsistOf(ContainSubstring("beta.kubernetes.io/os")))
}

func TestARenderThatIsAnotherOneIsWrittenAgain(t *testing.T) {
	g := NewWithT(t)
	first, second := configMap("changes"), configMap("changes")
	second.Data["a"] = "2"
	one, other := rendering{addons: manifest.Addons{CCM: set(t, first)}}, rendering{addons: manifest.Addons{CCM: set(t, second)}}
	removed(t, one.objects()...)
	c := connect(t, owner)
	g.Expect(c.apply(t, one)).To(Equal([]string{"patch configmaps kube-system/changes"}))
	g.Expect(c.apply(t, one)).To(BeEmpty())
	g.Expect(lost(t, other.objects())).To(Equal([]string{"ConfigMap kube-system/changes .data.a is 1, want 2"}))
	g.Expect(c.apply(t, other)).To(Equal([]string{"patch configmaps kube-system/changes"}))
}

// What is deleted is told from what only was to be: of two renders, and with objects of someone else beside.
func TestPruningLeavesWhatLasts(t *testing.T) {
	g := NewWithT(t)
	definition := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": "fault.example.com", "scope": "Cluster", "names": map[string]any{"plural": "faults", "kind": "Fault"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object"},
		}}},
	}}}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	definition.SetName("faults.fault.example.com")
	stays := set(t, configMap("stays"))
	both := set(t, configMap("stays"), configMap("goes"),
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "fault.example.com"}},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fault"}, Provisioner: "fault.example.com"})
	both = manifest.SetOf("fault", "v1", append(both.Objects, definition))
	removed(t, both.Objects...)

	c := connect(t, owner)
	from, to := rendering{addons: manifest.Addons{CSI: both}}, rendering{addons: manifest.Addons{CSI: stays}}
	g.Expect(c.apply(t, from)).To(HaveLen(5))
	g.Expect(gone(from, to)).To(Equal([]string{"ConfigMap kube-system/goes"}))
	c.apply(t, to)
	before := look(t)
	g.Expect(c.prune(t, to)).To(Equal([]string{"delete configmaps kube-system/goes"}))
	after := look(t)
	g.Expect(before.objections(after, []string{"ConfigMap kube-system/goes"})).To(BeEmpty())
	for _, name := range []string{"CSIDriver /fault.example.com", "StorageClass /fault", "CustomResourceDefinition " +
		"/faults.fault.example.com"} {
		g.Expect(after).To(HaveKey(name))
	}
	g.Expect(before.objections(after, nil)).To(
		Equal([]string{"ConfigMap kube-system/goes is gone"}),
		"one that was not to go would be seen",
	)
}

func TestPodSecurityThatIsDeclaredWrongIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		declared manifest.PodSecurity
		change   func(*corev1.PodSpec)
		want     []string
	}{
		"none": {manifest.Restricted, func(*corev1.PodSpec) {}, nil},
		"a pod that needs less than it is declared with": {manifest.Privileged, func(*corev1.PodSpec) {}, []string{
			"is declared privileged and needs restricted by the standards of v1.30",
			"is declared privileged and needs restricted by the standards of latest",
			"is not kept out of a namespace that is baseline: <nil>",
		}},
		"a pod that may be root": {manifest.Restricted, func(pod *corev1.PodSpec) { pod.SecurityContext.RunAsNonRoot = nil }, []string{
			"is declared restricted and needs baseline by the standards of v1.30: runAsNonRoot != true",
			"is declared restricted and needs baseline by the standards of latest",
			"is not let into a namespace that is restricted: pods \"pod\" is forbidden: violates PodSecurity",
		}},
		"a pod that mounts a path of its Node": {manifest.Baseline, func(pod *corev1.PodSpec) {
			pod.Volumes = []corev1.Volume{
				{Name: "a", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
			}
		}, []string{
			"is declared baseline and needs privileged by the standards of v1.30",
			"is declared baseline and needs privileged by the standards of latest",
			"is not let into a namespace that is baseline: pods \"pod\" is forbidden: violates PodSecurity",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pod := corev1.PodSpec{
				SecurityContext: manifest.RunAs(65532),
				Containers:      []corev1.Container{{Name: "a", Image: "a", SecurityContext: manifest.Unprivileged()}},
			}
			tc.change(&pod)
			workload := deployment("fault", pod)
			workload.Annotations = manifest.Needing(tc.declared)
			objections := securityObjections(t, set(t, workload), 30)
			g.Expect(objections).To(HaveLen(len(tc.want)))
			for i, want := range tc.want {
				g.Expect(objections[i]).To(ContainSubstring(want))
			}
		})
	}
}

func TestRightsThatAreWrongAreSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule
		want   []string
	}{
		"none": {func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return rules }, nil},
		"a rule that nothing asks for": {func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			return append(rules, manifest.Rule("", "limitranges", "get"))
		}, []string{
			"the CCM may get limitranges kube-system/, which nothing asks for", "the CCM may get limitranges default/, which nothing " +
				"asks for",
			"the probe may get limitranges kube-system/, which nothing asks for", "the probe may get limitranges default/, which " +
				"nothing asks for",
		}},
		"a verb that is denied": {func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			return append(rules, manifest.Rule("", "nodes", "create"))
		}, []string{
			"the CCM may create nodes, which is denied", "the CCM may create nodes kube-system/", "the CCM may create nodes default/",
			"the probe may create nodes, which is denied", "the probe may create nodes kube-system/",
			"the probe may create nodes default/",
		}},
		"a verb that a loop asks for and has not": {func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			rules[0].Verbs = slices.DeleteFunc(rules[0].Verbs, func(verb string) bool { return verb == "delete" })
			return rules
		}, []string{"the CCM may not delete nodes, which it asks for", "the probe may not delete nodes, which it asks for"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, r := connect(t, owner), newest(t, "openstack")
			removed(t, r.objects()...)
			rewrite(g, r.addons.CCM, "ClusterRole", tc.change)
			c.apply(t, r)
			settle(t)
			_, objections := ccmObjections(t, r, nil)
			g.Expect(objections).To(HaveLen(len(tc.want)), "%q", objections)
			for i, want := range tc.want {
				g.Expect(objections[i]).To(ContainSubstring(want))
			}
		})
	}
}

func TestRightsOfTheCSIDriverThatAreWrongAreSeen(t *testing.T) {
	const account = "openstack-cinder-csi-controller"
	for name, tc := range map[string]struct {
		kind   string
		change func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule
		want   []string
	}{
		"none": {"Role", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return rules }, nil},
		"all Secrets": {"ClusterRole", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			return append(rules, manifest.Rule("", "secrets", "list"))
		}, []string{
			account + " may list secrets kube-system/, which is denied", account + " may list secrets default/, which is denied",
		}},
		"the Leases of others": {"Role", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			return append(rules, manifest.Rule("coordination.k8s.io", "leases", "update"))
		}, []string{
			account + " may update leases.coordination.k8s.io kube-system/kube-controller-manager, which is denied",
			account + " may update leases.coordination.k8s.io kube-system/kube-scheduler, which is denied",
			account + " may update leases.coordination.k8s.io kube-system/cloud-provider-extraction-migration, which is denied",
			account + " may update leases.coordination.k8s.io kube-system/cloud-controller-manager, which is denied",
		}},
		"a sidecar that cannot be elected": {"Role", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			rules[1].ResourceNames = slices.DeleteFunc(
				rules[1].ResourceNames, func(name string) bool { return name == "cinder-csi-openstack-org" },
			)
			return rules
		}, []string{
			account + " may not get leases.coordination.k8s.io kube-system/cinder-csi-openstack-org, which csi-provisioner asks for",
			account + " may not update leases.coordination.k8s.io kube-system/cinder-csi-openstack-org, which csi-provisioner asks for",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, r := connect(t, owner), newest(t, "openstack")
			removed(t, r.objects()...)
			rewrite(g, r.addons.CSI, tc.kind, tc.change)
			c.apply(t, r)
			settle(t)
			objections := csiObjections(t, r)
			g.Expect(objections).To(ConsistOf(tc.want))
		})
	}
}

func TestReasonsThatNothingNeedsAreSeen(t *testing.T) {
	g := NewWithT(t)
	g.Expect(unused("openstack", nil)).To(Equal([]string{"patch services"}))
	g.Expect(unused("openstack", []string{"patch services"})).To(BeEmpty())
}

func deployment(name string, pod corev1.PodSpec) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}
}

func decode(g Gomega, object *unstructured.Unstructured, into any) {
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)).To(Succeed())
}

// rewrite changes the rules of the first role of a kind in a set.
func rewrite(g Gomega, set manifest.Set, kind string, change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) {
	at := slices.IndexFunc(set.Objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == kind })
	role := &rbacv1.ClusterRole{}
	decode(g, set.Objects[at], role)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rbacv1.ClusterRole{Rules: change(role.Rules)})
	g.Expect(err).NotTo(HaveOccurred())
	set.Objects[at].Object["rules"] = content["rules"]
}
