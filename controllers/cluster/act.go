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

// actor does what was decided, in both clusters.
type actor struct {
	writer

	observer      *Observer
	metrics       *Metrics
	loadBalancers LoadBalancerRenamer
}

// act does the one action of the decision, when the proofs that it rests on are kept. Every action is idempotent: a crash in the
// middle is repaired by the next pass, which derives it again.
func (a actor) act(ctx context.Context, s *scope) error {
	if err := a.keepProofs(ctx, s); err != nil {
		s.Unkept = true
		return err
	}
	action := s.Decision.Next()
	if action == nil {
		return nil
	}
	err := a.perform(ctx, s, *action)
	a.observer.changed(s, *action)
	a.metrics.acted(action.Kind, err)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(action.Why, "."), err)
	}
	logAction(ctx, s)
	return nil
}

// logAction says what was done. What could not be done is the error of the pass, which is logged where it ends.
func logAction(ctx context.Context, s *scope) {
	action := s.Decision.Next()
	objects := make([]string, 0, len(action.Objects))
	for _, object := range action.Objects {
		objects = append(objects, object.String())
	}
	log.FromContext(ctx).Info("Acted", "step", s.Decision.Step, "action", action.Kind, "objects", objects, "why", action.Why)
}

func (a actor) perform(ctx context.Context, s *scope, action outcome.Action) error {
	switch action.Kind {
	case outcome.ActionRecord:
		return nil
	case outcome.ActionRestoreAnnotations:
		return a.restoreAnnotations(ctx, s.Cluster)
	case outcome.ActionTakeBaseline:
		return a.takeBaseline(ctx, s)
	case outcome.ActionApplyAddons:
		return a.applyAddons(ctx, s, action.AddonSet)
	case outcome.ActionPruneAddons:
		return a.pruneAddons(ctx, s)
	case outcome.ActionChangeArguments, outcome.ActionKeepLeader, outcome.ActionTouch:
		return a.changeControlPlane(ctx, s, action)
	case outcome.ActionOpenFence, outcome.ActionCloseFence, outcome.ActionAllowLock, outcome.ActionReleaseLock,
		outcome.ActionReleaseCCMLease, outcome.ActionRemoveLock, outcome.ActionFreeLease, outcome.ActionGrantLease,
		outcome.ActionRevokeLease:
		return a.changeLeases(ctx, s, action)
	case outcome.ActionRollMachineDeployment,
		outcome.ActionSwitchDefaultClass,
		outcome.ActionCreateCanary,
		outcome.ActionRemoveCanary,
		outcome.ActionMarkMachines,
		outcome.ActionStepMachineSet,
		outcome.ActionReturnMinReady:
		return s.changeObjects(ctx, action)
	case outcome.ActionRenameLoadBalancers:
		return a.loadBalancers.Rename(ctx, s.cloudConfig, action.Renames)
	case outcome.ActionRelease:
		return a.release(ctx, s)
	}
	return fmt.Errorf("action %s is not known", action.Kind)
}

