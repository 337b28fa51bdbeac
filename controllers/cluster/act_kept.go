package cluster

import (
	"context"
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// writer writes what only we write in the management cluster: the Cluster, and the objects beside it.
type writer struct {
	client client.Client
	own    *ownObjects
}

// inventoryKey is the key in the ConfigMap of the addon inventory.
const inventoryKey = "inventory"

func inventoryName(cluster *ucv1.Cluster) string { return cluster.Name + "-ccm-migration-addons" }

func (w writer) writeInventory(ctx context.Context, s *scope, inventory []addons.InventoryEntry) error {
	encoded, err := addons.EncodeInventory(inventory)
	if err != nil {
		return err
	}
	object := beside(s, "ConfigMap", inventoryName(s.Cluster))
	object.Object["data"] = map[string]any{inventoryKey: string(encoded)}
	return w.apply(ctx, object)
}

func (w writer) takeBaseline(ctx context.Context, s *scope) error {
	encoded, err := baseline.Encode(s.Observed.Inventory.Value())
	if err != nil {
		return err
	}
	object := beside(s, "Secret", s.Decision.Facts.Baseline.SecretName)
	object.Object["data"] = map[string]any{baseline.Key: base64.StdEncoding.EncodeToString(encoded)}
	return w.apply(ctx, object)
}

// keepProofs writes them beside the inventory. It carries the uid, or it would make a Secret again that was deleted, and the
// resourceVersion that the proofs were computed from.
func (w writer) keepProofs(ctx context.Context, s *scope) error {
	proofs := s.Decision.Proofs
	if proofs == nil {
		return nil
	}
	encoded, err := baseline.EncodeProofs(proofs.ByNode)
	if err != nil {
		return err
	}
	object := beside(s, "Secret", proofs.Secret.Name)
	object.SetUID(types.UID(proofs.Secret.UID))
	object.SetResourceVersion(proofs.Version)
	defer w.own.of(s.Cluster).baseline.Forget()
	object.Object["data"] = map[string]any{baseline.ProofsKey: base64.StdEncoding.EncodeToString(encoded)}
	err = w.client.Apply(
		ctx,
		client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.ProofsFieldManager),
		client.ForceOwnership,
	)
	if err != nil {
		return fmt.Errorf("keep the proofs of kubelets in %s: %w", proofs.Secret, err)
	}
	return nil
}

// keepRecord writes what is not there yet. Where the keeper is gone, there is no control
// plane left that a Cluster could return to.
func (w writer) keepRecord(ctx context.Context, s *scope, facts ucv1.Facts) error {
	keeper, known := s.Observed.Keeper.Get()
	record := migration.RecordOf(s.Cluster, keeper.UID, facts)
	there, found := s.Observed.Record.Get()
	switch {
	case record == nil, s.Observed.Keeper.IsAbsent(), found && there.Holds(*record):
		return nil
	case !known:
		return fmt.Errorf("keep the record of the migration: %s", s.Observed.Keeper.Why())
	}
	data, err := migration.EncodeRecord(*record)
	if err != nil {
		return err
	}
	object := beside(s, "Secret", migration.RecordName(s.Cluster))
	object.SetResourceVersion(there.Version)
	encoded := map[string]any{}
	for key, value := range data {
		encoded[key] = base64.StdEncoding.EncodeToString(value)
	}
	object.Object["data"] = encoded
	own := w.own.of(s.Cluster)
	own.record.Forget()
	if err := w.apply(ctx, object); err != nil {
		return fmt.Errorf("keep the record of the migration in Secret %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	// The answer has the version that the next change is made from.
	w.own.put(&own.record, s.Now, corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}, Data: data})
	return nil
}

// applyLockFile comes before the pods that mount it. No one changes it afterwards: those that read it have one lock.
func (w writer) applyLockFile(ctx context.Context, s *scope, file outcome.MountedFile) error {
	object := beside(s, "ConfigMap", file.ConfigMap)
	object.Object["immutable"] = true
	object.Object["data"] = map[string]any{file.Key: file.Data}
	if err := w.apply(ctx, object); err != nil {
		return fmt.Errorf("apply ConfigMap %s/%s with the migration lock: %w", s.Cluster.Namespace, file.ConfigMap, err)
	}
	return nil
}

func (a actor) removeLock(ctx context.Context, s *scope) error {
	if err := s.session.Leases.RemoveLock(ctx, s.identity, s.Observed.Lock.Value().Lease); err != nil {
		return err
	}
	file := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Cluster.Namespace, Name: handover.LockConfigMap(s.Cluster)},
	}
	if err := a.client.Delete(ctx, file); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ConfigMap %s/%s with the migration lock: %w", file.Namespace, file.Name, err)
	}
	return nil
}

// beside makes an object beside the Cluster that goes with the control plane: a Cluster that returns needs it.
func beside(s *scope, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	object.SetNamespace(s.Cluster.Namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": ucv1.FieldManager})
	object.SetOwnerReferences(owners(s))
	return object
}

// owners of what outlives the Cluster: it goes with the control plane. Static pods have no object here that goes with them, and
// the kubeconfig Secret may be made again with other credentials.
func owners(s *scope) []metav1.OwnerReference {
	keeper, known := s.Observed.Keeper.Get()
	if !known || keeper.Kind != "Deployment" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: keeper.Kind, Name: keeper.Name, UID: types.UID(keeper.UID)}}
}

func (w writer) apply(ctx context.Context, object *unstructured.Unstructured) error {
	return w.client.Apply(
		ctx,
		client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.FieldManager),
		client.ForceOwnership,
	)
}
