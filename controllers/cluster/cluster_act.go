package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// inventoryKey is the key in the ConfigMap of the addon inventory.
const inventoryKey = "inventory"

func inventoryName(cluster *ucv1.Cluster) string { return cluster.Name + "-ccm-migration-addons" }

// act does the one verb of the decision, when the proofs that it rests on are kept. Every verb is idempotent: a crash in the
// middle is repaired by the next pass, which derives it again.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	if err := r.keepProofs(ctx, s); err != nil {
		s.unkept = true
		return err
	}
	verb := s.decision.Verb
	if verb == nil {
		return nil
	}
	err := r.perform(ctx, s, *verb)
	r.Metrics.verb(verb.Kind, err)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(verb.Why, "."), err)
	}
	logAction(ctx, s)
	return nil
}

func (r *Reconciler) perform(ctx context.Context, s *scope, verb migration.Verb) error {
	switch verb.Kind {
	case migration.VerbRecord:
		return nil
	case migration.VerbRestoreAnnotations:
		return r.restoreAnnotations(ctx, s.cluster)
	case migration.VerbTakeBaseline:
		return r.takeBaseline(ctx, s)
	case migration.VerbApplyAddons:
		return r.applyAddons(ctx, s, verb.AddonSet)
	case migration.VerbPruneAddons:
		return r.pruneAddons(ctx, s)
	case migration.VerbChangeArguments:
		return r.changeArguments(ctx, s, *verb.Arguments)
	case migration.VerbKeepLeader:
		return controlplane.KeepPod(ctx, r.Client, verb.Objects[0])
	case migration.VerbOpenFence, migration.VerbCloseFence, migration.VerbAllowLock, migration.VerbReleaseLock,
		migration.VerbReleaseCCMLease, migration.VerbRemoveLock, migration.VerbFreeLease, migration.VerbGrantLease, migration.VerbRevokeLease:
		return r.changeLeases(ctx, s, verb)
	case migration.VerbRollMachineDeployment, migration.VerbSwitchDefaultClass, migration.VerbCreateCanary, migration.VerbRemoveCanary,
		migration.VerbMarkMachines, migration.VerbStepMachineSet, migration.VerbReturnMinReady:
		return s.changeObjects(ctx, verb)
	case migration.VerbRelease:
		return r.release(ctx, s)
	}
	return fmt.Errorf("verb %s is not known", verb.Kind)
}

// changeLeases is about who may hold the CCM's Lease and the migration lock, Leases of managers that have ended, and our right to
// KCM's.
func (r *Reconciler) changeLeases(ctx context.Context, s *scope, verb migration.Verb) error {
	change := map[migration.VerbKind]func() error{
		migration.VerbOpenFence:       func() error { return s.session.Leases.OpenFence(ctx, s.identity) },
		migration.VerbCloseFence:      func() error { return s.session.Leases.CloseFence(ctx, s.identity) },
		migration.VerbAllowLock:       func() error { return s.session.Leases.AllowLock(ctx, s.identity) },
		migration.VerbReleaseLock:     func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.Lock.Value().Lease) },
		migration.VerbReleaseCCMLease: func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.CCMLease.Value()) },
		migration.VerbRemoveLock:      func() error { return r.removeLock(ctx, s) },
		migration.VerbFreeLease:       func() error { return s.session.Leases.FreeLease(ctx, *verb.Lease) },
		migration.VerbGrantLease:      func() error { return s.session.Leases.GrantLease(ctx, verb.Lease.Ref) },
		migration.VerbRevokeLease:     func() error { return s.session.Leases.RevokeLease(ctx, s.kcmLease()) },
	}
	return change[verb.Kind]()
}

// changeObjects of the user cluster.
func (s *scope) changeObjects(ctx context.Context, verb migration.Verb) error {
	switch verb.Kind {
	case migration.VerbSwitchDefaultClass:
		return s.session.Facts.SwitchDefaultClass(ctx, verb.Objects, verb.DefaultClass)
	case migration.VerbCreateCanary:
		return s.session.Canary.Create(ctx, verb.Objects[0], *verb.Canary)
	case migration.VerbRemoveCanary:
		return s.session.Canary.Remove(ctx, verb.Objects)
	default:
		return s.session.Machines.Change(ctx, verb)
	}
}

func (r *Reconciler) changeArguments(ctx context.Context, s *scope, change migration.ArgumentChange) error {
	c := r.Client
	if change.InUserCluster {
		c = s.session.Client()
	}
	if file := change.Mount; file != nil {
		if err := r.applyLockFile(ctx, s, *file); err != nil {
			return err
		}
	}
	return controlplane.ChangeArguments(ctx, c, change)
}

