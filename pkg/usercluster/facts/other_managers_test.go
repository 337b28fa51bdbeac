package facts

import (
	"context"
	"fmt"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// ccmPodOf is one of a CCM; the first owner makes it.
func ccmPodOf(name string, owner ...metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name, OwnerReferences: owner, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{ServiceAccountName: "occm", Containers: []corev1.Container{{
			Name: "ccm", Image: "registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.0",
			Args: []string{"--cloud-provider=openstack", "--leader-elect=false"},
		}}},
	}
	if len(owner) > 0 && owner[0].Kind == "ReplicaSet" {
		pod.Labels = map[string]string{"pod-template-hash": "abc"}
	}
	return pod
}

func deploymentOf(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "infra", Name: name, UID: types.UID("uid-" + name),
			Annotations: map[string]string{"meta.helm.sh/release-name": "occm"},
		},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: ccmPodOf("").Spec}},
	}
}

func controlledBy(kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{Kind: kind, Name: name, Controller: new(true)}
}

// builtIn is made once: what a catalogue has to read of its providers takes a while, and nothing changes it.
var builtIn = sync.OnceValue(provider.New)

func lookForOthers(ctx context.Context, s *Others, ours Ours) observation.Observed[[]observation.ForeignCCM] {
	return s.Look(ctx, builtIn().RecognizeManager, ours, true)
}

func TestOtherManagers(t *testing.T) {
	nginx := deploymentOf("web", 1)
	nginx.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Image: "nginx:1.27"}}}
	finished := ccmPodOf("done")
	finished.Status.Phase = corev1.PodSucceeded
	flux := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "infra", Name: "occm", Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "cloud"},
		},
		Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: ccmPodOf("").Spec}},
	}
	idleSet := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "nowhere"},
		Spec:       appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: ccmPodOf("").Spec}},
	}
	ours := Ours{
		Inventory: []addons.InventoryEntry{{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "infra", Name: "ours"}},
		Workloads: []observation.Ref{
			{Kind: "Deployment", Namespace: "infra", Name: "pruned"}, {Kind: "Deployment", Namespace: "infra", Name: "ccm"},
		},
		Identities: []string{"system:serviceaccount:infra:occm"},
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    []string
		idle    bool
	}{
		"no one":                             {objects: []client.Object{nginx, ccmPodOf("web", controlledBy("ReplicaSet", "ccm-abc")), deploymentOf("ccm", 1)}, want: []string{"Deployment infra/ccm"}},
		"of Helm":                            {objects: []client.Object{deploymentOf("occm", 1)}, want: []string{"Deployment infra/occm"}},
		"of Flux":                            {objects: []client.Object{flux}, want: []string{"StatefulSet infra/occm"}},
		"with its pods, once":                {objects: []client.Object{deploymentOf("occm", 1), ccmPodOf("occm-abc-1", controlledBy("ReplicaSet", "occm-abc"))}, want: []string{"Deployment infra/occm"}},
		"a pod by hand":                      {objects: []client.Object{ccmPodOf("by-hand")}, want: []string{"Pod infra/by-hand"}},
		"a static pod":                       {objects: []client.Object{ccmPodOf("static-cp-1", controlledBy("Node", "cp-1"))}, want: []string{"Pod infra/static-cp-1"}},
		"a pod of a kind that no one knows":  {objects: []client.Object{ccmPodOf("odd", controlledBy("CloneSet", "odd"))}, want: []string{"Pod infra/odd"}},
		"a pod whose Deployment was deleted": {objects: []client.Object{ccmPodOf("left", controlledBy("ReplicaSet", "gone-abc"))}, want: []string{"Pod infra/left"}},
		"a pod that has finished":            {objects: []client.Object{finished}},
		"scaled to zero":                     {objects: []client.Object{deploymentOf("occm", 0)}, want: []string{"Deployment infra/occm"}, idle: true},
		"scaled to zero with a pod that is ending": {objects: []client.Object{deploymentOf("occm", 0), ccmPodOf("ending", controlledBy("ReplicaSet", "occm-abc"))}, want: []string{"Deployment infra/occm", "Pod infra/ending"}},
		"a DaemonSet for no Node":                  {objects: []client.Object{idleSet}, want: []string{"DaemonSet infra/nowhere"}, idle: true},
		"ours":                                     {objects: []client.Object{deploymentOf("ours", 2), ccmPodOf("ours-1", controlledBy("ReplicaSet", "ours-abc"))}},
		"what is left of one that we deleted":      {objects: []client.Object{ccmPodOf("pruned-1", controlledBy("ReplicaSet", "pruned-abc"))}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := othersWith(interceptor.Funcs{}, tc.objects...)
			found, known := lookForOthers(t.Context(), s, ours).Get()
			g.Expect(known).To(BeTrue())
			var names []string
			for _, m := range found {
				m.UID = ""
				names = append(names, m.String())
				g.Expect(m.Idle).To(Equal(tc.idle || m.String() == "Deployment infra/occm" && len(tc.want) == 2))
				g.Expect(m.SameName).To(Equal(m.Name == "ccm"))
				g.Expect(m.KnownBy).To(Equal("image openstack-cloud-controller-manager"))
				g.Expect(m.Identity).To(Equal("system:serviceaccount:infra:occm"))
				g.Expect(m.Arguments.Flags).To(HaveKeyWithValue("leader-elect", "false"))
			}
			g.Expect(names).To(ConsistOf(tc.want))
		})
	}
}

