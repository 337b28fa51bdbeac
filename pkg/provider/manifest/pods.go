package manifest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChecksumAnnotation on a pod template makes a changed cloud configuration roll the workload.
const ChecksumAnnotation = "ccm-migration.k8c.io/cloud-config-checksum"

// Secret that a workload reads, and where its keys are mounted as files; without a path they are not.
type Secret struct {
	Name      string
	Data      map[string][]byte
	MountPath string
}

func objectsOf(secrets []Secret) []Object {
	var objects []Object
	for _, secret := range secrets {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: secret.Name}, Type: corev1.SecretTypeOpaque, Data: secret.Data,
		})
	}
	return objects
}

// Mount mounts Secrets into a container of the pod, by its position.
func Mount(pod *corev1.PodSpec, container int, secrets ...Secret) {
	for _, secret := range secrets {
		if secret.MountPath == "" {
			continue
		}
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name: secret.Name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret.Name}},
		})
		mounts := &pod.Containers[container].VolumeMounts
		*mounts = append(*mounts, corev1.VolumeMount{Name: secret.Name, MountPath: secret.MountPath, ReadOnly: true})
	}
}

// SecretEnv takes a variable from a key of a Secret.
func SecretEnv(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}

// FieldEnv takes a variable from a field of the pod, such as spec.nodeName.
func FieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// template of pods that roll when one of the Secrets changes.
func template(label string, pod corev1.PodSpec, secrets []Secret) corev1.PodTemplateSpec {
	made := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: named(label)}, Spec: pod}
	all := map[string][]byte{}
	for _, secret := range secrets {
		for key, value := range secret.Data {
			all[secret.Name+"/"+key] = value
		}
	}
	if len(all) > 0 {
		made.Annotations = map[string]string{ChecksumAnnotation: Checksum(all)}
	}
	return made
}

func named(name string) map[string]string { return map[string]string{"app.kubernetes.io/name": name} }

// apart has the pods of a workload prefer a Node each, and not need it.
func apart(label string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: named(label)},
			},
		}},
	}}
}

// linux selects the Nodes that the images are made for. The label is the kubelet's own.
func linux() map[string]string { return map[string]string{corev1.LabelOSStable: string(corev1.Linux)} }

// Requests are what a container asks for; it has no limits, which would throttle it when it is needed most.
func Requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// Unprivileged is the security context of a container that needs nothing of its Node.
func Unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// RunAs is the security context of a pod whose containers run as a user that is not root.
func RunAs(user int64) *corev1.PodSecurityContext {
	context := defaultSeccomp()
	context.RunAsNonRoot, context.RunAsUser, context.RunAsGroup = new(true), &user, &user
	return context
}

func defaultSeccomp() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
}
