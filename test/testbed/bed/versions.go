package bed

import (
	"context"
	"fmt"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
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

// Upgrade is the owner of the control plane, who gives a component's Deployment the image, and with it the program, of another
// release. That is asked for when it returns: WaitForDeployment waits for the pods.
func (u *UserCluster) Upgrade(ctx context.Context, component, release string) error {
	u.bed.options.Progress(fmt.Sprintf("%s: %s becomes %s", u.Options.Name, component, release))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: component}}
	// By name: whoever else changes the container owns its arguments.
	patch := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":%q}]}}}}`,
		component, imageOf(component, release))
	return u.bed.Client.Patch(ctx, deployment, client.RawPatch(types.StrategicMergePatchType, patch))
}
