package cluster

import (
	"context"
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// observeRecord reads what an earlier Cluster of this name left, and what this one has written.
func (o *Observer) observeRecord(ctx context.Context, s *scope) {
	s.observed.Keeper = o.observeKeeper(ctx, s.cluster)
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: migration.RecordName(s.cluster)}
	switch err := o.live.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		s.observed.Record = observation.Absent[observation.Record]()
	case err != nil:
		s.observed.Record = observation.Unknown[observation.Record](err.Error())
	default:
		record := migration.DecodeRecord(secret.Data)
		record.Ref = observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)}
		record.Version = secret.ResourceVersion
		s.observed.Record = observation.Known(record)
	}
}

// observeKeeper is what makes a control plane the same one: KCM's Deployment, or, for static pods, the kubeconfig Secret that
// leads to them.
func (o *Observer) observeKeeper(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[observation.Ref] {
	if !cluster.Spec.ControlPlane.Static() {
		template := controlplane.Template(ctx, o.client, cluster)
		switch kcm, known := template.Get(); {
		case known:
			return observation.Known(kcm.Ref)
		case template.IsAbsent():
			return observation.Absent[observation.Ref]()
		}
		return observation.Unknown[observation.Ref](template.Why())
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.KubeconfigSecret().Name}
	switch err := o.live.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		return observation.Absent[observation.Ref]()
	case err != nil:
		return observation.Unknown[observation.Ref](err.Error())
	}
	return observation.Known(observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)})
}

// observeNamespace is for a deleted Cluster: one whose namespace goes, too, is not kept.
func (o *Observer) observeNamespace(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[bool] {
	if cluster.DeletionTimestamp.IsZero() {
		return observation.Absent[bool]()
	}
	namespace := &corev1.Namespace{}
	if err := o.live.Get(ctx, client.ObjectKey{Name: cluster.Namespace}, namespace); err != nil {
		return observation.Unknown[bool](err.Error())
	}
	return observation.Known(!namespace.DeletionTimestamp.IsZero())
}

// keepRecord writes what is not there yet. Where the keeper is gone, there is no control
// plane left that a Cluster could return to.
func (r *Reconciler) keepRecord(ctx context.Context, s *scope, facts ucv1.Facts) error {
	keeper, known := s.observed.Keeper.Get()
	record := migration.RecordOf(s.cluster, keeper.UID, facts)
	there, found := s.observed.Record.Get()
	switch {
	case record == nil, s.observed.Keeper.IsAbsent(), found && there.Holds(*record):
		return nil
	case !known:
		return fmt.Errorf("keep the record of the migration: %s", s.observed.Keeper.Why())
	}
	data, err := migration.EncodeRecord(*record)
	if err != nil {
		return err
	}
	object := beside(s, "Secret", migration.RecordName(s.cluster))
	object.SetResourceVersion(there.Version)
	encoded := map[string]any{}
	for key, value := range data {
		encoded[key] = base64.StdEncoding.EncodeToString(value)
	}
	object.Object["data"] = encoded
	if err := r.apply(ctx, object); err != nil {
		return fmt.Errorf("keep the record of the migration in Secret %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// owners of what outlives the Cluster: it goes with the control plane. Static pods have no object here that goes with them, and
// the kubeconfig Secret may be made again with other credentials.
func owners(s *scope) []metav1.OwnerReference {
	keeper, known := s.observed.Keeper.Get()
	if !known || keeper.Kind != "Deployment" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: keeper.Kind, Name: keeper.Name, UID: types.UID(keeper.UID)}}
}
