package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	loudFlag   = "--cloud-provider=openstack"
	silentFlag = "--cloud-provider=external"
)

// controlPlaneNode is Ready, with the boot boot-1.
func controlPlaneNode(name string, changes ...func(*corev1.Node)) *corev1.Node {
	node := testNode(name, "boot-1")
	node.Labels = map[string]string{"node-role.kubernetes.io/control-plane": "", corev1.LabelHostname: "host-" + name}
	node.Status.NodeInfo.SystemUUID, node.Status.NodeInfo.KubeletVersion = "machine-"+name, "v1.30.14"
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, change := range changes {
		change(node)
	}
	return node
}

func notReady(node *corev1.Node) { node.Status.Conditions[0].Status = corev1.ConditionUnknown }

// mirrorOf is the mirror pod of a KCM whose manifest has the hash; its container runs.
func mirrorOf(node, hash string, args ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: kubeControllerManager + "-" + node, UID: types.UID(node + hash),
			Annotations: map[string]string{mirrorAnnotation: hash},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(testNode(node, ""), corev1.SchemeGroupVersion.WithKind("Node")),
			},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: kubeControllerManager, Image: "image", Command: append([]string{kubeControllerManager}, args...),
		}}},
	}
	setState(pod, running("containerd://"+node+hash))
	return pod
}

// staticCluster has its processes recorded.
func staticCluster(processes ...ucv1.ManagerProcess) *ucv1.Cluster {
	cluster := testCluster(processes...)
	cluster.UID, cluster.Spec.ControlPlane.Type = "alpha", ucv1.ExternalControlPlane
	return cluster
}

// staticRecord is of the manifest "old" on Node cp-0.
func staticRecord(changes ...func(*ucv1.ManagerProcess)) ucv1.ManagerProcess {
	process := ucv1.ManagerProcess{
		PodUID: "cp-0old", PodName: "kube-controller-manager-cp-0", NodeName: "cp-0", BootID: "boot-1", SystemUUID: "machine-cp-0",
		ConfigHash: "old", ContainerID: "containerd://cp-0old", GracePeriodSeconds: 30,
	}
	for _, change := range changes {
		change(&process)
	}
	return process
}

func objects(list ...client.Object) []client.Object { return list }
