package facts

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestDrains(t *testing.T) {
	g := NewWithT(t)
	pod := func(name string, labels map[string]string, change func(*corev1.Pod)) corev1.Pod {
		made := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, Labels: labels},
			Spec:       corev1.PodSpec{NodeName: "n"},
		}
		if change != nil {
			change(&made)
		}
		return made
	}
	budget := func(name string, match map[string]string, allowed int32) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "web",
				Name:      name,
			},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: match}},
		}
	}
	front, twice := map[string]string{"app": "front"}, map[string]string{"app": "twice"}
	drained := drainedPods([]corev1.Pod{
		pod("front", front, nil), pod("twice", twice, nil), pod("free", nil, nil),
		pod("going", nil, func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = new(metav1.NewTime(time.Unix(0, 0))), []string{"example.com/hold"}
		}),
		pod("mirror", nil, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
		pod("daemon", nil, func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
		}),
		pod("done", nil, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
	}, []policyv1.PodDisruptionBudget{budget("front", front, 0), budget("a", twice, 1), budget("b", twice, 1)})
	g.Expect(drained).To(Equal([]observation.DrainedPod{
		{Namespace: "web", Name: "front", Budget: observation.Ref{Kind: "PodDisruptionBudget", Namespace: "web", Name: "front"}},
		{Namespace: "web", Name: "twice", Budget: observation.Ref{Kind: "PodDisruptionBudget", Namespace: "web", Name: "b"}},
		{Namespace: "web", Name: "free"},
		{Namespace: "web", Name: "going", Going: true, Finalizers: []string{"example.com/hold"}},
	}))
	s, _ := readerWith(interceptor.Funcs{})
	none, known := s.Drains(t.Context(), nil).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(none).To(BeEmpty())
}
