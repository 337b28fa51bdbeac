package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// observeLock looks at the migration lock while it concerns the Cluster, in both clusters.
func (r *Reconciler) observeLock(ctx context.Context, s *scope) observation.Observed[observation.Lock] {
	if !migration.ConcernsLock(s.cluster) {
		return observation.Absent[observation.Lock]()
	}
	if s.identity == (provider.Identity{}) {
		return observation.Unknown[observation.Lock]("the provider is not known")
	}
	observed := s.session.Leases.MigrationLock(ctx, s.identity)
	lock, known := observed.Get()
	if !known {
		return observed
	}
	file := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: migration.LockConfigMap(s.cluster)}
	switch err := r.Live.Get(ctx, key, file); {
	case err == nil:
		lock.Left = append(lock.Left, observation.Ref{Kind: "ConfigMap", Namespace: key.Namespace, Name: key.Name, UID: string(file.UID)})
	case !apierrors.IsNotFound(err):
		return observation.Unknown[observation.Lock](err.Error())
	}
	return observation.Known(lock)
}

func unseenLock(cluster *ucv1.Cluster, why string) observation.Observed[observation.Lock] {
	if !migration.ConcernsLock(cluster) {
		return observation.Absent[observation.Lock]()
	}
	return observation.Unknown[observation.Lock](why)
}

// withLock is the CCM with the lock, while it is to have that.
func (r *Reconciler) withLock(s *scope, ccm provider.Set) (provider.Set, error) {
	if !s.needs().Lock {
		return ccm, nil
	}
	configuration, problems := migration.RenderLock(s.cluster.Spec.Version, s.observed.Provider.Value().InTreeName)
	if len(problems) > 0 {
		return provider.Set{}, errors.New("render the migration lock: " + strings.Join(problems, " "))
	}
	return provider.WithLock(ccm, s.identity, configuration)
}

// applyLockFile comes before the pods that mount it. No one changes it afterwards: those that read it have one lock.
func (r *Reconciler) applyLockFile(ctx context.Context, s *scope, file migration.MountedFile) error {
	object := beside(s, "ConfigMap", file.ConfigMap)
	object.Object["immutable"] = true
	object.Object["data"] = map[string]any{file.Key: file.Data}
	if err := r.apply(ctx, object); err != nil {
		return fmt.Errorf("apply ConfigMap %s/%s with the migration lock: %w", s.cluster.Namespace, file.ConfigMap, err)
	}
	return nil
}

func (r *Reconciler) removeLock(ctx context.Context, s *scope) error {
	if err := s.session.Leases.RemoveLock(ctx, s.identity, s.observed.Lock.Value().Lease); err != nil {
		return err
	}
	file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.cluster.Namespace, Name: migration.LockConfigMap(s.cluster)}}
	if err := r.Client.Delete(ctx, file); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ConfigMap %s/%s with the migration lock: %w", file.Namespace, file.Name, err)
	}
	return nil
}
