package facts

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
)

func podOn(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
	if change != nil {
		change(pod)
	}
	return pod
}

func TestPodsThatHaveToMove(t *testing.T) {
	g := NewWithT(t)
	session, _ := readerWith(interceptor.Funcs{},
		podOn("a", "n1", nil), podOn("b", "n1", nil), podOn("c", "n2", nil), podOn("pending", "", nil),
		podOn("other", "n2", func(p *corev1.Pod) { p.Labels = nil }),
		podOn("mirror", "n1", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
		podOn("finished", "n1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		podOn("agent", "n1", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet", Name: "agent"}}
		}),
		&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "front"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
		},
		&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "elsewhere",
				Name:      "all",
			},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
		},
	)
	pods, known := session.Evictable(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(pods.OnNode).To(Equal(map[string]int{"n1": 2, "n2": 2}))
	g.Expect(pods.Budgets).To(ConsistOf(
		plan.PodBudget{Name: "web/front", Allowed: 1, Nodes: []string{"n1", "n1", "n2"}}, plan.PodBudget{Name: "elsewhere/all"},
	))
}
