package usercluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// CreateCanary makes what is missing of the canary: a MachineDeployment like the target's, and the workload for its Node. What is
// there stays as it is.
func (s *Session) CreateCanary(ctx context.Context, target observation.Ref, plan migration.CanaryPlan) error {
	source := &unstructured.Unstructured{}
	source.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, source); err != nil {
		return fmt.Errorf("read %s to make a canary of it: %w", target, err)
	}
	deployment, err := canaryDeployment(source)
	if err != nil {
		return fmt.Errorf("make a canary of %s: %w", target, err)
	}
	objects := []*unstructured.Unstructured{deployment}
	taints, _, _ := unstructured.NestedSlice(source.Object, "spec", "template", "spec", "taints")
	for _, object := range canaryWorkload(plan, taints) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("make a canary of %s: %w", target, err)
		}
		unstructured.RemoveNestedField(content, "status")
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	for _, object := range objects {
		if err := s.createMissing(ctx, object); err != nil {
			return fmt.Errorf("make the canary's %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

// createMissing applies an object that is not there: the request of an apply has its name, so that the right can be bound to it.
func (s *Session) createMissing(ctx context.Context, object *unstructured.Unstructured) error {
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.GroupVersionKind())
	err := s.client.Get(ctx, client.ObjectKeyFromObject(object), there)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	return s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FieldManager))
}

// canaryDeployment is a copy of the target with one replica, under a name, a selector and labels of its own: with the target's,
// its MachineSets would adopt the canary. Of the annotations it keeps those that the machine-controller and the
// operating-system-manager read; GitOps tools and autoscalers must not take it for theirs.
func canaryDeployment(source *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	template, found, err := unstructured.NestedMap(source.Object, "spec", "template")
	if err != nil || !found {
		return nil, errors.New("it has no spec.template")
	}
	ours := map[string]any{ucv1.CanaryLabel: "true"}
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	template["metadata"] = map[string]any{"labels": maps.Clone(ours), "annotations": kept(annotations)}
	nodeLabels, _, _ := unstructured.NestedStringMap(template, "spec", "metadata", "labels")
	labels := map[string]any{ucv1.CanaryLabel: "true"}
	for key, value := range nodeLabels {
		labels[key] = value
	}
	taints, _, _ := unstructured.NestedSlice(template, "spec", "taints")
	// It keeps others from preferring the Node, which goes soon, and no DaemonSet away from it.
	taints = append(taints, map[string]any{"key": ucv1.CanaryLabel, "value": "true", "effect": string(corev1.TaintEffectPreferNoSchedule)})
	for _, set := range []func() error{
		func() error { return unstructured.SetNestedMap(template, labels, "spec", "metadata", "labels") },
		func() error { return unstructured.SetNestedSlice(template, taints, "spec", "taints") },
	} {
		if err := set(); err != nil {
			return nil, errors.New("its spec.template.spec is not understood")
		}
	}
	unstructured.RemoveNestedField(template, "spec", "providerID")
	unstructured.RemoveNestedField(template, "spec", "metadata", "name")
	canary := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(1), "paused": false, "selector": map[string]any{"matchLabels": maps.Clone(ours)}, "template": template,
	}}}
	canary.SetGroupVersionKind(source.GroupVersionKind())
	canary.SetNamespace(source.GetNamespace())
	canary.SetName(ucv1.CanaryName)
	canary.SetLabels(map[string]string{ucv1.CanaryLabel: "true"})
	if annotations := kept(source.GetAnnotations()); len(annotations) > 0 {
		if err := unstructured.SetNestedMap(canary.Object, annotations, "metadata", "annotations"); err != nil {
			return nil, err
		}
	}
	return canary, nil
}

// kept are the annotations whose domain is one of the machine-controller's, the operating-system-manager's and their
// installers': k8c.io/operating-system-profile, for example. Those of the autoscaler are in cluster.k8s.io.
func kept(annotations map[string]string) map[string]any {
	result := map[string]any{}
	for key, value := range annotations {
		domain, _, _ := strings.Cut(key, "/")
		for _, known := range []string{"k8c.io", "kubermatic.io"} {
			if domain == known || strings.HasSuffix(domain, "."+known) {
				result[key] = value
			}
		}
	}
	return result
}

// canaryWorkload runs on the canary's Node and nowhere else, whatever taints the target's Nodes have. The volume comes before the
// pod that mounts it.
func canaryWorkload(plan migration.CanaryPlan, taints []any) []client.Object {
	name := metav1.ObjectMeta{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName, Labels: map[string]string{ucv1.CanaryLabel: "true"}}
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *name.DeepCopy(), Spec: corev1.PodSpec{
		NodeSelector:                  map[string]string{ucv1.CanaryLabel: "true"},
		AutomountServiceAccountToken:  new(false),
		TerminationGracePeriodSeconds: new(int64(1)),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65535)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "canary", Image: plan.Image, Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("8Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Tolerations: tolerations(taints),
	}}
	var objects []client.Object
	if plan.StorageClass != "" {
		objects = append(objects, &corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: *name.DeepCopy(), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &plan.StorageClass,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}})
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name.Name},
		}}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	objects = append(objects, pod)
	if plan.LoadBalancer {
		objects = append(objects, &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: *name.DeepCopy(), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{ucv1.CanaryLabel: "true"},
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}})
	}
	return objects
}