// changeLeases is about who may hold the CCM's Lease and the migration lock, Leases of managers that have ended, and our right to
// KCM's.
func (a actor) changeLeases(ctx context.Context, s *scope, action outcome.Action) error {
	change := map[outcome.ActionKind]func() error{
		outcome.ActionOpenFence:       func() error { return s.session.Leases.OpenFence(ctx, s.identity) },
		outcome.ActionCloseFence:      func() error { return s.session.Leases.CloseFence(ctx, s.identity) },
		outcome.ActionAllowLock:       func() error { return s.session.Leases.AllowLock(ctx, s.identity) },
		outcome.ActionReleaseLock:     func() error { return s.session.Leases.ReleaseLease(ctx, s.Observed.Lock.Value().Lease) },
		outcome.ActionReleaseCCMLease: func() error { return s.session.Leases.ReleaseLease(ctx, s.Observed.CCMLease.Value()) },
		outcome.ActionRemoveLock:      func() error { return a.removeLock(ctx, s) },
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

func (a actor) changeControlPlane(ctx context.Context, s *scope, action outcome.Action) error {
	switch action.Kind {
	case outcome.ActionKeepLeader:
		return controlplane.KeepPod(ctx, a.client, action.Objects[0])
	case outcome.ActionTouch:
		return controlplane.Touch(ctx, a.client, action.Objects[0], s.Now)
	default:
		return a.changeArguments(ctx, s, *action.Arguments)
	}
}

func (a actor) changeArguments(ctx context.Context, s *scope, change outcome.ArgumentChange) error {
	c := a.client
	if change.InUserCluster {
		c = s.session.Client()
	}
	if file := change.Mount; file != nil {
		if err := a.applyLockFile(ctx, s, *file); err != nil {
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
func (a actor) applyAddons(ctx context.Context, s *scope, name outcome.AddonSetName) error {
	set, err := s.session.Addons.WithoutForeign(ctx, s.inventory, s.set(name))
	if err != nil {
		return err
	}
	inventory := addons.Merge(s.inventory, addons.InventoryOf(set.Wanted()))
	if err := a.writeInventory(ctx, s, inventory); err != nil {
		return err
	}
	return s.session.Addons.Apply(ctx, set)
}

// pruneAddons deletes first and forgets afterwards: an object that is forgotten first would stay for ever.
func (a actor) pruneAddons(ctx context.Context, s *scope) error {
	wanted := addons.InventoryOf(slices.Concat(s.addons.CCM.Wanted(), s.addons.CSI.Wanted()))
	if s.needs().Probe {
		wanted = append(wanted, addons.InventoryOf(s.addons.Probe.Objects)...)
	}
	obsolete := addons.Subtract(s.inventory, wanted)
	if err := s.session.Addons.Prune(ctx, obsolete); err != nil {
		return err
	}
	// What someone else provides is wanted too, but never becomes ours here.
	return a.writeInventory(ctx, s, addons.Subtract(s.inventory, obsolete))
}

// restoreAnnotations carries the uid: an apply without it would make a Cluster that was deleted meanwhile again. The
// field manager is its own, so that a later apply of something else does not take the annotations away. It carries the
// resourceVersion too and goes on with the new one: only this change lies in between, so the status can still be written.
func (w writer) restoreAnnotations(ctx context.Context, cluster *ucv1.Cluster) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster",
	}}
	object.SetNamespace(cluster.Namespace)
	object.SetName(cluster.Name)
	object.SetUID(cluster.UID)
	object.SetResourceVersion(cluster.ResourceVersion)
	object.SetAnnotations(map[string]string{ucv1.CCMMigrationNeededAnnotation: "", ucv1.CSIMigrationNeededAnnotation: ""})
	err := w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.AnnotationsFieldManager), client.ForceOwnership)
	if err == nil {
		cluster.ResourceVersion = object.GetResourceVersion()
	}
	return err
}

func (w writer) addFinalizer(ctx context.Context, cluster *ucv1.Cluster) error {
	return w.patchFinalizers(ctx, cluster, func(c *ucv1.Cluster) { controllerutil.AddFinalizer(c, ucv1.ClusterFinalizer) })
}

// release makes sure of the record first: it is what is left of the migration.
func (w writer) release(ctx context.Context, s *scope) error {
	if err := w.keepRecord(ctx, s, s.Cluster.Status.Facts); err != nil {
		return err
	}
	return w.patchFinalizers(ctx, s.Cluster, func(c *ucv1.Cluster) { controllerutil.RemoveFinalizer(c, ucv1.ClusterFinalizer) })
}

// patchFinalizers carries the resource version: the list is replaced as a whole, and others have finalizers too.
func (w writer) patchFinalizers(ctx context.Context, cluster *ucv1.Cluster, change func(*ucv1.Cluster)) error {
	changed := cluster.DeepCopy()
	change(changed)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": changed.Finalizers, "resourceVersion": cluster.ResourceVersion, "uid": cluster.UID,
	}})
	if err != nil {
		return err
	}
	return w.client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(ucv1.FieldManager))
}
