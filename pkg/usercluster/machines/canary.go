package machines

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Canary is the extra Machine that comes first, with its workload in the user cluster: a pod, and a volume and a load balancer
// where these are asked for.
type Canary struct {
	client   client.Client
	machines API
	clock    clock.PassiveClock
	watches  *watches.Watches

	// What was read of each object, and whether its volume is attached in its place.
	pod        kept.Value[corev1.Pod]
	claim      kept.Value[corev1.PersistentVolumeClaim]
	service    kept.Value[corev1.Service]
	place      canaryPlace
	attachment *kept.Value[bool]
}

// NewCanary has its Machine made by an API; c is a client of the user cluster.
func NewCanary(c client.Client, machines API, clk clock.PassiveClock, watching *watches.Watches) *Canary {
	return &Canary{client: c, machines: machines, clock: clk, watches: watching, attachment: &kept.Value[bool]{}}
}

// Create makes what is missing of the canary: the Machine like the target's, and the workload for its Node. What is there stays
// as it is.
func (c *Canary) Create(ctx context.Context, target observation.Ref, plan outcome.CanaryPlan) error {
	taints, err := c.machines.CreateCanary(ctx, target)
	if err != nil {
		return fmt.Errorf("make a canary of %s: %w", target, err)
	}
	for _, object := range canaryWorkload(plan, taints) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("make a canary of %s: %w", target, err)
		}
		unstructured.RemoveNestedField(content, "status")
		if err := CreateMissing(ctx, c.client, &unstructured.Unstructured{Object: content}); err != nil {
			return err
		}
	}
	return nil
}

// canaryWorkload runs on the canary's Node and nowhere else, whatever taints the Node has. The volume comes before the
// pod that mounts it.
func canaryWorkload(plan outcome.CanaryPlan, taints []corev1.Taint) []client.Object {
	labels := map[string]string{ucv1.CanaryLabel: "true"}
	name := metav1.ObjectMeta{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName, Labels: labels}
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *name.DeepCopy(), Spec: corev1.PodSpec{
		NodeSelector:                  labels,
		AutomountServiceAccountToken:  new(false),
		TerminationGracePeriodSeconds: new(int64(1)),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65535)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "canary", Image: plan.Image, Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("8Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Tolerations: tolerations(taints),
	}}
	var objects []client.Object
	if plan.StorageClass != "" {
		size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		objects = append(objects, &corev1.PersistentVolumeClaim{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: *name.DeepCopy(),
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &plan.StorageClass,
				Resources: corev1.VolumeResourceRequirements{Requests: size},
			},
		})
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name.Name},
		}}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	objects = append(objects, pod)
	if plan.LoadBalancer {
		objects = append(objects, &corev1.Service{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: *name.DeepCopy(),
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeLoadBalancer, Selector: labels,
				Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		})
	}
	return objects
}

// Observe reads the canary's workload, and sees to it that the reconciler wakes when it changes. Each object is kept by itself.
func (c *Canary) Observe(ctx context.Context) observation.Observed[observation.CanaryWorkload] {
	pods, claims := corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	c.watches.Object(pods, canaryKey())
	c.watches.Object(claims, canaryKey())
	pod := readPart(ctx, c, &c.pod, "Pod", c.watches.MarkOfObjects(canaryKey(), pods))
	claim := readPart(ctx, c, &c.claim, "PersistentVolumeClaim", c.watches.MarkOfObjects(canaryKey(), claims))
	service := readPart(ctx, c, &c.service, "Service", c.watches.Mark(corev1.SchemeGroupVersion.WithResource("services")))
	if pod.IsUnknown() || claim.IsUnknown() || service.IsUnknown() {
		return observation.Unknown[observation.CanaryWorkload](cmp.Or(pod.Why(), claim.Why(), service.Why()))
	}
	workload := workloadOf(pod.Value(), service.Value())
	if pod.IsKnown() {
		workload.Objects = append(workload.Objects, canaryObject("Pod", new(pod.Value())))
	}
	if claim.IsKnown() {
		workload.Objects = append(workload.Objects, canaryObject("PersistentVolumeClaim", new(claim.Value())))
	}
	if service.IsKnown() {
		workload.Objects = append(workload.Objects, canaryObject("Service", new(service.Value())))
	}
	slices.SortFunc(workload.Objects, func(a, b observation.CanaryObject) int { return reads.Compare(a.Ref, b.Ref) })
	if claim.Value().Status.Phase != corev1.ClaimBound {
		return observation.Known(workload)
	}
	workload.Volume = claim.Value().Spec.VolumeName
	attached := c.attachedTo(ctx, canaryPlace{workload.Volume, workload.PodNode})
	if attached.IsUnknown() {
		return observation.Unknown[observation.CanaryWorkload](attached.Why())
	}
	workload.Attached = attached.Value()
	return observation.Known(workload)
}

