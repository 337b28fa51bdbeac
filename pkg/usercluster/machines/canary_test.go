package machines

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// canaryWith is a canary in a user cluster with the given objects and faults. Nothing makes its Machine.
func canaryWith(faults interceptor.Funcs, objects ...client.Object) *Canary {
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).WithInterceptorFuncs(faults).Build()
	return NewCanary(c, nil, clock.RealClock{}, watches.New(watches.Clients{}, func() {}, logr.Discard()))
}

func TestRemovingTheCanaryTakesNothingElse(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	s := canaryWith(interceptor.Funcs{Delete: func(
		_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption,
	) error {
		made := (&client.DeleteOptions{}).ApplyOptions(options)
		asked = append(asked, string(*made.Preconditions.UID))
		return nil
	}})
	g.Expect(s.Remove(t.Context(), []observation.Ref{{Kind: "Pod", Namespace: "kube-system", Name: ucv1.CanaryName, UID: "1"}})).To(
		Succeed(),
	)
	g.Expect(asked).To(Equal([]string{"1"}), "an object of the same name that someone else made since then stays")
}

func TestTheCanarysPodTolerates(t *testing.T) {
	g := NewWithT(t)
	taints := []corev1.Taint{
		{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule},
		{Key: "maintenance", Effect: corev1.TaintEffectNoExecute},
	}
	objects := canaryWorkload(outcome.CanaryPlan{Image: "registry.example.com/pause:3"}, taints)
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
	for _, object := range canaryWorkload(
		outcome.CanaryPlan{Image: "evil.example/image", StorageClass: "fast", LoadBalancer: true}, nil,
	) {
		pod, is := object.(*corev1.Pod)
		if !is {
			continue
		}
		g.Expect(pod.Spec.AutomountServiceAccountToken).To(HaveValue(BeFalse()))
		g.Expect(pod.Spec.ServiceAccountName).To(BeEmpty())
		g.Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{ucv1.CanaryLabel: "true"}))
		g.Expect(pod.Spec.Containers).To(
			ConsistOf(And(HaveField("Command", BeEmpty()), HaveField("Args", BeEmpty()), HaveField("Env", BeEmpty()))),
		)
		for _, result := range evaluator.EvaluatePod(
			api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec,
		) {
			g.Expect(result.Allowed).To(BeTrue(), result.ForbiddenDetail)
		}
		return
	}
	t.Fatal("the canary has no pod")
}

func csiVolume() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h"},
		}},
	}
}

func TestCanarysWorkload(t *testing.T) {
	ours := metav1.ObjectMeta{Namespace: "kube-system", Name: ucv1.CanaryName, Labels: map[string]string{ucv1.CanaryLabel: "true"}}
	pod := &corev1.Pod{ObjectMeta: ours, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}, Phase: corev1.PodRunning,
	}}
	waiting := &corev1.Pod{ObjectMeta: ours, Status: corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
			Message: "0/3 nodes"}},
	}}
	pulling := &corev1.Pod{ObjectMeta: ours, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}}}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: ours, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	volume := csiVolume()
	attachment := func(node string, attached bool) *storagev1.VolumeAttachment {
		return &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "va"}, Status: storagev1.VolumeAttachmentStatus{Attached: attached},
			Spec: storagev1.VolumeAttachmentSpec{
				Attacher: "csi.example.com", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")},
			},
		}
	}
	attachless := &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)},
	}
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
			s := canaryWith(interceptor.Funcs{}, tc.objects...)
			seen, known := s.Observe(t.Context()).Get()
			g.Expect(known).To(BeTrue())
			seen.Objects = nil
			g.Expect(seen).To(Equal(tc.want))
		})
	}
	t.Run("an object of someone else", func(t *testing.T) {
		g := NewWithT(t)
		s := canaryWith(interceptor.Funcs{},
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: ucv1.CanaryName}})
		seen := s.Observe(t.Context())
		g.Expect(seen.IsUnknown()).To(BeTrue())
		g.Expect(seen.Why()).To(ContainSubstring("is not ours"))
	})
}

func TestWhatIsKeptOfAnAttachmentIsOfItsPlace(t *testing.T) {
	g := NewWithT(t)
	volume := csiVolume()
	attachment := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "va"}, Status: storagev1.VolumeAttachmentStatus{Attached: true},
		Spec: storagev1.VolumeAttachmentSpec{NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")}},
	}
	lists := 0
	s := canaryWith(interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) error {
		lists++
		return c.List(ctx, list, options...)
	}}, volume, attachment)
	shown := metadatafake.NewTestScheme()
	g.Expect(metav1.AddMetaToScheme(shown)).To(Succeed())
	s.watches = watches.New(watches.Clients{Metadata: metadatafake.NewSimpleMetadataClient(shown)}, func() {}, logr.Discard())
	s.watches.Keep(kept.NewTotal(1 << 20))
	s.watches.Set(true)
	t.Cleanup(s.watches.Close)
	s.watches.Resources(
		corev1.SchemeGroupVersion.WithResource("persistentvolumes"), storagev1.SchemeGroupVersion.WithResource("volumeattachments"),
	)
	look := func() int {
		before := lists
		g.Expect(s.attachedTo(t.Context(), canaryPlace{"pv", "n"}).Value()).To(BeTrue())
		return lists - before
	}
	g.Eventually(look).Should(BeZero(), "watches show no change")
	g.Expect(s.attachedTo(t.Context(), canaryPlace{"pv", "m"}).Value()).To(BeFalse(), "it moved")
}
