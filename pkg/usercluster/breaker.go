package usercluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// ApplyBreaker makes these fields the whole of what the circuit breaker owns of a MachineDeployment. Those that it owned before
// and that are not among them are gone afterwards, unless somebody else owns them, too: that is how they are given back. The
// field manager is its own, so that the roll annotation stays.
func (s *Session) ApplyBreaker(ctx context.Context, ref migration.Ref, fields migration.BreakerFields) error {
	if ref.UID == "" {
		return errors.New("guard " + ref.String() + ": its UID is needed")
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Name, "uid": ref.UID},
	}}
	object.SetGroupVersionKind(machineGroupVersion().WithKind(machineDeploymentKind))
	spec := map[string]any{}
	if fields.MinReadySeconds != nil {
		spec["minReadySeconds"] = int64(*fields.MinReadySeconds)
	}
	if fields.Paused {
		spec["paused"] = true
	}
	if len(spec) > 0 {
		object.Object["spec"] = spec
	}
	err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(ucv1.BreakerFieldManager), client.ForceOwnership)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("guard %s: it was deleted meanwhile, look again: %w", ref, err)
	}
	if err != nil {
		return fmt.Errorf("guard %s: %w", ref, err)
	}
	return nil
}

// guardOf reads from the managed fields whose minReadySeconds and pause it is. The API server keeps them, so that no mark of
// ours is needed: an annotation would have the operating-system-manager make its configuration anew.
func guardOf(object *unstructured.Unstructured) migration.Guard {
	seconds := integerOr(object, 0, "spec", "minReadySeconds")
	paused, _, _ := unstructured.NestedBool(object.Object, "spec", "paused")
	guard := migration.Guard{
		MinReadySeconds: int32(seconds), Canary: object.GetLabels()[ucv1.CanaryLabel] != "", PausedByUs: paused && onlyOurs(object.GetManagedFields(), "paused"),
		AppliedAt: appliedAt(object.GetManagedFields()),
	}
	for _, entry := range object.GetManagedFields() {
		ours := entry.Manager == ucv1.BreakerFieldManager
		switch {
		case !owns(entry, "minReadySeconds"):
		case ours:
			guard.MinReadyOurs = true
		case seconds != 0 || entry.Operation == metav1.ManagedFieldsOperationApply:
			// An Update that left 0 behind wanted nothing: it is the default, which clients fill in.
			guard.MinReadyOwner = entry.Manager
		}
	}
	if seconds != 0 && !guard.MinReadyOurs && guard.MinReadyOwner == "" {
		guard.MinReadyOwner = "an admission webhook"
	}
	return guard
}

func appliedAt(entries []metav1.ManagedFieldsEntry) time.Time {
	at := slices.IndexFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == ucv1.BreakerFieldManager })
	if at < 0 || entries[at].Time == nil {
		return time.Time{}
	}
	return entries[at].Time.Time
}

// onlyOurs says that we own a field and nobody else does.
func onlyOurs(entries []metav1.ManagedFieldsEntry, field string) bool {
	owners := slices.DeleteFunc(slices.Clone(entries), func(entry metav1.ManagedFieldsEntry) bool { return !owns(entry, field) })
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager != ucv1.BreakerFieldManager })
}

// owns says that a manager owns a field of the spec.
func owns(entry metav1.ManagedFieldsEntry, field string) bool {
	fields := struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}{}
	if entry.FieldsV1 == nil || entry.Subresource != "" || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, owned := fields.Spec["f:"+field]
	return owned
}