func canaryKey() types.NamespacedName {
	return types.NamespacedName{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}
}

// readPart reads one object of the workload.
func readPart[T any, P interface {
	*T
	client.Object
}](
	ctx context.Context, c *Canary, value *kept.Value[T], kind string, mark kept.Mark,
) observation.Observed[T] {
	return value.Read(ctx, c.clock.Now(), mark, func() observation.Observed[T] {
		object := P(new(T))
		switch err := c.client.Get(ctx, canaryKey(), object); {
		case apierrors.IsNotFound(err):
			return observation.Absent[T]()
		case err != nil:
			return observation.Unknown[T](reads.Because("reading the canary's "+kind, err))
		case object.GetLabels()[ucv1.CanaryLabel] == "":
			return observation.Unknown[T](kind + " " + canaryKey().String() + " is not ours: delete it")
		}
		return observation.Known(*object)
	})
}

func canaryObject(kind string, object client.Object) observation.CanaryObject {
	seen := observation.CanaryObject{Ref: observation.Ref{
		Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
	}}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		seen.DeletingSince = deleted.Time
	}
	return seen
}

func workloadOf(pod corev1.Pod, service corev1.Service) observation.CanaryWorkload {
	workload := observation.CanaryWorkload{
		PodNode: pod.Spec.NodeName, PodReady: isPodReady(&pod), PodProblem: podProblem(&pod),
	}
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		workload.Ingress = append(workload.Ingress, ingress.IP+ingress.Hostname)
	}
	return workload
}

// canaryPlace is where its volume should be.
type canaryPlace struct{ volume, node string }

func (c *Canary) attachedTo(ctx context.Context, place canaryPlace) observation.Observed[bool] {
	if place != c.place {
		c.place, c.attachment = place, &kept.Value[bool]{}
	}
	mark := c.watches.Mark(corev1.SchemeGroupVersion.WithResource("persistentvolumes"),
		storagev1.SchemeGroupVersion.WithResource("volumeattachments"))
	return c.attachment.Read(ctx, c.clock.Now(), mark, func() observation.Observed[bool] {
		attached, err := c.attached(ctx, place.volume, place.node)
		if err != nil {
			return observation.Unknown[bool](reads.Because("looking for the attachment of the canary's volume", err))
		}
		return observation.Known(attached)
	})
}

func isPodReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// podProblem is what the scheduler or the kubelet says. Messages of the scheduler count Nodes, so only the reason is taken.
func podProblem(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil {
			return waiting.Reason
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
			return condition.Reason
		}
	}
	return string(pod.Status.Phase)
}

// tolerations of the taints of the canary's Node, and of our own.
func tolerations(taints []corev1.Taint) []corev1.Toleration {
	tolerated := []corev1.Toleration{{Key: ucv1.CanaryLabel, Operator: corev1.TolerationOpExists}}
	for _, taint := range taints {
		tolerated = append(tolerated, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists})
	}
	return tolerated
}

// attached asks the VolumeAttachments, but for a driver that attaches nothing.
func (c *Canary) attached(ctx context.Context, volume, node string) (bool, error) {
	pv := &corev1.PersistentVolume{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: volume}, pv); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if pv.Spec.CSI == nil {
		return false, nil
	}
	driver := &storagev1.CSIDriver{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: pv.Spec.CSI.Driver}, driver); client.IgnoreNotFound(err) != nil {
		return false, err
	}
	if !ptr.Deref(driver.Spec.AttachRequired, true) {
		return true, nil
	}
	attached := false
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := reads.List(ctx, c.client, empty, func(page *storagev1.VolumeAttachmentList) {
		attached = attached || slices.ContainsFunc(page.Items, func(a storagev1.VolumeAttachment) bool {
			return ptr.Deref(a.Spec.Source.PersistentVolumeName, "") == volume && a.Spec.NodeName == node && a.Status.Attached
		})
	})
	return attached, err
}

// Remove deletes objects of the canary, those with these UIDs only.
func (c *Canary) Remove(ctx context.Context, refs []observation.Ref) error {
	for _, ref := range refs {
		if ref.Name != ucv1.CanaryName {
			return fmt.Errorf("remove the canary: %s is not of it", ref)
		}
		if err := c.remove(ctx, ref); err != nil {
			return fmt.Errorf("remove the canary's %s: %w", ref, err)
		}
	}
	return nil
}

func (c *Canary) remove(ctx context.Context, ref observation.Ref) error {
	switch ref.Kind {
	case "Pod", "PersistentVolumeClaim", "Service":
		return DeleteSeen(ctx, c.client, corev1.SchemeGroupVersion.WithKind(ref.Kind), ref)
	}
	return c.machines.Change(ctx, outcome.Action{Kind: outcome.ActionRemoveCanary, Objects: []observation.Ref{ref}})
}
