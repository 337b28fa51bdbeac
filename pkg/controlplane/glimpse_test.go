package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// asInCache is what the manager's cache has of a pod.
func asInCache(g *WithT, pod *corev1.Pod) *corev1.Pod {
	cut, err := TransformPod(pod)
	g.Expect(err).NotTo(HaveOccurred())
	return cut.(*corev1.Pod)
}

func TestAGlimpseSaysNoMoreThanACacheShows(t *testing.T) {
	kcm := testDeployment(kubeControllerManager, "--cloud-provider=openstack")
	scheduler := testDeployment(kubeScheduler)
	set, beside := testSet(kcm, "1"), testSet(scheduler, "1")
	finished := func(pod *corev1.Pod) *corev1.Pod { pod.Status.Phase = corev1.PodFailed; return pod }
	without := func(pod *corev1.Pod) *corev1.Pod { pod.Status.ContainerStatuses = nil; return pod }
	ended := func(pod *corev1.Pod) *corev1.Pod {
		setState(pod, terminated("containerd://1", "Error"))
		return finished(pod)
	}
	for name, test := range map[string]struct {
		pod                    *corev1.Pod
		known, absent, looksOn bool
		missing                bool
	}{
		"no Deployment of KCM":                       {missing: true, absent: true},
		"no pod is left":                             {known: true},
		"a pod of KCM runs":                          {pod: testPod(set, "a")},
		"a pod of KCM was seen to end":               {pod: ended(testPod(set, "a")), known: true},
		"a pod failed, and its process may run":      {pod: finished(testPod(set, "a"))},
		"a pod that has no status may be of KCM":     {pod: without(testPod(set, "a"))},
		"a pod was refused, and has no status":       {pod: finished(without(testPod(set, "a"))), known: true},
		"only a pod of the scheduler runs: ask live": {pod: testPod(beside, "a"), looksOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objects := []client.Object{}
			if !test.missing {
				objects = append(objects, kcm.DeepCopy(), scheduler.DeepCopy())
			}
			if test.pod != nil {
				objects = append(objects, asInCache(g, test.pod))
			}
			reader, _ := testReader(nil)
			plane, enough := reader.Glimpse(t.Context(), testClient(interceptor.Funcs{}, objects...), testCluster())
			g.Expect(enough).To(Equal(!test.looksOn))
			g.Expect(plane.IsKnown()).To(Equal(test.known))
			g.Expect(plane.IsAbsent()).To(Equal(test.absent))
			g.Expect(plane.Value().KCM.Pods).To(BeEmpty())
			if test.known {
				g.Expect(plane.Value().KCM.Arguments.Flags).To(HaveKeyWithValue("cloud-provider", "openstack"))
			}
		})
	}
}

// A node died with the pod: the watch saw it go and never saw it end.
func TestAGlimpseAsksLiveAboutAPodThatWentWithoutAnEnd(t *testing.T) {
	g := NewWithT(t)
	kcm := testDeployment(kubeControllerManager, "--cloud-provider=openstack")
	reader, _ := testReader(nil)
	reader.Ledger.Track(testNamespace)
	pod := asInCache(g, testPod(testSet(kcm, "1"), "a"))
	reader.Ledger.OnAdd(pod, false)
	reader.Ledger.OnDelete(pod)
	_, enough := reader.Glimpse(t.Context(), testClient(interceptor.Funcs{}, kcm), testCluster())
	g.Expect(enough).To(BeFalse())
}

func TestAGlimpseThatFailsIsNoAbsence(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	for _, broken := range []interceptor.Funcs{failsOn[*appsv1.Deployment, *appsv1.DeploymentList](), failsOn[*corev1.Pod, *corev1.PodList]()} {
		plane, enough := reader.Glimpse(t.Context(), testClient(broken), testCluster())
		g.Expect(enough).To(BeTrue())
		g.Expect(plane.IsUnknown()).To(BeTrue())
		g.Expect(plane.Why()).To(ContainSubstring("on fire"))
	}
}
