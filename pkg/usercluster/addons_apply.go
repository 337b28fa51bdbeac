package usercluster

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// applyConcurrency is how many objects are compared at once: a set has dozens, and every one takes three round trips.
const applyConcurrency = 8

// manager applies with our field manager. It gets the uncached client: with a cached one every kind would become a
// watch of the whole cluster. It has no poller, because nothing here waits.
func (s *Session) manager() *ssa.ResourceManager {
	manager := ssa.NewResourceManager(s.client, nil, ssa.Owner{Field: ucv1.FieldManager, Group: ucv1.GroupName})
	manager.SetConcurrency(applyConcurrency)
	return manager
}

// ApplyAddons applies the objects of a set that differ, definitions and classes first. It takes over what exists: the
// caller has looked for objects that are somebody else's, left out those that nobody takes over (WithoutOthers), and has
// written the inventory before.
func (s *Session) ApplyAddons(ctx context.Context, set provider.Set) error {
	defer s.addons.invalidate()
	var first, rest []*unstructured.Unstructured
	for _, object := range set.Wanted() {
		object = object.DeepCopy()
		if utils.IsClusterDefinition(object) || utils.IsClassDefinition(object) {
			first = append(first, object)
		} else {
			rest = append(rest, object)
		}
	}
	for _, stage := range [][]*unstructured.Unstructured{first, rest} {
		if _, err := s.manager().ApplyAll(ctx, stage, ssa.DefaultApplyOptions()); err != nil {
			return fmt.Errorf("apply the addons of version %s: %w", set.Version, err)
		}
	}
	return nil
}

// PruneAddons deletes objects of the inventory that carry our label. What others may hang on to stays: definitions,
// namespaces, classes and CSI drivers, and what the cluster has once for all drivers.
func (s *Session) PruneAddons(ctx context.Context, entries []InventoryEntry) error {
	defer s.addons.invalidate()
	var doomed []*unstructured.Unstructured
	for _, entry := range entries {
		if Prunable(entry) {
			doomed = append(doomed, entry.object())
		}
	}
	options := ssa.DeleteOptions{
		PropagationPolicy: metav1.DeletePropagationBackground, Inclusions: managedLabels(),
		Exclusions: map[string]string{manifest.SharedAnnotation: manifest.SharedValue},
	}
	if _, err := s.manager().DeleteAll(ctx, doomed, options); err != nil {
		return fmt.Errorf("prune addons: %w", err)
	}
	return nil
}

// Prunable says whether an object is ever deleted. The caller drops those that are not from its inventory only.
func Prunable(entry InventoryEntry) bool { return !manifest.Lasting(entry.Kind) }
