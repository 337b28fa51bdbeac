package bed

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ManagementNodeName is the Node of the management cluster that runs everything.
const ManagementNodeName = "management-0"

// Image of a program of the testbed: the kubelets run it as a process.
func Image(program string) string { return imageOf(program, KubernetesVersion) }

// imageOf is that of a release.
func imageOf(program, release string) string {
	return "registry.example/simcloud/" + program + ":v" + release
}

func managementNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: ManagementNodeName, Labels: map[string]string{corev1.LabelHostname: ManagementNodeName, corev1.LabelOSStable: "linux"},
	}}
}

// workload describes a Deployment of one process.
type workload struct {
	namespace, name, program string
	// version is the release of its image, KubernetesVersion when it is empty.
	version  string
	replicas int32
	args     []string
	// secret is mounted at /etc/testbed.
	secret string
	// health is where the readiness probe asks; the path is /healthz where there is none.
	healthPort   int32
	healthScheme corev1.URIScheme
	healthPath   string
}

func (w workload) deployment() *appsv1.Deployment {
	labels := map[string]string{"app": w.name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(w.replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64(10)),
					AutomountServiceAccountToken:  new(false),
					Containers:                    []corev1.Container{w.container()},
					Volumes: []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{
						Secret: &corev1.SecretVolumeSource{SecretName: w.secret},
					}}},
				},
			},
		},
	}
}

func (w workload) container() corev1.Container {
	return corev1.Container{
		Name: w.name, Image: imageOf(w.program, cmp.Or(w.version, KubernetesVersion)), Command: append([]string{w.program}, w.args...),
		Env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
		}}},
		VolumeMounts: []corev1.VolumeMount{{Name: "files", MountPath: "/etc/testbed", ReadOnly: true}},
		ReadinessProbe: &corev1.Probe{
			PeriodSeconds: 1, FailureThreshold: 3,
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: cmp.Or(w.healthPath, "/healthz"), Port: intstr.FromInt32(w.healthPort), Scheme: w.healthScheme,
			}},
		},
	}
}
