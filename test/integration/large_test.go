//go:build largecluster

package integration_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// A cluster of the largest size that Kubernetes supports is migrated. It does not end its Machines one by one: how many passes
// that takes depends on the time that clouds need.
// https://kubernetes.io/docs/setup/best-practices/cluster-large/
func TestALargeHealthyClusterIsMigrated(t *testing.T) {
	const pools, replicas, pods, volumes = 10, 500, 20000, 5000
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	for i := range pools {
		w.pool(fmt.Sprintf("pool-%d", i), replicas)
	}
	w.fill(pods, func(i int) client.Object { return podOn(fmt.Sprintf("pool-%d-0-%d", i%pools, i/pools%replicas), i) })
	w.fill(volumes, volume)
	// The API server's clock went on meanwhile: what is there is older than the migration.
	w.clock.SetTime(time.Now().Add(2 * time.Second))
	w.playKCM(kcm + "-r1-0")
	w.flip()

	passes, slowest, began := 0, time.Duration(0), time.Now()
	w.until("the end", finished, func() {
		passes, slowest = passes+1, max(slowest, time.Since(began))
		w.playEverybody()
		began = time.Now()
	})
	t.Logf(
		"%d Nodes, %d Pods, %d volumes: %d passes, the slowest took %s",
		pools*replicas,
		pods,
		volumes,
		passes,
		slowest.Round(100*time.Millisecond),
	)
	NewWithT(t).Expect(
		w.status().Machines,
	).To(HaveValue(Equal(ucv1.ProgressCount{Total: 5000, UpToDate: 5000, Summary: "5000/5000"})))
}

// fill the user cluster with so many.
func (w *world) fill(count int, object func(number int) client.Object) {
	w.t.Helper()
	group, ctx := errgroup.WithContext(w.t.Context())
	group.SetLimit(16)
	for i := range count {
		group.Go(func() error { return w.user.client.Create(ctx, object(i)) })
	}
	NewWithT(w.t).Expect(group.Wait()).To(Succeed())
}

func podOn(node string, number int) client.Object {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("pod-%d", number)},
		Spec: corev1.PodSpec{
			NodeName:                     node,
			AutomountServiceAccountToken: new(false),
			Containers:                   []corev1.Container{{Name: "a", Image: "registry.example/a:v1"}},
		},
	}
}

func volume(number int) client.Object {
	name := fmt.Sprintf("volume-%d", number)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.simcloud.k8c.io", VolumeHandle: name},
			},
		},
	}
}
