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
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// act does the one action of the decision, when the proofs that it rests on are kept. Every action is idempotent: a crash in the
// middle is repaired by the next pass, which derives it again.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	if err := r.keepProofs(ctx, s); err != nil {
		s.unkept = true
		return err
	}
	action := s.decision.Next()
	if action == nil {
		return nil
	}
	err := r.perform(ctx, s, *action)
	r.Observer.changed(s, *action)
	r.Metrics.acted(action.Kind, err)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(action.Why, "."), err)
	}
	logAction(ctx, s)
	return nil
}

// logAction says what was done. What could not be done is the error of the pass, which is logged where it ends.
func logAction(ctx context.Context, s *scope) {
	action := s.decision.Next()
	objects := make([]string, 0, len(action.Objects))
	for _, object := range action.Objects {
		objects = append(objects, object.String())
	}
	log.FromContext(ctx).Info("Acted", "step", s.decision.Step, "action", action.Kind, "objects", objects, "why", action.Why)
}

// tried is what acting could not do.
func (s *scope) tried() string {
	if s.unkept || s.decision.Next() == nil {
		return "Keeping the proofs of kubelets in the Secret with the baseline; nothing rests on them before."
	}
	return s.decision.Next().Why
}

func (r *Reconciler) perform(ctx context.Context, s *scope, action outcome.Action) error {
	switch action.Kind {
	case outcome.ActionRecord:
		return nil
	case outcome.ActionRestoreAnnotations:
		return r.restoreAnnotations(ctx, s.cluster)
	case outcome.ActionTakeBaseline:
		return r.takeBaseline(ctx, s)
	case outcome.ActionApplyAddons:
		return r.applyAddons(ctx, s, action.AddonSet)
	case outcome.ActionPruneAddons:
		return r.pruneAddons(ctx, s)
	case outcome.ActionChangeArguments:
		return r.changeArguments(ctx, s, *action.Arguments)
	case outcome.ActionKeepLeader:
		return controlplane.KeepPod(ctx, r.Client, action.Objects[0])
	case outcome.ActionOpenFence, outcome.ActionCloseFence, outcome.ActionAllowLock, outcome.ActionReleaseLock,
		outcome.ActionReleaseCCMLease, outcome.ActionRemoveLock, outcome.ActionFreeLease, outcome.ActionGrantLease,
		outcome.ActionRevokeLease:
		return r.changeLeases(ctx, s, action)
	case outcome.ActionRollMachineDeployment,
		outcome.ActionSwitchDefaultClass,
		outcome.ActionCreateCanary,
		outcome.ActionRemoveCanary,
		outcome.ActionMarkMachines,
		outcome.ActionStepMachineSet,
		outcome.ActionReturnMinReady:
		return s.changeObjects(ctx, action)
	case outcome.ActionRelease:
		return r.release(ctx, s)
	}
	return fmt.Errorf("action %s is not known", action.Kind)
}

// changeLeases is about who may hold the CCM's Lease and the migration lock, Leases of managers that have ended, and our right to
// KCM's.
func (r *Reconciler) changeLeases(ctx context.Context, s *scope, action outcome.Action) error {
	change := map[outcome.ActionKind]func() error{
		outcome.ActionOpenFence:       func() error { return s.session.Leases.OpenFence(ctx, s.identity) },
		outcome.ActionCloseFence:      func() error { return s.session.Leases.CloseFence(ctx, s.identity) },
		outcome.ActionAllowLock:       func() error { return s.session.Leases.AllowLock(ctx, s.identity) },
		outcome.ActionReleaseLock:     func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.Lock.Value().Lease) },
		outcome.ActionReleaseCCMLease: func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.CCMLease.Value()) },
		outcome.ActionRemoveLock:      func() error { return r.removeLock(ctx, s) },
		outcome.ActionFreeLease:       func() error { return s.session.Leases.FreeLease(ctx, *action.Lease) },
		outcome.ActionGrantLease:      func() error { return s.session.Leases.GrantLease(ctx, action.Lease.Ref) },
		outcome.ActionRevokeLease:     func() error { return s.session.Leases.RevokeLease(ctx, s.kcmLease()) },
	}
	return change[action.Kind]()
}

// changeObjects of the user cluster.
func (s *scope) changeObjects(ctx context.Context, action outcome.Action) error {
	switch action.Kind {
	case outcome.ActionSwitchDefaultClass:
		return s.session.Facts.SwitchDefaultClass(ctx, action.Objects, action.DefaultClass)
	case outcome.ActionCreateCanary:
		return s.session.Canary.Create(ctx, action.Objects[0], *action.Canary)
	case outcome.ActionRemoveCanary:
		return s.session.Canary.Remove(ctx, action.Objects)
	default:
		return s.session.Machines.Change(ctx, action)
	}
}

func (r *Reconciler) changeArguments(ctx context.Context, s *scope, change outcome.ArgumentChange) error {
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

func (s *scope) set(name outcome.AddonSetName) manifest.Set {
	switch name {
	case outcome.CSISet:
		return s.addons.CSI
	case outcome.ProbeSet:
		return s.addons.Probe
	case outcome.CCMSet:
	}
	return s.addons.CCM
}

// applyAddons writes the inventory first: an object that is applied and not in it would look like someone else's. And one that is
// in it would look like ours.
func (r *Reconciler) applyAddons(ctx context.Context, s *scope, name outcome.AddonSetName) error {
	set, err := s.session.Addons.WithoutForeign(ctx, s.inventory, s.set(name))
	if err != nil {
		return err
	}
	inventory := addons.Merge(s.inventory, addons.InventoryOf(set.Wanted()))
	if err := r.writeInventory(ctx, s, inventory); err != nil {
		return err
	}
	return s.session.Addons.Apply(ctx, set)
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
