package boot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// Kubelet is how one was started.
type Kubelet struct {
	// Node is its name, and Version its own.
	Node, Version string
	// External means --cloud-provider=external, and WithoutAddress that it has no --node-ip.
	External, WithoutAddress bool
}

// Node is the Node as the instance's kubelet registers it: in-tree complete at
// once, external tainted and without anything that only the cloud knows, but for
// its address, which --node-ip names.
func Node(kubelet Kubelet, instance *cloud.Instance) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: kubelet.Node, Labels: map[string]string{
			corev1.LabelHostname: kubelet.Node, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}, Annotations: map[string]string{
			// Kubelets set it, and KCM attaches volumes only to Nodes that have it. The real machine-controller panics at a Node
			// without annotations.
			"volumes.kubernetes.io/controller-managed-attach-detach": "true",
		}},
		Status: status(kubelet),
	}
	if kubelet.External {
		node.Spec.Taints = []corev1.Taint{{Key: machines.UninitializedTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule}}
		if !kubelet.WithoutAddress {
			node.Status.Addresses = append(node.Status.Addresses, Internal(instance.Addresses)...)
		}
		return node
	}
	node.Spec.ProviderID = instance.ProviderID
	node.Status.Addresses = append(node.Status.Addresses, Internal(instance.Addresses)...)
	label(node, corev1.LabelTopologyZone, instance.Zone)
	label(node, corev1.LabelTopologyRegion, instance.Region)
	label(node, corev1.LabelInstanceTypeStable, instance.Type)
	return node
}

// Internal are the addresses as a Node and a Machine have them.
func Internal(addresses []string) []corev1.NodeAddress {
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

// status leaves the rest of it to the testbed's kubelet. A kubelet registers with what it can hold: where that comes
// later, the scheduler tries in vain at once, and again only after up to ten seconds
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/kubelet/kubelet_node_status.go#L431).
func status(kubelet Kubelet) corev1.NodeStatus {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	status := corev1.NodeStatus{
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: kubelet.Node}}, Capacity: room, Allocatable: room,
	}
	if kubelet.Version != "" {
		status.NodeInfo.KubeletVersion = "v" + strings.TrimPrefix(kubelet.Version, "v")
	}
	return status
}
