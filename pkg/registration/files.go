package registration

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// source is where a file of a container comes from.
type source struct {
	// kind is Secret, ConfigMap or another kind of volume; empty: no volume has the file.
	kind, name, key string
}

// sourceOf finds the volume that a file is in. Of several mounts above it the deepest counts, as for the container.
func sourceOf(pod *corev1.PodSpec, container *corev1.Container, file string) source {
	file = path.Clean(file)
	var deepest *corev1.VolumeMount
	rest := ""
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		below, is := within(path.Clean(mount.MountPath), file)
		if is && (deepest == nil || len(path.Clean(mount.MountPath)) > len(path.Clean(deepest.MountPath))) {
			deepest, rest = mount, below
		}
	}
	if deepest == nil {
		return source{}
	}
	return fileOf(volumeNamed(pod.Volumes, deepest.Name), path.Join(deepest.SubPath, rest))
}

// within is the path of a file below a folder, or empty for the folder itself.
func within(folder, file string) (below string, is bool) {
	if folder == file {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/")
}

func volumeNamed(volumes []corev1.Volume, name string) corev1.Volume {
	for _, volume := range volumes {
		if volume.Name == name {
			return volume
		}
	}
	return corev1.Volume{}
}

func fileOf(volume corev1.Volume, file string) source {
	switch {
	case volume.Secret != nil:
		return source{kind: "Secret", name: volume.Secret.SecretName, key: keyOf(volume.Secret.Items, file)}
	case volume.ConfigMap != nil:
		return source{kind: "ConfigMap", name: volume.ConfigMap.Name, key: keyOf(volume.ConfigMap.Items, file)}
	case volume.Projected != nil:
		return projected(volume.Projected.Sources, file)
	case volume.HostPath != nil:
		return source{kind: "hostPath", name: volume.HostPath.Path}
	}
	return source{kind: "volume", name: volume.Name}
}

// projected is the source that names the file, else the only one: without items, any of several may have it.
func projected(sources []corev1.VolumeProjection, file string) source {
	for _, one := range sources {
		if one.Secret != nil && named(one.Secret.Items, file) {
			return source{kind: "Secret", name: one.Secret.Name, key: keyOf(one.Secret.Items, file)}
		}
		if one.ConfigMap != nil && named(one.ConfigMap.Items, file) {
			return source{kind: "ConfigMap", name: one.ConfigMap.Name, key: keyOf(one.ConfigMap.Items, file)}
		}
	}
	if len(sources) == 1 && sources[0].Secret != nil && len(sources[0].Secret.Items) == 0 {
		return source{kind: "Secret", name: sources[0].Secret.Name, key: file}
	}
	return source{kind: "projected volume"}
}

func named(items []corev1.KeyToPath, file string) bool {
	for _, item := range items {
		if item.Path == file {
			return true
		}
	}
	return false
}

// keyOf is the key that a file has; without items every key is a file of its name.
func keyOf(items []corev1.KeyToPath, file string) string {
	for _, item := range items {
		if item.Path == file {
			return item.Key
		}
	}
	return file
}
