package manifest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// MainContainer is the last one: that of the CCM is alone, and the plugin of a CSI driver stands behind its sidecars.
func MainContainer(pod *corev1.PodTemplateSpec) *corev1.Container {
	return &pod.Spec.Containers[len(pod.Spec.Containers)-1]
}

// ContainerImage is the image of a container in parts, all empty where no kubelet can pull it.
func ContainerImage(container *corev1.Container) (parts Image) {
	parts, _ = ParseImage(container.Image)
	return parts
}

// FlagsOf are the names of the flags that a container is started with.
func FlagsOf(container corev1.Container) map[string]bool {
	flags := map[string]bool{}
	for _, argument := range slices.Concat(container.Command, container.Args) {
		if strings.HasPrefix(argument, "-") {
			flags[FlagOf(argument)] = true
		}
	}
	return flags
}

// FlagOf is the name of an argument's flag. The programs of Kubernetes take an underscore in it for a dash:
// https://github.com/kubernetes/component-base/blob/v0.30.14/cli/flag/flags.go#L30
func FlagOf(argument string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}
