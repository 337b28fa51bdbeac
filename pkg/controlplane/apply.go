package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// ChangeArguments changes flags of a Deployment's container by server-side apply and takes over the ownership of the
// field that holds them. Fields that we applied before are applied again with their present values, since leaving one
// out would delete it. The apply carries the uid, so that a Deployment deleted
// meanwhile is not made again, and the resourceVersion, so that no one's change in between is overwritten: a conflict
// means to look again. Nothing is written when nothing changes.
func ChangeArguments(ctx context.Context, c client.Client, change outcome.ArgumentChange) error {
	deployment, err := readLive(ctx, c, change.Target)
	if err != nil {
		return err
	}
	container := containerNamed(deployment.Spec.Template.Spec.Containers, change.Container)
	if container == nil {
		return fmt.Errorf("%s has no container %s: name the right one in the Cluster's spec", change.Target, change.Container)
	}
	command, args, err := Change(container, change)
	if err != nil {
		return fmt.Errorf("change the arguments of %s: %w", change.Target, err)
	}
	fields := owned{command: !slices.Equal(command, container.Command), args: !slices.Equal(args, container.Args)}
	file, remounted := mounted(deployment, change)
	if fields == (owned{}) && !remounted {
		return nil
	}
	if fields.command && len(command) == 0 || fields.args && len(args) == 0 {
		return fmt.Errorf("the change would leave container %s of %s without command or args, which cannot be applied: "+
			"change it by hand", change.Container, change.Target)
	}
	container.Command, container.Args = command, args
	patch := applyConfiguration(deployment, change.Container, fields, file)
	if err := c.Apply(ctx, patch, client.FieldOwner(ucv1.FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply the arguments of %s: %w", change.Target, err)
	}
	return nil
}

// readLive reads an unstructured object, which a manager's client does not serve from its cache: a cached one may be
// stale, and without managedFields no one could say what we applied before.
func readLive(ctx context.Context, c client.Client, target observation.Ref) (*appsv1.Deployment, error) {
	object, deployment := &unstructured.Unstructured{}, &appsv1.Deployment{}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	if err := c.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, object); err != nil {
		return nil, fmt.Errorf("read %s to change its arguments: %w", target, err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
		return nil, fmt.Errorf("understand %s to change its arguments: %w", target, err)
	}
	if deployment.UID != types.UID(target.UID) {
		return nil, fmt.Errorf(
			"%s is not the one that was observed (uid %s, now %s): observe it again",
			target,
			target.UID,
			deployment.UID,
		)
	}
	return deployment, nil
}

// applyConfiguration holds the changed fields and those that we applied before. The file, if there is one, is mounted
// into the changed container, or into the one that has it.
func applyConfiguration(
	deployment *appsv1.Deployment,
	changed string,
	fields owned,
	file *mount,
) *applyappsv1.DeploymentApplyConfiguration {
	before := appliedByUs(deployment)
	pod := applycorev1.PodSpec()
	for i := range deployment.Spec.Template.Spec.Containers {
		container := &deployment.Spec.Template.Spec.Containers[i]
		want := before[container.Name]
		if container.Name == changed {
			want = owned{command: want.command || fields.command, args: want.args || fields.args}
		}
		if mounts := file.in(container.Name); mounts || want != (owned{}) {
			pod.WithContainers(file.apply(applyContainer(container, want), mounts))
		}
	}
	if file != nil {
		pod.WithVolumes(file.volume())
	}
	return applyappsv1.Deployment(deployment.Name, deployment.Namespace).
		WithUID(deployment.UID).
		WithResourceVersion(deployment.ResourceVersion).
		WithSpec(applyappsv1.DeploymentSpec().WithTemplate(applycorev1.PodTemplateSpec().WithSpec(pod)))
}

func applyContainer(container *corev1.Container, want owned) *applycorev1.ContainerApplyConfiguration {
	configuration := applycorev1.Container().WithName(container.Name)
	if want.command {
		configuration.WithCommand(container.Command...)
	}
	if want.args {
		configuration.WithArgs(container.Args...)
	}
	return configuration
}

// containerNamed is the container of that name, or nil.
func containerNamed(containers []corev1.Container, name string) *corev1.Container {
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i]
		}
	}
	return nil
}

// KeepPod has the pod's ReplicaSet delete its other pods first. The patch carries the uid: another pod of that name is
// not kept.
func KeepPod(ctx context.Context, c client.Client, pod observation.Ref) error {
	return annotate(ctx, c, &corev1.Pod{}, pod, observation.DeletionCostAnnotation, "1000")
}

// Touch has whoever reconciles the Deployment look at it, also those who wait for a new generation, which an annotation makes.
// Until the Deployment controller has seen it, the Deployment is not rolled out; its pods stay as they are.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/registry/apps/deployment/strategy.go#L120-L126
func Touch(ctx context.Context, c client.Client, deployment observation.Ref, now time.Time) error {
	return annotate(ctx, c, &appsv1.Deployment{}, deployment, ucv1.TouchedAnnotation, now.UTC().Format(time.RFC3339Nano))
}

// annotate carries the uid: another object of that name is not meant.
func annotate(ctx context.Context, c client.Client, target client.Object, ref observation.Ref, key, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": ref.UID, "annotations": map[string]string{key: value},
	}})
	if err != nil {
		return err
	}
	target.SetNamespace(ref.Namespace)
	target.SetName(ref.Name)
	if err := c.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(ucv1.FieldManager)); err != nil {
		return fmt.Errorf("annotate %s with %s: %w", ref, key, err)
	}
	return nil
}