func TestOwnersOfOtherManagers(t *testing.T) {
	g := NewWithT(t)
	release := deploymentOf("b", 1)
	release.Annotations, release.Labels = nil, map[string]string{"helm.toolkit.fluxcd.io/name": "cloud"}
	s, _ := othersWith(interceptor.Funcs{}, deploymentOf("a", 1), release)
	found := lookForOthers(t.Context(), s, Ours{}).Value()
	g.Expect(found).To(ConsistOf(HaveField("Owner", "Helm release occm"), HaveField("Owner", "Flux HelmRelease cloud")))
}

func TestManyLoosePodsAreListed(t *testing.T) {
	g := NewWithT(t)
	objects := []client.Object{ccmPodOf("ccm")}
	for i := range 60 {
		pod := ccmPodOf(fmt.Sprintf("batch-%d", i))
		pod.Spec.Containers[0] = corev1.Container{Image: "batch:1"}
		objects = append(objects, pod)
	}
	gets := 0
	s, _ := othersWith(interceptor.Funcs{Get: func(
		ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
	) error {
		gets++
		return c.Get(ctx, key, object, options...)
	}}, objects...)
	g.Expect(lookForOthers(t.Context(), s, Ours{}).Value()).To(ConsistOf(HaveField("Name", "ccm")))
	g.Expect(gets).To(BeZero())
}

func TestThatNoOneWasFoundIsRemembered(t *testing.T) {
	g := NewWithT(t)
	lists := 0
	s, clk := othersWith(interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) error {
		lists++
		return c.List(ctx, list, options...)
	}})
	look := func(fresh bool) (count int) {
		lists = 0
		g.Expect(s.Look(t.Context(), builtIn().RecognizeManager, Ours{}, fresh).IsKnown()).To(BeTrue())
		return lists
	}
	g.Expect(look(true)).To(Equal(4), "one list for each kind")
	g.Expect(look(true)).To(BeZero())
	clk.Step(freshInterval)
	g.Expect(look(false)).To(BeZero())
	g.Expect(look(true)).To(Equal(4), "before the hand-over it is looked again soon")
	clk.Step(2 * lookInterval)
	g.Expect(look(false)).To(Equal(4))
	s.memory.invalidate()
	g.Expect(look(false)).To(Equal(4), "a workload changed")

	g.Expect(s.client.Create(t.Context(), deploymentOf("occm", 1))).To(Succeed())
	s.memory.invalidate()
	g.Expect(look(false)).To(Equal(4))
	g.Expect(look(false)).To(Equal(4), "what was found is looked at again")
}

