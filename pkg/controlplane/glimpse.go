package controlplane

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Glimpse is what a cache with TransformPod shows of the control plane: that there is none, or that none of its pods is left. It
// says nothing of one that has pods of KCM, because their arguments are not in the cache. Enough is false where only Look could
// say more: KCM has no pods, and others have. Nothing may be done or proven by it.
func (r *Reader) Glimpse(ctx context.Context, cache client.Reader, cluster *ucv1.Cluster) (
	plane observation.Observed[observation.ControlPlane], enough bool,
) {
	deployments, pods := &appsv1.DeploymentList{}, &corev1.PodList{}
	for _, list := range []client.ObjectList{deployments, pods} {
		if err := cache.List(ctx, list, client.InNamespace(cluster.Namespace)); err != nil {
			return observation.Unknown[observation.ControlPlane](err.Error()), true
		}
	}
	ref, seen := cluster.KubeControllerManager(), observation.ControlPlane{}
	deployment := deploymentNamed(deployments, ref.Name)
	switch {
	case deployment == nil:
		return observation.Absent[observation.ControlPlane](), true
	case hasPods(pods.Items, ref.Container):
		return plane, true
	case slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return !hasFinished(&pod) }),
		len(r.Ledger.Former.Processes(cluster.Namespace, ref.Container)) > 0:
		return plane, false
	}
	var err error
	if seen.KCM, err = newComponent(deployment, ref.Container, workloads{}, nil); err == nil {
		err = lookBeside(cluster, deployments, workloads{}, &seen)
	}
	if err != nil {
		return observation.Unknown[observation.ControlPlane](err.Error()), true
	}
	return observation.Known(seen), true
}

// hasPods that run the container or may come to; its kubelet has said nothing yet of one without any status.
func hasPods(pods []corev1.Pod, container string) bool {
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		if len(pod.Status.ContainerStatuses) == 0 {
			return !hasFinished(&pod)
		}
		status := statusOf(&pod, container)
		return status != nil && !endedForGood(&pod, status)
	})
}
