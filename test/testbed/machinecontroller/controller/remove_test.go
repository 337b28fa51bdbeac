package controller

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func pod(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	change(out)
	return out
}

func TestIsEvictable(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a running pod is": {func(*corev1.Pod) {}, true},
		"a mirror pod is not": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		}, false},
		"a DaemonSet's pod is not": {func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: new(true)}}
		}, false},
		"a ReplicaSet's pod is": {func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", Controller: new(true)}}
		}, true},
		"a pod that ended is not": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(isEvictable(pod("p", "n", test.change))).To(Equal(test.want))
		})
	}
}

// guarded refuses evictions while budget says so.
func (w *world) guarded(budget *bool) *machineReconciler {
	inner, ok := w.client.(client.WithWatch)
	w.Expect(ok).To(BeTrue())
	guard := interceptor.NewClient(inner, interceptor.Funcs{
		SubResourceCreate: func(
			ctx context.Context, c client.Client, subresource string, object, sub client.Object,
			options ...client.SubResourceCreateOption,
		) error {
			if *budget {
				return apierrors.NewTooManyRequests("disruption budget", 0)
			}
			return c.SubResource(subresource).Create(ctx, object, sub, options...)
		},
	})
	return &machineReconciler{client: guard, cloud: w.cloud, clock: w.clock, options: w.options}
}

func TestDrainHonoursDisruptionBudgets(t *testing.T) {
	w := newWorld(t)
	w.pool()
	victim := w.machines()[0]
	w.Expect(w.client.Create(t.Context(), pod("guarded", victim.Name, func(*corev1.Pod) {}))).To(Succeed())
	w.Expect(w.client.Delete(t.Context(), &victim)).To(Succeed())

	budget := true
	r := w.guarded(&budget)
	for range 3 {
		w.reconcile(r, &victim)
	}
	node := &corev1.Node{}
	w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: victim.Name}, node)).To(Succeed())
	w.Expect(node.Spec.Unschedulable).To(BeTrue())
	w.Expect(w.cloud).To(HaveKey(victim.Name), "nothing is deleted while a pod is guarded")
	set := w.sets()[0]
	w.reconcile(&setReconciler{client: w.client, clock: w.clock}, &set)
	w.Expect(w.machines()).To(HaveLen(4), "a Machine in deletion is replaced at once")
	w.Expect(w.sets()[0].Status.Replicas).To(Equal(int32(2)), "and counts no longer")

	budget = false
	again := w.look(r, &victim)
	w.Expect(again).To(Equal(10*time.Second), "whether its pods are gone is looked at only then")
	again = w.look(r, &victim)
	w.Expect(again).To(Equal(10*time.Second), "and whether its instance is gone")
	w.Expect(w.cloud).NotTo(HaveKey(victim.Name))
	w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: victim.Name}, node)).To(Succeed())
	w.reconcile(r, &victim)
	w.Expect(apierrors.IsNotFound(w.client.Get(t.Context(), client.ObjectKey{Name: victim.Name}, node))).To(BeTrue())
	w.Expect(apierrors.IsNotFound(w.client.Get(t.Context(), client.ObjectKeyFromObject(&victim), &victim))).To(BeTrue())
}

func TestDrainIsSkipped(t *testing.T) {
	tests := map[string]func(w *world, victim *machines.Machine, node *corev1.Node){
		"after -skip-eviction-after": func(w *world, _ *machines.Machine, _ *corev1.Node) {
			w.clock.SetTime(time.Now().Add(24 * time.Hour))
		},
		"when the Node is annotated": func(w *world, _ *machines.Machine, node *corev1.Node) {
			node.Annotations[machines.SkipEvictionAnnotation] = "true"
			w.Expect(w.client.Update(w.t.Context(), node)).To(Succeed())
		},
		"when the Node is not ready": func(w *world, _ *machines.Machine, node *corev1.Node) {
			node.Status.Conditions = nil
			w.Expect(w.client.Status().Update(w.t.Context(), node)).To(Succeed())
		},
		"when no other Node could take the pods": func(w *world, victim *machines.Machine, _ *corev1.Node) {
			for _, other := range w.nodes() {
				if other.Name != victim.Name {
					other.Spec.Unschedulable = true
					w.Expect(w.client.Update(w.t.Context(), &other)).To(Succeed())
				}
			}
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pool()
			victim := w.machines()[0]
			node := &corev1.Node{}
			w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: victim.Name}, node)).To(Succeed())
			w.Expect(w.client.Create(t.Context(), pod("guarded", victim.Name, func(*corev1.Pod) {}))).To(Succeed())
			w.Expect(w.client.Delete(t.Context(), &victim)).To(Succeed())
			prepare(w, &victim, node)
			budget := true
			w.reconcile(w.guarded(&budget), &victim)
			w.Expect(w.cloud).NotTo(HaveKey(victim.Name))
		})
	}
}

func TestOldReleasesDrainNodesThatAreNotReady(t *testing.T) {
	w := newWorld(t)
	w.options.drainsNotReady = true
	w.pool()
	victim := w.machines()[0]
	node := &corev1.Node{}
	w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: victim.Name}, node)).To(Succeed())
	node.Status.Conditions = nil
	w.Expect(w.client.Status().Update(t.Context(), node)).To(Succeed())
	w.Expect(w.client.Create(t.Context(), pod("guarded", victim.Name, func(*corev1.Pod) {}))).To(Succeed())
	w.Expect(w.client.Delete(t.Context(), &victim)).To(Succeed())
	budget := true
	w.reconcile(w.guarded(&budget), &victim)
	w.Expect(w.cloud).To(HaveKey(victim.Name))
}

func TestLostInstance(t *testing.T) {
	tests := map[string]struct{ external, nodeStays bool }{
		"with an external provider the CCM deletes the Node": {true, true},
		"without one the machine-controller deletes it":      {false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pool()
			w.options.external = test.external
			victim := w.machines()[0].Name
			delete(w.cloud, victim)
			node := &corev1.Node{}
			w.Expect(w.client.Get(t.Context(), client.ObjectKey{Name: victim}, node)).To(Succeed())
			node.Status.Conditions = nil
			w.Expect(w.client.Status().Update(t.Context(), node)).To(Succeed())
			r := &machineReconciler{client: w.client, cloud: w.cloud, clock: w.clock, options: w.options}
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: victim}})
			w.Expect(err).NotTo(HaveOccurred())
			err = w.client.Get(t.Context(), client.ObjectKey{Name: victim}, node)
			w.Expect(err == nil).To(Equal(test.nodeStays))
			if test.nodeStays {
				w.Expect(w.client.Delete(t.Context(), node)).To(Succeed())
			}
			w.steps(4)
			w.Expect(w.cloud).To(HaveKeyWithValue(victim, HaveField("ExternalCloudProvider", false)), "the instance is made again")
			w.Expect(w.cloud).To(HaveKeyWithValue(victim, BeAssignableToTypeOf(cloud.Instance{})))
			w.Expect(w.nodes()).To(HaveLen(3))
		})
	}
}
