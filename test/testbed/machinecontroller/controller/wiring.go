package controller

import (
	"context"
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
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.machinesOfNode),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: nodeChanged})).
		Complete(r)
}

// machinesOfNode is the one that a Node is labeled with, and else all that wait for theirs.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L250-L290
func (r *machineReconciler) machinesOfNode(ctx context.Context, node client.Object) []reconcile.Request {
	list := &machines.MachineList{}
	if err := r.client.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list Machines", "node", node.GetName())
		return nil
	}
	owner, owned := node.GetLabels()[machines.NodeOwnerLabel]
	var requests []reconcile.Request
	for i := range list.Items {
		machine := &list.Items[i]
		if owned && string(machine.UID) == owner || !owned && machine.Status.NodeRef == nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(machine)})
		}
	}
	return requests
}

// nodeChanged: what a CCM writes wakes no one, neither a providerID nor addresses. Only a change of Ready does.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L211-L232
func nodeChanged(update event.UpdateEvent) bool {
	before, isNode := update.ObjectOld.(*corev1.Node)
	after, isNodeToo := update.ObjectNew.(*corev1.Node)
	if !isNode || !isNodeToo || before.ResourceVersion == after.ResourceVersion {
		return false
	}
	was, now := readyOf(before), readyOf(after)
	return was == nil || now == nil || was.Status != now.Status
}
