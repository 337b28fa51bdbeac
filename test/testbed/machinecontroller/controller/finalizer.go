package controller

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// soon is how long after a write of its own an object is looked at again.
const soon = time.Millisecond

// deletesInOrder has a MachineDeployment or MachineSet deleted after what it has, by the garbage collector, unless who deletes it
// asks for the background: the API server then takes this finalizer away.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/controller.go#L162-L170
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L168-L177
func deletesInOrder(ctx context.Context, c client.Client, object client.Object) (added bool, err error) {
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok || !controllerutil.AddFinalizer(object, metav1.FinalizerDeleteDependents) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, object, patch); err != nil {
		return false, fmt.Errorf("add a finalizer to %s: %w", object.GetName(), err)
	}
	return true, nil
}
