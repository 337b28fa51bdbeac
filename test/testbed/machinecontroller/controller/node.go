package controller

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// nodeOf is the Node as the instance's kubelet registers it. The real one adds what the Machine wants of it when it is Ready.
func nodeOf(machine *machines.Machine, instance *cloud.Instance, withoutAddress bool) *corev1.Node {
	node := boot.Node(boot.Kubelet{
		Node: machine.Name, Version: machine.Spec.Versions.Kubelet,
		External: instance.ExternalCloudProvider, WithoutAddress: withoutAddress,
	}, instance)
	for key, value := range machine.Spec.Labels {
		if _, known := node.Labels[key]; !known {
			node.Labels[key] = value
		}
	}
	maps.Copy(node.Annotations, with(machine.Spec.Annotations, machines.NodeMachineAnnotation, machine.Namespace+"/"+machine.Name))
	node.Spec.Taints = append(machine.DeepCopy().Spec.Taints, node.Spec.Taints...)
	return node
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
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
