package bed

import (
	"context"
	"fmt"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// binDir holds the programs that the cluster begins with.
func (u *UserCluster) binDir() string {
	if u.Options.Version == KubernetesVersion {
		return u.bed.options.BinDir
	}
	return filepath.Join(u.bed.options.ReleasesDir, u.Options.Version)
}

// Upgrade is the owner of the control plane, who gives a component the image, and with it the program, of another release. Of a
// Deployment that is asked for when it returns: WaitForDeployment waits for the pods. Static pods are done by then.
func (u *UserCluster) Upgrade(ctx context.Context, component, release string) error {
	u.bed.options.Progress(fmt.Sprintf("%s: %s becomes %s", u.Options.Name, component, release))
	if u.Options.ControlPlaneNodes > 0 {
		return u.upgradeNodes(ctx, component, release)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: component}}
	// By name: whoever else changes the container owns its arguments.
	patch := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":%q}]}}}}`,
		component, imageOf(component, release))
	return u.bed.Client.Patch(ctx, deployment, client.RawPatch(types.StrategicMergePatchType, patch))
}

// upgradeNodes changes the next Node when the pod of this one is ready.
func (u *UserCluster) upgradeNodes(ctx context.Context, component, release string) error {
	image := imageOf(component, release)
	for _, node := range u.ControlPlaneNodes() {
		err := u.editManifest(node, component, func(pod *corev1.Pod) error {
			pod.Spec.Containers[0].Image = image
			return nil
		})
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%s %s on Node %s", component, release, node)
		err = u.bed.WaitFor(ctx, what, patience, func(ctx context.Context) (string, error) {
			pod := &corev1.Pod{}
			key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: component + "-" + node}
			if err := u.Client.Get(ctx, key, pod); err != nil {
				return "", err
			}
			if pod.Spec.Containers[0].Image != image || !isReady(pod) {
				return "its pod is not ready", nil
			}
			return "", nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
