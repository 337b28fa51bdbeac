package usercluster

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

func failingApply(c client.WithWatch, err error) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return err
		},
	})
}

func TestCanaryIsMadeSeenAndRemoved(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 7, template: {metadata: {}, spec: {metadata: {}}}}"))
	empty, known := s.Canary(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(empty.Objects).To(BeEmpty())
	plan := migration.CanaryPlan{Image: "example.com/pause:1", StorageClass: "simcloud-csi"}
	for range 2 {
		g.Expect(s.CreateCanary(t.Context(), breakerRef(), plan)).To(Succeed(), "also when it is there")
	}
	seen := s.Canary(t.Context()).Value()
	g.Expect(kindsOf(seen)).To(Equal([]string{"PersistentVolumeClaim", "Pod"}))
	plan.LoadBalancer = true
	g.Expect(s.CreateCanary(t.Context(), breakerRef(), plan)).To(Succeed())
	seen = s.Canary(t.Context()).Value()
	g.Expect(kindsOf(seen)).To(Equal([]string{"PersistentVolumeClaim", "Pod", "Service"}))

	pod := &corev1.Pod{}
	g.Expect(s.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: ucv1.CanaryName}, pod)).To(Succeed())
	g.Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{ucv1.CanaryLabel: "true"}))
	g.Expect(pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName).To(Equal(ucv1.CanaryName))
	g.Expect(pod.Spec.Containers[0].Image).To(Equal("example.com/pause:1"))

	var refs []observation.Ref
	for _, object := range seen.Objects {
		refs = append(refs, object.Ref)
	}
	live, err := s.get(t.Context(), machineObject(t, "MachineDeployment", ucv1.CanaryName, "{}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.RemoveCanary(t.Context(), append(refs, reads.RefOf(live)))).To(Succeed())
	g.Expect(s.Canary(t.Context()).Value().Objects).To(BeEmpty())
	g.Expect(s.RemoveCanary(t.Context(), refs)).To(Succeed(), "also when it is gone")
	g.Expect(s.RemoveCanary(t.Context(), []observation.Ref{breakerRef()})).To(MatchError(ContainSubstring("is not of it")))
	g.Expect(s.CreateCanary(t.Context(), observation.Ref{Namespace: "kube-system", Name: "gone"}, plan)).To(MatchError(ContainSubstring("gone")))
}

func TestRemovingTheCanaryTakesNothingElse(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	s, _ := sessionWith(interceptor.Funcs{Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
		made := (&client.DeleteOptions{}).ApplyOptions(options)
		asked = append(asked, string(*made.Preconditions.UID))
		return nil
	}})
	g.Expect(s.RemoveCanary(t.Context(), []observation.Ref{{Kind: "Pod", Namespace: "kube-system", Name: ucv1.CanaryName, UID: "1"}})).To(Succeed())
	g.Expect(asked).To(Equal([]string{"1"}), "an object of the same name that someone else made since then stays")
}

func kindsOf(workload observation.CanaryWorkload) []string {
	var kinds []string
	for _, object := range workload.Objects {
		kinds = append(kinds, object.Kind)
	}
	return kinds
}

func TestTheCanarysPodTolerates(t *testing.T) {
	g := NewWithT(t)
	taints := []any{map[string]any{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}, map[string]any{"key": "maintenance", "effect": "NoExecute"}}
	objects := canaryWorkload(migration.CanaryPlan{Image: "registry.example.com/pause:3"}, taints)
	g.Expect(objects[0].(*corev1.Pod).Spec.Tolerations).To(Equal([]corev1.Toleration{
		{Key: ucv1.CanaryLabel, Operator: corev1.TolerationOpExists},
		{Key: "dedicated", Operator: corev1.TolerationOpExists}, {Key: "maintenance", Operator: corev1.TolerationOpExists},
	}))
}

// Who writes a Cluster chooses the image.
func TestTheCanarysPodHasNoRights(t *testing.T) {
	g := NewWithT(t)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	for _, object := range canaryWorkload(migration.CanaryPlan{Image: "evil.example/image", StorageClass: "fast", LoadBalancer: true}, nil) {
		pod, is := object.(*corev1.Pod)
		if !is {
			continue
		}
		g.Expect(pod.Spec.AutomountServiceAccountToken).To(HaveValue(BeFalse()))
		g.Expect(pod.Spec.ServiceAccountName).To(BeEmpty())
		g.Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{ucv1.CanaryLabel: "true"}))
		g.Expect(pod.Spec.Containers).To(ConsistOf(And(HaveField("Command", BeEmpty()), HaveField("Args", BeEmpty()), HaveField("Env", BeEmpty()))))
		for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
			g.Expect(result.Allowed).To(BeTrue(), result.ForbiddenDetail)
		}
		return
	}
	t.Fatal("the canary has no pod")
}

