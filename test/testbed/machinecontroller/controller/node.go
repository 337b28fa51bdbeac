package controller

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// nodeOf is the Node as the instance's kubelet registers it: in-tree complete at
// once, external tainted and without anything that only the cloud knows.
func nodeOf(machine *machines.Machine, instance *cloud.Instance) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        machine.Name,
			Labels:      maps.Clone(machine.Spec.Labels),
			Annotations: with(machine.Spec.Annotations, machines.NodeMachineAnnotation, machine.Namespace+"/"+machine.Name),
		},
		Spec:   corev1.NodeSpec{Taints: machine.DeepCopy().Spec.Taints},
		Status: nodeStatus(machine),
	}
	node.Labels = with(node.Labels, machines.NodeOwnerLabel, string(machine.UID))
	node.Labels[corev1.LabelHostname] = machine.Name
	node.Labels[corev1.LabelOSStable] = "linux"
	node.Labels[corev1.LabelOSStable] = "linux"
	node.Labels[corev1.LabelArchStable] = "amd64"
	if instance.ExternalCloudProvider {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{
			Key: machines.UninitializedTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule,
		})
		return node
	}
	node.Spec.ProviderID = instance.ProviderID
	for _, address := range instance.Addresses {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	label(node, corev1.LabelTopologyZone, instance.Zone)
	label(node, corev1.LabelTopologyRegion, instance.Region)
	label(node, corev1.LabelInstanceTypeStable, instance.Type)
	return node
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
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110"),
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
