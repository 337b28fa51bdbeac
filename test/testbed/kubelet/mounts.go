package kubelet

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet/claims"
)

// mount mounts those volumes of the Pod that claims stand for and that are not mounted yet.
func (w *worker) mount(ctx context.Context, pod *corev1.Pod) error {
	node := claims.Node{
		Client: w.kubelet.client, Name: pod.Spec.NodeName, Root: w.kubelet.NodeRoot(pod.Spec.NodeName),
	}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.PersistentVolumeClaim == nil || w.mounted[volume.Name] != nil {
			continue
		}
		mounted, err := node.Mount(ctx, pod, volume)
		if err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		w.mounted[volume.Name] = mounted
	}
	return nil
}

// unmount follows the end of the last process: whoever sees the Pod go may attach its volumes elsewhere.
func (w *worker) unmount(ctx context.Context) error {
	for name, mounted := range w.mounted {
		if err := mounted.Unmount(ctx); err != nil {
			return fmt.Errorf("volume %s: %w", name, err)
		}
		delete(w.mounted, name)
	}
	return nil
}