// Canary reads the canary's workload.
func (s *Session) Canary(ctx context.Context) observation.Observed[observation.CanaryWorkload] {
	workload := observation.CanaryWorkload{}
	pod, claim, service := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &corev1.Service{}
	for _, part := range []struct {
		kind   string
		object client.Object
	}{{"Pod", pod}, {"PersistentVolumeClaim", claim}, {"Service", service}} {
		kind, object := part.kind, part.object
		err := s.client.Get(ctx, client.ObjectKey{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}, object)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return observation.Unknown[observation.CanaryWorkload](reads.Because("reading the canary's "+kind, err))
		case object.GetLabels()[ucv1.CanaryLabel] == "":
			return observation.Unknown[observation.CanaryWorkload](kind + " " + ucv1.CanaryNamespace + "/" + ucv1.CanaryName + " is not ours: delete it")
		}
		seen := observation.CanaryObject{Ref: observation.Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID())}}
		if deleted := object.GetDeletionTimestamp(); deleted != nil {
			seen.DeletingSince = deleted.Time
		}
		workload.Objects = append(workload.Objects, seen)
	}
	slices.SortFunc(workload.Objects, func(a, b observation.CanaryObject) int { return reads.Compare(a.Ref, b.Ref) })
	workload.PodNode, workload.PodReady, workload.PodProblem = pod.Spec.NodeName, isPodReady(pod), podProblem(pod)
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		workload.Ingress = append(workload.Ingress, ingress.IP+ingress.Hostname)
	}
	if claim.Status.Phase == corev1.ClaimBound {
		workload.Volume = claim.Spec.VolumeName
		attached, err := s.attached(ctx, claim.Spec.VolumeName, pod.Spec.NodeName)
		if err != nil {
			return observation.Unknown[observation.CanaryWorkload](reads.Because("looking for the attachment of the canary's volume", err))
		}
		workload.Attached = attached
	}
	return observation.Known(workload)
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

// tolerations of the taints of a MachineDeployment's template, and of our own.
func tolerations(taints []any) []corev1.Toleration {
	tolerated := []corev1.Toleration{{Key: ucv1.CanaryLabel, Operator: corev1.TolerationOpExists}}
	for _, entry := range taints {
		if taint, isMap := entry.(map[string]any); isMap {
			key, _, _ := unstructured.NestedString(taint, "key")
			tolerated = append(tolerated, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
		}
	}
	return tolerated
}

// attached asks the VolumeAttachments, but for a driver that attaches nothing.
func (s *Session) attached(ctx context.Context, volume, node string) (bool, error) {
	pv := &corev1.PersistentVolume{}
	if err := s.client.Get(ctx, client.ObjectKey{Name: volume}, pv); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if pv.Spec.CSI == nil {
		return false, nil
	}
	driver := &storagev1.CSIDriver{}
	if err := s.client.Get(ctx, client.ObjectKey{Name: pv.Spec.CSI.Driver}, driver); client.IgnoreNotFound(err) != nil {
		return false, err
	}
	if !ptr.Deref(driver.Spec.AttachRequired, true) {
		return true, nil
	}
	attached := false
	empty := func() *storagev1.VolumeAttachmentList { return &storagev1.VolumeAttachmentList{} }
	err := reads.List(ctx, s.client, empty, func(page *storagev1.VolumeAttachmentList) {
		attached = attached || slices.ContainsFunc(page.Items, func(a storagev1.VolumeAttachment) bool {
			return ptr.Deref(a.Spec.Source.PersistentVolumeName, "") == volume && a.Spec.NodeName == node && a.Status.Attached
		})
	})
	return attached, err
}

// RemoveCanary deletes objects of the canary, those with these UIDs only.
func (s *Session) RemoveCanary(ctx context.Context, refs []observation.Ref) error {
	for _, ref := range refs {
		if ref.Name != ucv1.CanaryName {
			return fmt.Errorf("remove the canary: %s is not of it", ref)
		}
		object := &unstructured.Unstructured{}
		gvk := schema.GroupVersionKind{Version: "v1", Kind: ref.Kind}
		if ref.Kind == machineDeploymentKind {
			gvk = machineGroupVersion().WithKind(ref.Kind)
		}
		object.SetGroupVersionKind(gvk)
		object.SetNamespace(ref.Namespace)
		object.SetName(ref.Name)
		err := s.client.Delete(ctx, object, client.Preconditions{UID: new(types.UID(ref.UID))}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the canary's %s: %w", ref, err)
		}
	}
	return nil
}
