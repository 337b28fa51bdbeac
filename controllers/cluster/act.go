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
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

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

// logAction says what was done. What could not be done is the error of the pass, which is logged where it ends.
func logAction(ctx context.Context, s *scope) {
	verb := s.decision.Verb
	objects := make([]string, 0, len(verb.Objects))
	for _, object := range verb.Objects {
		objects = append(objects, object.String())
	}
	log.FromContext(ctx).Info("Acted", "step", s.decision.Step, "action", verb.Kind, "objects", objects, "why", verb.Why)
}

// tried is what acting could not do.
func (s *scope) tried() string {
	if s.unkept || s.decision.Verb == nil {
		return "Keeping the proofs of kubelets in the Secret with the baseline; nothing rests on them before."
	}
	return s.decision.Verb.Why
}

func (r *Reconciler) perform(ctx context.Context, s *scope, verb outcome.Verb) error {
	switch verb.Kind {
	case outcome.VerbRecord:
		return nil
	case outcome.VerbRestoreAnnotations:
		return r.restoreAnnotations(ctx, s.cluster)
	case outcome.VerbTakeBaseline:
		return r.takeBaseline(ctx, s)
	case outcome.VerbApplyAddons:
		return r.applyAddons(ctx, s, verb.AddonSet)
	case outcome.VerbPruneAddons:
		return r.pruneAddons(ctx, s)
	case outcome.VerbChangeArguments:
		return r.changeArguments(ctx, s, *verb.Arguments)
	case outcome.VerbKeepLeader:
		return controlplane.KeepPod(ctx, r.Client, verb.Objects[0])
	case outcome.VerbOpenFence, outcome.VerbCloseFence, outcome.VerbAllowLock, outcome.VerbReleaseLock,
		outcome.VerbReleaseCCMLease, outcome.VerbRemoveLock, outcome.VerbFreeLease, outcome.VerbGrantLease, outcome.VerbRevokeLease:
		return r.changeLeases(ctx, s, verb)
	case outcome.VerbRollMachineDeployment, outcome.VerbSwitchDefaultClass, outcome.VerbCreateCanary, outcome.VerbRemoveCanary,
		outcome.VerbMarkMachines, outcome.VerbStepMachineSet, outcome.VerbReturnMinReady:
		return s.changeObjects(ctx, verb)
	case outcome.VerbRelease:
		return r.release(ctx, s)
	}
	return fmt.Errorf("verb %s is not known", verb.Kind)
}

// changeLeases is about who may hold the CCM's Lease and the migration lock, Leases of managers that have ended, and our right to
// KCM's.
func (r *Reconciler) changeLeases(ctx context.Context, s *scope, verb outcome.Verb) error {
	change := map[outcome.VerbKind]func() error{
		outcome.VerbOpenFence:       func() error { return s.session.Leases.OpenFence(ctx, s.identity) },
		outcome.VerbCloseFence:      func() error { return s.session.Leases.CloseFence(ctx, s.identity) },
		outcome.VerbAllowLock:       func() error { return s.session.Leases.AllowLock(ctx, s.identity) },
		outcome.VerbReleaseLock:     func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.Lock.Value().Lease) },
		outcome.VerbReleaseCCMLease: func() error { return s.session.Leases.ReleaseLease(ctx, s.observed.CCMLease.Value()) },
		outcome.VerbRemoveLock:      func() error { return r.removeLock(ctx, s) },
		outcome.VerbFreeLease:       func() error { return s.session.Leases.FreeLease(ctx, *verb.Lease) },
		outcome.VerbGrantLease:      func() error { return s.session.Leases.GrantLease(ctx, verb.Lease.Ref) },
		outcome.VerbRevokeLease:     func() error { return s.session.Leases.RevokeLease(ctx, s.kcmLease()) },
	}
	return change[verb.Kind]()
}

// changeObjects of the user cluster.
func (s *scope) changeObjects(ctx context.Context, verb outcome.Verb) error {
	switch verb.Kind {
	case outcome.VerbSwitchDefaultClass:
		return s.session.Facts.SwitchDefaultClass(ctx, verb.Objects, verb.DefaultClass)
	case outcome.VerbCreateCanary:
		return s.session.Canary.Create(ctx, verb.Objects[0], *verb.Canary)
	case outcome.VerbRemoveCanary:
		return s.session.Canary.Remove(ctx, verb.Objects)
	default:
		return s.session.Machines.Change(ctx, verb)
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

func (s *scope) set(name outcome.AddonSetName) provider.Set {
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
