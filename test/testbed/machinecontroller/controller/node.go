package controller

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// nodeOf is the Node as the instance's kubelet registers it: in-tree complete at
// once, external tainted and without anything that only the cloud knows, but for
// its address, which --node-ip names.
func nodeOf(machine *machines.Machine, instance *cloud.Instance, withoutAddress bool) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        machine.Name,
			Labels:      maps.Clone(machine.Spec.Labels),
			Annotations: with(machine.Spec.Annotations, machines.NodeMachineAnnotation, machine.Namespace+"/"+machine.Name),
		},
		Spec:   corev1.NodeSpec{Taints: machine.DeepCopy().Spec.Taints},
		Status: nodeStatus(machine),
	}
	node.Labels = with(node.Labels, corev1.LabelHostname, machine.Name)
	node.Labels[corev1.LabelOSStable] = "linux"
	node.Labels[corev1.LabelArchStable] = "amd64"
	if instance.ExternalCloudProvider {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{
			Key: machines.UninitializedTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule,
		})
		if !withoutAddress {
			node.Status.Addresses = append(node.Status.Addresses, internal(instance.Addresses)...)
		}
		return node
	}
	node.Spec.ProviderID = instance.ProviderID
	node.Status.Addresses = append(node.Status.Addresses, internal(instance.Addresses)...)
	label(node, corev1.LabelTopologyZone, instance.Zone)
	label(node, corev1.LabelTopologyRegion, instance.Region)
	label(node, corev1.LabelInstanceTypeStable, instance.Type)
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

func internal(addresses []string) []corev1.NodeAddress {
	var all []corev1.NodeAddress
	for _, address := range addresses {
		all = append(all, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	return all
}

func label(node *corev1.Node, key, value string) {
	if value != "" {
		node.Labels[key] = value
	}
}

// nodeStatus leaves the rest of the status to the testbed's kubelet. A kubelet registers with what it can hold: where that comes
// later, the scheduler tries in vain at once, and again only after up to ten seconds
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/kubelet/kubelet_node_status.go#L431).
func nodeStatus(machine *machines.Machine) corev1.NodeStatus {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	status := corev1.NodeStatus{
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: machine.Name}}, Capacity: room, Allocatable: room,
	}
	if version := machine.Spec.Versions.Kubelet; version != "" {
		status.NodeInfo.KubeletVersion = "v" + strings.TrimPrefix(version, "v")
	}
	return status
}

func nodeIsReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