// applyAddons writes the inventory first: an object that is applied and not in it would look like someone else's. And one that is
// in it would look like ours.
func (r *Reconciler) applyAddons(ctx context.Context, s *scope, name migration.AddonSetName) error {
	set, err := s.session.Addons.WithoutOthers(ctx, s.inventory, s.set(name))
	if err != nil {
		return err
	}
	inventory := addons.Merge(s.inventory, addons.InventoryOf(set.Wanted()))
	if err := r.writeInventory(ctx, s, inventory); err != nil {
		return err
	}
	return s.session.Addons.Apply(ctx, set)
}

func (s *scope) set(name migration.AddonSetName) provider.Set {
	switch name {
	case migration.CSISet:
		return s.addons.CSI
	case migration.ProbeSet:
		return s.addons.Probe
	case migration.CCMSet:
	}
	return s.addons.CCM
}

// pruneAddons deletes first and forgets afterwards: an object that is forgotten first would stay for ever.
func (r *Reconciler) pruneAddons(ctx context.Context, s *scope) error {
	wanted := addons.InventoryOf(slices.Concat(s.addons.CCM.Wanted(), s.addons.CSI.Wanted()))
	if s.needs().Probe {
		wanted = append(wanted, addons.InventoryOf(s.addons.Probe.Objects)...)
	}
	obsolete := addons.Subtract(s.inventory, wanted)
	if err := s.session.Addons.Prune(ctx, obsolete); err != nil {
		return err
	}
	// What someone else provides is wanted too, but never becomes ours here.
	return r.writeInventory(ctx, s, addons.Subtract(s.inventory, obsolete))
}

func (r *Reconciler) writeInventory(ctx context.Context, s *scope, inventory []addons.InventoryEntry) error {
	encoded, err := addons.EncodeInventory(inventory)
	if err != nil {
		return err
	}
	object := beside(s, "ConfigMap", inventoryName(s.cluster))
	object.Object["data"] = map[string]any{inventoryKey: string(encoded)}
	return r.apply(ctx, object)
}

// beside makes an object beside the Cluster that goes with the control plane: a Cluster that returns needs it.
func beside(s *scope, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	object.SetNamespace(s.cluster.Namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": ucv1.FieldManager})
	object.SetOwnerReferences(owners(s))
	return object
}

func (r *Reconciler) apply(ctx context.Context, object *unstructured.Unstructured) error {
	return r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
}

// restoreAnnotations carries the uid: an apply without it would make a Cluster that was deleted meanwhile again. The
// field manager is its own, so that a later apply of something else does not take the annotations away. It carries the
// resourceVersion too and goes on with the new one: only this change lies in between, so the status can still be written.
func (r *Reconciler) restoreAnnotations(ctx context.Context, cluster *ucv1.Cluster) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster",
	}}
	object.SetNamespace(cluster.Namespace)
	object.SetName(cluster.Name)
	object.SetUID(cluster.UID)
	object.SetResourceVersion(cluster.ResourceVersion)
	object.SetAnnotations(map[string]string{ucv1.CCMMigrationNeededAnnotation: "", ucv1.CSIMigrationNeededAnnotation: ""})
	err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.AnnotationsFieldManager), client.ForceOwnership)
	if err == nil {
		cluster.ResourceVersion = object.GetResourceVersion()
	}
	return err
}

func (r *Reconciler) addFinalizer(ctx context.Context, cluster *ucv1.Cluster) error {
	return r.patchFinalizers(ctx, cluster, func(c *ucv1.Cluster) { controllerutil.AddFinalizer(c, ucv1.ClusterFinalizer) })
}

// release makes sure of the record first: it is what is left of the migration.
func (r *Reconciler) release(ctx context.Context, s *scope) error {
	if err := r.keepRecord(ctx, s, s.cluster.Status.Facts); err != nil {
		return err
	}
	return r.patchFinalizers(ctx, s.cluster, func(c *ucv1.Cluster) { controllerutil.RemoveFinalizer(c, ucv1.ClusterFinalizer) })
}

// patchFinalizers carries the resource version: the list is replaced as a whole, and others have finalizers too.
func (r *Reconciler) patchFinalizers(ctx context.Context, cluster *ucv1.Cluster, change func(*ucv1.Cluster)) error {
	changed := cluster.DeepCopy()
	change(changed)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": changed.Finalizers, "resourceVersion": cluster.ResourceVersion, "uid": cluster.UID,
	}})
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(ucv1.FieldManager))
}
