package kubelet

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet/claims"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	defaultFileMode = 0o644
	stagingDir      = "staging"
)

// file is one file of a volume.
type file struct {
	data []byte
	mode os.FileMode
}

// podDir is where the kubelet keeps what belongs to one Pod.
func (k *Kubelet) podDir(pod *corev1.Pod) string {
	return filepath.Join(k.options.RunDir, "pods", k.options.Cluster, string(pod.UID))
}

// NodeRoot is the directory that Pods of a Node see as the Node's file system
// through hostPath volumes; the host's own is out of their reach.
func (k *Kubelet) NodeRoot(node string) string {
	return filepath.Join(k.options.RunDir, "nodes", k.options.Cluster, node)
}

// volumePath is where a volume lies outside the Pod.
func (k *Kubelet) volumePath(pod *corev1.Pod, volume *corev1.Volume) string {
	if volume.HostPath != nil {
		// Cleaned as an absolute path, so that ".." ends at the Node's root.
		return filepath.Join(k.NodeRoot(pod.Spec.NodeName), filepath.Clean("/"+volume.HostPath.Path))
	}
	if volume.PersistentVolumeClaim != nil {
		return filepath.Join(k.NodeRoot(pod.Spec.NodeName), claims.Target(pod, volume.Name))
	}
	return filepath.Join(k.podDir(pod), "volumes", volume.Name)
}

// makeVolumes fills all volumes of a Pod.
func (k *Kubelet) makeVolumes(ctx context.Context, from sources) error {
	for i := range from.pod.Spec.Volumes {
		volume := &from.pod.Spec.Volumes[i]
		if volume.PersistentVolumeClaim != nil {
			continue // Its driver makes it.
		}
		files, err := from.volume(ctx, volume)
		if err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		if err := writeVolume(k.volumePath(from.pod, volume), volume, files); err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return nil
}

// volume returns the files of a volume; none for those that start empty.
func (s sources) volume(ctx context.Context, volume *corev1.Volume) (map[string]file, error) {
	switch {
	case volume.Secret != nil:
		data, err := s.secret(ctx, volume.Secret.SecretName, volume.Secret.Optional)
		return choose(data, volume.Secret.Items, volume.Secret.DefaultMode, volume.Secret.Optional, err)
	case volume.ConfigMap != nil:
		data, err := s.configMap(ctx, volume.ConfigMap.Name, volume.ConfigMap.Optional)
		return choose(data, volume.ConfigMap.Items, volume.ConfigMap.DefaultMode, volume.ConfigMap.Optional, err)
	case volume.DownwardAPI != nil:
		return s.downward(volume.DownwardAPI.Items, volume.DownwardAPI.DefaultMode)
	case volume.Projected != nil:
		files := map[string]file{}
		for _, source := range volume.Projected.Sources {
			more, err := s.projected(ctx, source, volume.Projected.DefaultMode)
			if err != nil {
				return nil, err
			}
			maps.Copy(files, more)
		}
		return files, nil
	}
	return nil, nil
}

func (s sources) projected(ctx context.Context, source corev1.VolumeProjection, mode *int32) (map[string]file, error) {
	switch {
	case source.Secret != nil:
		data, err := s.secret(ctx, source.Secret.Name, source.Secret.Optional)
		return choose(data, source.Secret.Items, mode, source.Secret.Optional, err)
	case source.ConfigMap != nil:
		data, err := s.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Optional)
		return choose(data, source.ConfigMap.Items, mode, source.ConfigMap.Optional, err)
	case source.DownwardAPI != nil:
		return s.downward(source.DownwardAPI.Items, mode)
	case source.ServiceAccountToken != nil:
		token, err := s.token(ctx, source.ServiceAccountToken)
		return map[string]file{source.ServiceAccountToken.Path: {data: token, mode: fileMode(nil, mode)}}, err
	}
	return nil, fmt.Errorf("its projection is not supported")
}

