package bed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// freeIndex is the lowest number of a user cluster that none has. The caller holds the lock.
func (b *Bed) freeIndex() int {
	taken := map[int]bool{}
	for _, u := range b.clusters {
		taken[u.index] = true
	}
	number := 2
	for taken[b.index(number)] {
		number++
	}
	return b.index(number)
}

// RemoveUserCluster ends a user cluster and all its processes, and makes room for another one. Its Cluster object goes
// without a goodbye: whatever state its migration is in, no one is left to be protected.
func (b *Bed) RemoveUserCluster(u *UserCluster) error {
	b.options.Progress("removing user cluster " + u.Options.Name)
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.Namespace}}
	err := b.WaitFor(b.ctx, "the end of user cluster "+u.Options.Name, patience, func(ctx context.Context) (string, error) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		for _, do := range []func() error{
			func() error { return b.Client.Delete(ctx, cluster) },
			func() error { return b.Client.Patch(ctx, cluster, patch) },
			func() error { return b.Client.Delete(ctx, namespace) },
		} {
			// A namespace that is on its way already says so by a conflict.
			if err := do(); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return "", err
			}
		}
		entries, err := filepath.Glob(b.File("processes", ManagementName, "*.json"))
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if process, err := ReadProcess(entry); err == nil && process.Namespace == u.Namespace {
				return "Pod " + process.Pod + " runs", nil
			}
		}
		return "", nil
	})
	if err != nil {
		return fmt.Errorf("remove user cluster %s: %w", u.Options.Name, err)
	}
	b.mu.Lock()
	stop := b.stops[u.Options.Name]
	b.mu.Unlock()
	close(u.removed)
	stop()
	u.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.clusters, u.Options.Name)
	delete(b.kubelets, u.Options.Name)
	delete(b.stops, u.Options.Name)
	// Its database is the only thing of size that it leaves.
	return os.RemoveAll(b.File(u.Options.Name, "etcd"))
}
