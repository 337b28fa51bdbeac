package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// node is the Machine's Node, nil if there is none: the real one knows it by the instance's providerID, and else by an address of
// the instance, whatever its name and labels are, and whoever had that address before.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L1064 (getNode)
func (r *machineReconciler) node(ctx context.Context, instance *cloud.Instance) (*corev1.Node, error) {
	nodes := &corev1.NodeList{}
	if err := r.client.List(ctx, nodes); err != nil {
		return nil, fmt.Errorf("list Nodes: %w", err)
	}
	for _, is := range []func(corev1.Node) bool{
		func(node corev1.Node) bool {
			return strings.EqualFold(node.Spec.ProviderID, instance.ProviderID)
		},
		func(node corev1.Node) bool {
			return slices.ContainsFunc(internalOf(boot.Internal(instance.Addresses)), func(address string) bool {
				return slices.Contains(internalOf(node.Status.Addresses), address)
			})
		},
	} {
		if at := slices.IndexFunc(nodes.Items, is); at >= 0 {
			return nodes.Items[at].DeepCopy(), nil
		}
	}
	return nil, nil
}

func internalOf(addresses []corev1.NodeAddress) []string {
	var all []string
	for _, address := range addresses {
		if address.Type == corev1.NodeInternalIP {
			all = append(all, address.Address)
		}
	}
	return all
}

// own labels the Node. The real one writes into the map of labels as it is, and panics where a Node has none; ours goes on.
func (r *machineReconciler) own(ctx context.Context, machine *machines.Machine, node *corev1.Node) error {
	if node.Labels[machines.NodeOwnerLabel] == string(machine.UID) {
		return nil
	}
	before := node.DeepCopy()
	node.Labels = with(node.Labels, machines.NodeOwnerLabel, string(machine.UID))
	if err := r.client.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("label Node %s: %w", node.Name, err)
	}
	return nil
}

// awaitNode waits until the instance's Node can be told. A Machine of a MachineSet that has none for too long is made again.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L956 (joinClusterTimeout)
func (r *machineReconciler) awaitNode(
	ctx context.Context, machine *machines.Machine, instance *cloud.Instance,
) (ctrl.Result, error) {
	node, err := r.node(ctx, instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	if node != nil {
		return ctrl.Result{}, r.follow(ctx, machine, node)
	}
	owner := metav1.GetControllerOf(machine)
	switch {
	case r.options.joinTimeout == 0 || owner == nil || owner.Kind != "MachineSet":
		return ctrl.Result{}, nil
	case r.clock.Since(machine.CreationTimestamp.Time) <= r.options.joinTimeout:
		return ctrl.Result{RequeueAfter: joinRetry}, nil
	}
	ctrl.LoggerFrom(ctx).Info("has no Node in time, is deleted", "machine", machine.Name, "timeout", r.options.joinTimeout)
	return ctrl.Result{}, client.IgnoreNotFound(r.client.Delete(ctx, machine, client.Preconditions{UID: &machine.UID}))
}
