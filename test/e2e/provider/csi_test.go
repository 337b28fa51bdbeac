//go:build realprovider

package provider_test

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registerDrivers does what a kubelet does when the registrar of a CSI driver calls it: the containers of the driver are only
// reported as running, so no one calls. What fails, as when the API server is away for a moment, is done a second later.
func registerDrivers(ctx context.Context, user client.Client) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		pods := &corev1.PodList{}
		_ = user.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem))
		for i := range pods.Items {
			if driver := driverOf(&pods.Items[i]); driver != "" {
				_ = register(ctx, user, pods.Items[i].Spec.NodeName, driver)
			}
		}
	}, time.Second)
}

// driverOf a pod that runs with a registrar; its argument is the driver's socket in the folder of that name.
func driverOf(pod *corev1.Pod) string {
	if pod.Status.Phase != corev1.PodRunning {
		return ""
	}
	for _, container := range pod.Spec.Containers {
		for _, argument := range container.Args {
			if path, found := strings.CutPrefix(argument, "--kubelet-registration-path=/var/lib/kubelet/plugins/"); found {
				driver, _, _ := strings.Cut(path, "/")
				return driver
			}
		}
	}
	return ""
}

func register(ctx context.Context, user client.Client, name, driver string) error {
	node, entry := &corev1.Node{}, &storagev1.CSINode{}
	if err := user.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return err
	}
	err := user.Get(ctx, client.ObjectKey{Name: name}, entry)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	for _, known := range entry.Spec.Drivers {
		if known.Name == driver {
			return nil
		}
	}
	entry.Name = name
	entry.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}}
	entry.Spec.Drivers = append(entry.Spec.Drivers, storagev1.CSINodeDriver{Name: driver, NodeID: name})
	if err != nil {
		return user.Create(ctx, entry)
	}
	return user.Update(ctx, entry)
}
