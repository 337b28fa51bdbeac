package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TransformPod cuts a Pod down to what the Ledger and the wake-ups need: a management cluster has many, and proofs read
// live anyway.
func TransformPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		TypeMeta: pod.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			DeletionTimestamp: pod.DeletionTimestamp, OwnerReferences: pod.OwnerReferences,
		},
		Spec: corev1.PodSpec{
			NodeName:      pod.Spec.NodeName,
			RestartPolicy: pod.Spec.RestartPolicy,
			HostNetwork:   pod.Spec.HostNetwork,
			Hostname:      pod.Spec.Hostname,
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, ContainerStatuses: pod.Status.ContainerStatuses},
	}, nil
}