func TestAProofTakesTheLookOfItsPass(t *testing.T) {
	g := NewWithT(t)
	lists := 0
	s, _ := othersWith(interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) error {
		lists++
		return c.List(ctx, list, options...)
	}})
	look := func(ctx context.Context) (count int) {
		lists = 0
		g.Expect(lookForOthers(ctx, s, Ours{}).IsKnown()).To(BeTrue())
		return lists
	}
	g.Expect(look(t.Context())).To(Equal(4))
	g.Expect(look(kept.LiveSince(t.Context(), start))).To(BeZero(), "it was taken in this pass")
	g.Expect(look(kept.LiveSince(t.Context(), start.Add(1)))).To(Equal(4), "it was taken in an earlier one")
	s.memory.invalidate()
	g.Expect(look(kept.LiveSince(t.Context(), start))).To(Equal(4), "a workload changed since")
}

func TestAPodThatNoWorkloadAnswersForIsReadOnceAsItIs(t *testing.T) {
	g := NewWithT(t)
	gets := 0
	pod, ccm := ccmPodOf("batch"), ccmPodOf("by-hand")
	pod.Spec.Containers[0] = corev1.Container{Image: "batch:1"}
	s, _ := othersWith(interceptor.Funcs{Get: func(
		ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
	) error {
		gets++
		return c.Get(ctx, key, object, options...)
	}}, pod)
	look := func(found ...string) (count int) {
		gets = 0
		s.memory.invalidate()
		var names []string
		for _, other := range lookForOthers(t.Context(), s, Ours{}).Value() {
			names = append(names, other.Name)
		}
		g.Expect(names).To(ConsistOf(found))
		return gets
	}
	g.Expect([]int{look(), look()}).To(Equal([]int{1, 0}))

	live := &corev1.Pod{}
	g.Expect(s.client.Get(t.Context(), client.ObjectKeyFromObject(pod), live)).To(Succeed())
	live.Spec.Containers[0] = ccm.Spec.Containers[0]
	g.Expect(s.client.Update(t.Context(), live)).To(Succeed())
	g.Expect(look("batch")).To(Equal(1), "it changed")
	g.Expect(look("batch")).To(Equal(1), "one of a manager is read again")

	g.Expect(s.client.Delete(t.Context(), live)).To(Succeed())
	g.Expect(s.client.Create(t.Context(), ccm)).To(Succeed())
	g.Expect(look("by-hand")).To(Equal(1))
}

func TestAWorkloadOfOursEndsNoLook(t *testing.T) {
	ours := Ours{Inventory: []addons.InventoryEntry{
		{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "infra", Name: "ours"},
		{Version: "v1", Kind: "ServiceAccount", Namespace: "infra", Name: "account"},
	}}
	for name, tc := range map[string]struct {
		changed metav1.Object
		again   bool
	}{
		"one of ours":                          {&metav1.ObjectMeta{Namespace: "infra", Name: "ours"}, false},
		"another one":                          {&metav1.ObjectMeta{Namespace: "infra", Name: "other"}, true},
		"of that name in another namespace":    {&metav1.ObjectMeta{Namespace: "default", Name: "ours"}, true},
		"named like something that has no pod": {&metav1.ObjectMeta{Namespace: "infra", Name: "account"}, true},
		"any of them":                          {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := othersWith(interceptor.Funcs{})
			g.Expect(lookForOthers(t.Context(), s, ours).IsKnown()).To(BeTrue())
			s.memory.changed(tc.changed)
			_, known, _ := s.memory.recall(t.Context(), start, true)
			g.Expect(known).To(Equal(!tc.again))
		})
	}
}
