package addons

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestChangesOfAnAdoption(t *testing.T) {
	before := map[string]any{
		"spec": map[string]any{"replicas": int64(1), "paused": true, "containers": []any{
			map[string]any{"name": "a", "image": "theirs", "env": []any{map[string]any{"name": "TOKEN", "value": secretToken}}},
			map[string]any{"name": "b"},
		}, "args": []any{"--v=1", "--same"}},
		"metadata": map[string]any{"annotations": map[string]any{"acme.example/x": "1"}},
	}
	after := map[string]any{
		"spec": map[string]any{"replicas": int64(2), "containers": []any{
			map[string]any{"name": "a", "image": "ours", "env": []any{map[string]any{"name": "TOKEN", "value": "2"}}},
		}, "args": []any{"--v=2", "--same"}},
		"metadata": map[string]any{"annotations": map[string]any{"acme.example/x": "2"}},
	}
	changes := []FieldChange{}
	collect(&changes, "Deployment", "", before, after)
	NewWithT(t).Expect(changes).To(Equal([]FieldChange{
		{"metadata.annotations[acme.example/x]", "1", "2"},
		{"spec.args[0]", "--v=1", "--v=2"},
		{"spec.containers[a].env[TOKEN].value", masked, masked},
		{"spec.containers[a].image", "theirs", "ours"},
		{"spec.containers[b]", `{"name":"b"}`, ""},
		{"spec.paused", "true", ""},
		{"spec.replicas", "1", "2"},
	}))
}

func TestAdoptionPlan(t *testing.T) {
	g := NewWithT(t)
	var count atomic.Int32
	replicas := int32(1)
	labels := map[string]string{"app": "theirs"}
	s, _ := installerWith(
		dryRuns(&count),
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cloud-config"},
			Data:       map[string][]byte{"cloud.conf": []byte("theirs")},
		},
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cloud-controller-manager"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "theirs", Image: "theirs:1"}}},
				},
			},
		},
	)
	addons := renderSimcloud(t)
	plans, err := s.AdoptionPlan(t.Context(), nil, addons)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plans).To(ConsistOf(
		And(HaveField("Kind", "Secret"), HaveField("Changes", ContainElement(FieldChange{"data[cloud.conf]", masked, masked}))),
		And(HaveField("Kind", "Deployment"), HaveField("Changes", ContainElement(FieldChange{"spec.replicas", "1", "2"}))),
	))

	observed := s.Observe(t.Context(), nil, addons).Value().CCM
	g.Expect(observed.Foreign).To(HaveLen(2))
	g.Expect(observed.Takeovers).To(
		ContainElement(And(HaveField("Kind", "Deployment"), HaveField("Fields", ContainElement("spec.replicas")))),
	)
	live := &appsv1.Deployment{}
	g.Expect(s.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cloud-controller-manager"}, live)).To(
		Succeed(),
	)
	g.Expect(*live.Spec.Replicas).To(Equal(replicas), "nothing is changed")
}

func TestRefusals(t *testing.T) {
	kind := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	invalid := apierrors.NewInvalid(
		kind,
		"ccm",
		field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), secretToken, "field is immutable")},
	)
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"an immutable field": {invalid, "the API server refuses the change (Invalid) of spec.selector, which is immutable"},
		"a right":            {apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "ccm", errors.New(secretToken)), "the API server refuses the change (Forbidden)"},
		"anything else":      {errors.New(secretToken), "its change cannot be compared: cannot be connected to"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(refusal(tc.err)).To(Equal(tc.want))
		})
	}
}

func TestDriverThatServesNoOne(t *testing.T) {
	g := NewWithT(t)
	addons := renderSimcloud(t)
	image := ""
	for _, name := range programsOf(addons.CSI) {
		image = "mirror.example:5000/" + name + "@sha256:" + strings.Repeat("0", 64)
	}
	theirs := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "csi"},
		Spec: appsv1.DeploymentSpec{
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}},
		},
		Status: appsv1.DeploymentStatus{Replicas: 1},
	}
	s, _ := installerWith(interceptor.Funcs{}, append(append(node("a"), node("b")...), theirs)...)
	driver := observation.Say(observation.Ref{Kind: "CSIDriver", Name: "x"}, " (Helm release csi)")
	problem := s.driverProblem(t.Context(), addons.CSI, driver)
	g.Expect(problem.Objects).To(Equal([]observation.Ref{driver.Objects[0], {Kind: "Deployment", Namespace: "infra", Name: "csi"}}))
	g.Expect(problem.Words).To(Equal("CSIDriver x (Helm release " +
		"csi) does not satisfy what is wanted: it is registered on 0 of 2 Nodes; by its image it is run by Deployment infra/csi (0 " +
		"of 1 pods available). Repair it, or uninstall it with its CSIDriver."))
	s, _ = installerWith(interceptor.Funcs{})
	g.Expect(s.driverProblem(t.Context(), addons.CSI, driver).Words).To(ContainSubstring("0 of 0 Nodes, and no workload runs " +
		"its program."))
}