func TestCanarysWorkload(t *testing.T) {
	ours := metav1.ObjectMeta{Namespace: "kube-system", Name: ucv1.CanaryName, Labels: map[string]string{ucv1.CanaryLabel: "true"}}
	pod := &corev1.Pod{ObjectMeta: ours, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}, Phase: corev1.PodRunning,
	}}
	waiting := &corev1.Pod{ObjectMeta: ours, Status: corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"}},
	}}
	pulling := &corev1.Pod{ObjectMeta: ours, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: ours, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h"},
	}}}
	attachment := func(node string, attached bool) *storagev1.VolumeAttachment {
		return &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "va"}, Status: storagev1.VolumeAttachmentStatus{Attached: attached},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: "csi.example.com", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")}},
		}
	}
	attachless := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)}}
	service := &corev1.Service{ObjectMeta: ours, Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{
		Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}, {Hostname: "lb.example.com"}},
	}}}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    observation.CanaryWorkload
	}{
		"a pod that runs":                     {[]client.Object{pod}, observation.CanaryWorkload{PodNode: "n", PodReady: true, PodProblem: "Running"}},
		"a pod that is not scheduled":         {[]client.Object{waiting}, observation.CanaryWorkload{PodProblem: "Unschedulable"}},
		"a pod whose image is not there":      {[]client.Object{pulling}, observation.CanaryWorkload{PodProblem: "ImagePullBackOff"}},
		"a volume that is attached":           {[]client.Object{pod, claim, volume, attachment("n", true)}, observation.CanaryWorkload{PodNode: "n", PodReady: true, PodProblem: "Running", Volume: "pv", Attached: true}},
		"a volume that is not attached yet":   {[]client.Object{pod, claim, volume, attachment("n", false)}, observation.CanaryWorkload{PodNode: "n", PodReady: true, PodProblem: "Running", Volume: "pv"}},
		"a volume that is attached elsewhere": {[]client.Object{pod, claim, volume, attachment("m", true)}, observation.CanaryWorkload{PodNode: "n", PodReady: true, PodProblem: "Running", Volume: "pv"}},
		"a driver that attaches nothing":      {[]client.Object{pod, claim, volume, attachless}, observation.CanaryWorkload{PodNode: "n", PodReady: true, PodProblem: "Running", Volume: "pv", Attached: true}},
		"a Service with addresses":            {[]client.Object{service}, observation.CanaryWorkload{Ingress: []string{"192.0.2.1", "lb.example.com"}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, _ := sessionWith(interceptor.Funcs{}, tc.objects...)
			seen, known := s.Canary(t.Context()).Get()
			g.Expect(known).To(BeTrue())
			seen.Objects = nil
			g.Expect(seen).To(Equal(tc.want))
		})
	}
	t.Run("an object of someone else", func(t *testing.T) {
		g := NewWithT(t)
		s, _ := sessionWith(interceptor.Funcs{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: ucv1.CanaryName}})
		seen := s.Canary(t.Context())
		g.Expect(seen.IsUnknown()).To(BeTrue())
		g.Expect(seen.Why()).To(ContainSubstring("is not ours"))
	})
}

func TestDrains(t *testing.T) {
	g := NewWithT(t)
	pod := func(name string, labels map[string]string, change func(*corev1.Pod)) corev1.Pod {
		made := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: "n"}}
		if change != nil {
			change(&made)
		}
		return made
	}
	budget := func(name string, match map[string]string, allowed int32) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: match}},
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
		{Namespace: "web", Name: "front", Budget: "PodDisruptionBudget web/front"},
		{Namespace: "web", Name: "twice", Budget: "PodDisruptionBudget web/b"},
		{Namespace: "web", Name: "free"},
		{Namespace: "web", Name: "going", Going: true, Finalizers: []string{"example.com/hold"}},
	}))
	g.Expect(foreignFinalizers([]string{"machine-delete-finalizer", "machine-node-delete-finalizer", "example.com/keep"})).To(Equal([]string{"example.com/keep"}))
	s, _ := sessionWith(interceptor.Funcs{})
	none, known := s.Drains(t.Context(), nil).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(none).To(BeEmpty())
}
