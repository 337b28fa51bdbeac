package controller

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// retries come quickly: a testbed must not sit out a long back-off after, say,
// the webhook was down.
func retries(concurrent int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrent,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			50*time.Millisecond,
			2*time.Second,
		),
	}
}

func (r *deploymentReconciler) add(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).Named("machinedeployment").WithOptions(retries(1)).
		For(&machines.MachineDeployment{}).Owns(&machines.MachineSet{}).Complete(r)
}

func (r *setReconciler) add(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).Named("machineset").WithOptions(retries(1)).
		For(&machines.MachineSet{}).Owns(&machines.Machine{}).Complete(r)
}

func (r *machineReconciler) add(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).Named("machine").WithOptions(retries(4)).
		For(&machines.Machine{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(machineOfNode),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: nodeChanged})).
		Complete(r)
}

func machineOfNode(_ context.Context, node client.Object) []reconcile.Request {
	namespace, name, found := strings.Cut(node.GetAnnotations()[machines.NodeMachineAnnotation], "/")
	if !found {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}}
}

// nodeChanged lets heartbeats pass by unnoticed.
func nodeChanged(update event.UpdateEvent) bool {
	before, ok := update.ObjectOld.(*corev1.Node)
	if !ok {
		return true
	}
	after, ok := update.ObjectNew.(*corev1.Node)
	if !ok {
		return true
	}
	return before.Generation != after.Generation || nodeIsReady(before) != nodeIsReady(after) ||
		len(before.Status.Addresses) != len(after.Status.Addresses) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
}
