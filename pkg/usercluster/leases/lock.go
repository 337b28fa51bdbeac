package leases

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// lockVerbs are what client-go's election does to a Lease that exists.
func lockVerbs() []string { return []string{"get", "update"} }

// MigrationLock looks at the lock: its Lease, who may write that, and what of ours is there for it.
func (e *Elections) MigrationLock(ctx context.Context, id manifest.Identity) observation.Observed[observation.Lock] {
	id.LeaseName = handover.LockName
	lease := e.Lease(ctx, id.LeaseNamespace, id.LeaseName)
	if lease.IsUnknown() {
		return observation.Unknown[observation.Lock](lease.Why())
	}
	lock := observation.Lock{Lease: lease.Value(), Granted: lease.IsKnown()}
	for _, want := range render.LockObjects(id) {
		live, err := reads.Live(ctx, e.client, want)
		if err != nil && !apierrors.IsNotFound(err) {
			return observation.Unknown[observation.Lock](reads.Because("reading "+reads.RefOf(want).String(), err))
		}
		lock.Granted = lock.Granted && err == nil && sameContent(want, live)
		if err == nil {
			lock.Left = append(lock.Left, reads.RefOf(want))
		}
	}
	slices.Reverse(lock.Left) // The binding goes first: it is what grants.
	if lease.IsKnown() {
		lock.Left = append(lock.Left, lease.Value().Ref)
	}
	var problem string
	lock.Denied, problem = e.lockDenied(ctx, id)
	if problem != "" {
		return observation.Unknown[observation.Lock](problem)
	}
	return observation.Known(lock)
}

func (e *Elections) lockDenied(ctx context.Context, id manifest.Identity) (denied []string, problem string) {
	managers := []subject{subjectOf(id), {user: handover.KCMUser, groups: []string{"system:authenticated"}}}
	for _, manager := range managers {
		var verbs []string
		for _, verb := range lockVerbs() {
			allowed, problem := e.subjectMayUseLease(ctx, manager, id, verb)
			if problem != "" {
				return nil, problem
			}
			if !allowed {
				verbs = append(verbs, verb)
			}
		}
		if len(verbs) > 0 {
			denied = append(
				denied,
				fmt.Sprintf("%s may not %s Lease %s/%s.", manager.user, strings.Join(verbs, ", "), id.LeaseNamespace, id.LeaseName),
			)
		}
	}
	return denied, ""
}

// AllowLock makes the Lease of the migration lock, and lets both managers hold it.
func (e *Elections) AllowLock(ctx context.Context, id manifest.Identity) error {
	for _, object := range append(render.LockObjects(id), render.LockLease(id)) {
		err := e.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("allow the migration lock with %s: %w", reads.RefOf(object), err)
		}
	}
	return nil
}

// ReleaseLease clears the holder from a Lease, if no one renewed it since it was seen: for client-go a Lease without a
// holder is free at once.
// https://github.com/kubernetes/client-go/blob/v0.30.14/tools/leaderelection/leaderelection.go#L385
func (e *Elections) ReleaseLease(ctx context.Context, seen observation.Lease) error {
	lease, err := unrenewed(ctx, e.client, seen, "release")
	if err != nil || lease == nil {
		return err
	}
	before := lease.DeepCopy()
	lease.Spec.HolderIdentity = nil
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := e.client.Patch(ctx, lease, patch, client.FieldOwner(ucv1.FieldManager)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release %s: %w", seen, err)
	}
	return nil
}

// FreeLease clears the holder from a Lease as it was seen, and leaves everything else: one that was written since, or that is
// another one, is a conflict.
func (e *Elections) FreeLease(ctx context.Context, seen observation.Lease) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": seen.UID, "resourceVersion": seen.Version}, "spec": map[string]any{"holderIdentity": nil},
	})
	if err != nil {
		return err
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: seen.Namespace, Name: seen.Name}}
	err = e.client.Patch(ctx, lease, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(ucv1.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("free %s: %w", seen, err)
	}
	return nil
}

// unrenewed is the Lease, if it is as it was seen; nil when it is gone.
func unrenewed(
	ctx context.Context, c client.Client, seen observation.Lease, to string,
) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	switch err := c.Get(ctx, types.NamespacedName{Namespace: seen.Namespace, Name: seen.Name}, lease); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s to %s it: %w", seen, to, err)
	case ptr.Deref(lease.Spec.HolderIdentity, "") != seen.Holder || lease.Spec.RenewTime != nil &&
		!lease.Spec.RenewTime.Time.Equal(seen.RenewTime):
		return nil, fmt.Errorf("%s was renewed a moment ago: look again who holds it", seen)
	}
	return lease, nil
}

// RemoveLock deletes our Role and RoleBinding, and the Lease that was seen to be held by no one, if that is still so.
func (e *Elections) RemoveLock(ctx context.Context, id manifest.Identity, seen observation.Lease) error {
	objects := render.LockObjects(id)
	slices.Reverse(objects)
	for _, object := range objects {
		if err := e.client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the migration lock with %s: %w", reads.RefOf(object), err)
		}
	}
	if seen.Name == "" {
		return nil
	}
	lease, err := unrenewed(ctx, e.client, seen, "delete")
	if err != nil || lease == nil {
		return err
	}
	err = e.client.Delete(ctx, lease, client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s: %w", seen, err)
	}
	return nil
}