func (s sources) downward(items []corev1.DownwardAPIVolumeFile, mode *int32) (map[string]file, error) {
	files := map[string]file{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("the source of file %s is not supported", item.Path)
		}
		value, err := s.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		files[item.Path] = file{data: []byte(value), mode: fileMode(item.Mode, mode)}
	}
	return files, nil
}

// choose selects the keys of a Secret or ConfigMap that become files.
func choose(data map[string][]byte, items []corev1.KeyToPath, mode *int32, optional *bool, err error) (map[string]file, error) {
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	files := map[string]file{}
	for _, item := range items {
		content, ok := data[item.Key]
		if !ok && ptr.Deref(optional, false) {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("key %s is missing", item.Key)
		}
		files[item.Path] = file{data: content, mode: fileMode(item.Mode, mode)}
	}
	return files, nil
}

func fileMode(own, general *int32) os.FileMode {
	return os.FileMode(ptr.Deref(own, ptr.Deref(general, defaultFileMode)))
}

func writeVolume(path string, volume *corev1.Volume, files map[string]file) error {
	if wantsFile(volume) {
		return touch(path)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		target := filepath.Join(path, filepath.Clean("/"+name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := replaceFile(target, content); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile leaves a file alone that is as wanted; readers of another one see the old content or the new.
func replaceFile(path string, content file) error {
	if old, err := os.ReadFile(filepath.Clean(path)); err == nil && bytes.Equal(old, content.data) {
		return nil
	}
	fresh := path + ".new"
	_ = os.Remove(fresh)
	if err := os.WriteFile(fresh, content.data, content.mode); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// wantsFile tells whether a volume is a file of the Node.
func wantsFile(volume *corev1.Volume) bool {
	if volume.HostPath == nil {
		return false
	}
	kind := ptr.Deref(volume.HostPath.Type, corev1.HostPathUnset)
	return kind == corev1.HostPathFile || kind == corev1.HostPathFileOrCreate
}

func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, defaultFileMode)
	if err != nil {
		return err
	}
	return created.Close()
}

// namespaces is the view of one container: its Pod's name and its volumes.
func (k *Kubelet) namespaces(pod *corev1.Pod, container *corev1.Container) (*process.Namespaces, error) {
	view := &process.Namespaces{
		Shim:     []string{k.options.ShimPath, "shim"},
		Hostname: hostname(pod),
		Staging:  filepath.Join(k.podDir(pod), stagingDir, container.Name),
	}
	if err := os.MkdirAll(view.Staging, 0o755); err != nil {
		return nil, fmt.Errorf("container %s: %w", container.Name, err)
	}
	for _, mount := range container.VolumeMounts {
		at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if at < 0 {
			return nil, fmt.Errorf("container %s mounts volume %s, which the pod does not have", container.Name, mount.Name)
		}
		source := k.volumePath(pod, &pod.Spec.Volumes[at])
		if mount.SubPath != "" {
			source = filepath.Join(source, filepath.Clean("/"+mount.SubPath))
			if err := existOrDirectory(source); err != nil {
				return nil, fmt.Errorf("container %s mounts %s: %w", container.Name, mount.MountPath, err)
			}
		}
		view.Binds = append(view.Binds, process.Bind{Source: source, Target: mount.MountPath})
	}
	return view, nil
}

func existOrDirectory(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return os.MkdirAll(path, 0o755)
}

// hostname is the Pod's, at most as long as Linux and the real kubelet have it.
func hostname(pod *corev1.Pod) string {
	const longest = 63
	name := pod.Name
	if pod.Spec.Hostname != "" {
		name = pod.Spec.Hostname
	}
	if pod.Spec.HostNetwork {
		name = pod.Spec.NodeName
	}
	if len(name) > longest {
		name = name[:longest]
	}
	for len(name) > 0 && (name[len(name)-1] == '-' || name[len(name)-1] == '.') {
		name = name[:len(name)-1]
	}
	return name
}
