package bed

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const machineNamespace = "kube-system"

// machineSpec is what the webhook of the machine-controller accepts.
func machineSpec() machines.MachineSpec {
	return machines.MachineSpec{
		Versions: machines.Versions{Kubelet: KubernetesVersion},
		ProviderSpec: machines.ProviderSpec{
			Value: &runtime.RawExtension{Raw: []byte(`{"cloudProvider":"simcloud","operatingSystem":"ubuntu"}`)},
		},
	}
}

// profile is the OperatingSystemProfile of all MachineDeployments, which the operating-system-manager's webhook names where no
// one does.
const profile = "osp-simcloud"

// MachineDeployment makes a MachineDeployment.
func MachineDeployment(name string, replicas int32) *machines.MachineDeployment {
	labels := map[string]string{"pool": name}
	template := metav1.ObjectMeta{Labels: machineLabels()}
	maps.Copy(template.Labels, labels)
	return &machines.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: machineNamespace, Name: name, Annotations: map[string]string{machines.ProfileAnnotation: profile},
		},
		Spec: machines.MachineDeploymentSpec{
			Replicas: new(replicas),
			Selector: metav1.LabelSelector{MatchLabels: labels},
			Template: machines.MachineTemplateSpec{ObjectMeta: template, Spec: machineSpec()},
		},
	}
}

// Machine makes a Machine that stands alone.
func Machine(name string) *machines.Machine {
	spec := machineSpec()
	// The real webhook adds a label there, and not the object in which it stands.
	spec.Name = name
	meta := metav1.ObjectMeta{Namespace: machineNamespace, Name: name, Labels: machineLabels()}
	return &machines.Machine{ObjectMeta: meta, Spec: spec}
}

// LoadBalancer makes a Service of type LoadBalancer.
func LoadBalancer(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
}

// Web makes a workload whose pods are spread and guarded by a PodDisruptionBudget.
func Web(replicas int32) (*appsv1.Deployment, *policyv1.PodDisruptionBudget) {
	deployment := serving("web", "example/web:1", replicas)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: deployment.Spec.Selector,
		},
	}
	return deployment, budget
}

// serving is a Deployment of pods that are no processes.
func serving(name, image string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}},
			},
		},
	}
}

// InTreeVolume makes a PersistentVolume that the in-tree plugin of the testbed's gate provisioned.
func InTreeVolume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": "kubernetes.io/portworx-volume"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: name}},
		},
	}
}
