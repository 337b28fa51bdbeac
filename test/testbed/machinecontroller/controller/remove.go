package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// remove drains, then deletes the instance, then the Node; each finalizer goes
// when what it stands for is gone.
func (r *machineReconciler) remove(ctx context.Context, machine *machines.Machine) (ctrl.Result, error) {
	node, err := r.nodeToRemove(ctx, machine)
	if err != nil {
		return ctrl.Result{}, err
	}
	if controllerutil.ContainsFinalizer(machine, machines.InstanceFinalizer) {
		if drained, err := r.drained(ctx, machine, node); err != nil || !drained {
			return ctrl.Result{RequeueAfter: evictionRetry}, err
		}
		if gone, err := r.instanceGone(ctx, machine.Name); err != nil || !gone {
			return ctrl.Result{RequeueAfter: evictionRetry}, err
		}
		err := r.change(ctx, machine, "remove the instance finalizer of", func() {
			controllerutil.RemoveFinalizer(machine, machines.InstanceFinalizer)
		})
		if err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	if node != nil {
		if err := r.deleteNode(ctx, node); err != nil {
			return ctrl.Result{}, err
		}
	}
	err = r.change(ctx, machine, "remove the node finalizer of", func() {
		controllerutil.RemoveFinalizer(machine, machines.NodeFinalizer)
	})
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// nodeToRemove is the one that the Machine names, or that is labeled with it.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L669
func (r *machineReconciler) nodeToRemove(ctx context.Context, machine *machines.Machine) (*corev1.Node, error) {
	if machine.Status.NodeRef != nil {
		return nodeNamed(ctx, r.client, machine.Status.NodeRef)
	}
	nodes := &corev1.NodeList{}
	if err := r.client.List(ctx, nodes, client.MatchingLabels{machines.NodeOwnerLabel: string(machine.UID)}); err != nil {
		return nil, fmt.Errorf("list Nodes: %w", err)
	}
	if len(nodes.Items) == 0 {
		return nil, nil
	}
	return &nodes.Items[0], nil
}

// instanceGone asks for its deletion until it is not found any more, as the drivers of most clouds do.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L715-L724
func (r *machineReconciler) instanceGone(ctx context.Context, name string) (bool, error) {
	_, err := r.cloud.Instance(ctx, name)
	if errors.Is(err, cloud.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, r.cloud.Delete(ctx, name)
}

func (r *machineReconciler) deleteNode(ctx context.Context, node *corev1.Node) error {
	err := r.client.Delete(ctx, node, client.Preconditions{UID: &node.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Node %s: %w", node.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("deleted", "node", node.Name)
	return nil
}

// drained is true once no pod is left that a drain cares for, or when a drain
// makes no sense or lasted too long.
func (r *machineReconciler) drained(ctx context.Context, machine *machines.Machine, node *corev1.Node) (bool, error) {
	if node == nil || r.clock.Since(machine.DeletionTimestamp.Time) >= r.options.skipEvictionAfter {
		return true, nil
	}
	_, skip := node.Annotations[machines.SkipEvictionAnnotation]
	// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L559-L563
	if skip || !nodeIsReady(node) && !r.options.drainsNotReady {
		return true, nil
	}
	if elsewhere, err := r.otherSchedulableNode(ctx, node); err != nil || !elsewhere {
		return err == nil, err
	}
	if !node.Spec.Unschedulable {
		before := node.DeepCopy()
		node.Spec.Unschedulable = true
		if err := r.client.Patch(ctx, node, client.MergeFrom(before)); err != nil {
			return false, fmt.Errorf("cordon Node %s: %w", node.Name, err)
		}
	}
	return r.evict(ctx, node)
}

func (r *machineReconciler) otherSchedulableNode(ctx context.Context, node *corev1.Node) (bool, error) {
	list := &corev1.NodeList{}
	if err := r.client.List(ctx, list); err != nil {
		return false, fmt.Errorf("list Nodes: %w", err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != node.Name && !other.Spec.Unschedulable && other.DeletionTimestamp == nil {
			return true, nil
		}
	}
	return false, nil
}

func (r *machineReconciler) evict(ctx context.Context, node *corev1.Node) (bool, error) {
	list := &corev1.PodList{}
	if err := r.client.List(ctx, list, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
		return false, fmt.Errorf("list the pods of Node %s: %w", node.Name, err)
	}
	drained := true
	for i := range list.Items {
		pod := &list.Items[i]
		if !isEvictable(pod) {
			continue
		}
		drained = false
		if pod.DeletionTimestamp != nil {
			continue
		}
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
		err := r.client.SubResource("eviction").Create(ctx, pod, eviction)
		switch {
		case apierrors.IsTooManyRequests(err):
			ctrl.LoggerFrom(ctx).Info("a disruption budget holds the pod", "pod", client.ObjectKeyFromObject(pod), "node", node.Name)
		case client.IgnoreNotFound(err) != nil:
			return false, fmt.Errorf("evict pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return drained, nil
}

// isEvictable leaves out pods that would come back at once on the same Node, and
// those that ended.
func isEvictable(pod *corev1.Pod) bool {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
		return false
	}
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}
