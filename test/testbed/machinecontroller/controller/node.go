package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// nodeOf is the Node as the instance's kubelet registers it.
func nodeOf(machine *machines.Machine, instance *cloud.Instance, withoutAddress bool) *corev1.Node {
	return boot.Node(boot.Kubelet{
		Node: machine.Name, Version: machine.Spec.Versions.Kubelet,
		External: instance.ExternalCloudProvider, WithoutAddress: withoutAddress,
	}, instance)
}

// furnish a Node that is Ready with what its Machine wants of it. Until then it has none of that, and no taint of its Machine
// keeps a pod away. Labels and annotations that it has stay.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L985
func (r *machineReconciler) furnish(ctx context.Context, machine *machines.Machine, node *corev1.Node) error {
	before := node.DeepCopy()
	for key, value := range machine.Spec.Labels {
		if _, known := node.Labels[key]; !known {
			node.Labels = with(node.Labels, key, value)
		}
	}
	for key, value := range machine.Spec.Annotations {
		if _, known := node.Annotations[key]; !known {
			node.Annotations = with(node.Annotations, key, value)
		}
	}
	node.Annotations = with(node.Annotations, machines.NodeMachineAnnotation, machine.Namespace+"/"+machine.Name)
	for _, taint := range machine.Spec.Taints {
		if !slices.ContainsFunc(node.Spec.Taints, func(other corev1.Taint) bool { return other.MatchTaint(&taint) }) {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
	if equality.Semantic.DeepEqual(before, node) {
		return nil
	}
	// Locked, because a list of taints is replaced as a whole, and the CCM takes one away.
	if err := r.client.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("furnish Node %s: %w", node.Name, err)
	}
	return nil
}

// makeOdd draws whether a Node has nothing that others rely on: neither labels nor annotations. Two that have a kubelet's labels
// are there before, so that what asks for an operating system has somewhere to run, and to go.
func (r *machineReconciler) makeOdd(ctx context.Context, node *corev1.Node) error {
	if r.options.oddNodes == 0 {
		return nil
	}
	nodes := &corev1.NodeList{}
	if err := r.client.List(ctx, nodes); err != nil {
		return fmt.Errorf("list Nodes: %w", err)
	}
	random := rand.New(rand.NewPCG(r.options.oddNodes, uint64(len(nodes.Items))))
	usual := slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool { return node.Labels[corev1.LabelOSStable] == "" })
	if len(usual) >= 2 && random.IntN(2) == 0 {
		node.Labels, node.Annotations = nil, nil
	}
	return nil
}

func nodeIsReady(node *corev1.Node) bool {
	ready := readyOf(node)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

func readyOf(node *corev1.Node) *corev1.NodeCondition {
	at := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if at < 0 {
		return nil
	}
	return &node.Status.Conditions[at]
}

// nodeNamed is nil where there is no such Node.
func nodeNamed(ctx context.Context, c client.Client, ref *corev1.ObjectReference) (*corev1.Node, error) {
	if ref == nil {
		return nil, nil
	}
	node := &corev1.Node{}
	err := c.Get(ctx, client.ObjectKey{Name: ref.Name}, node)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Node %s: %w", ref.Name, err)
	}
	return node, nil
}
