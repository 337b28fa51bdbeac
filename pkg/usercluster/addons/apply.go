package addons

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// manager applies with our field manager. It gets an uncached client, or one that does not cache what it gets here: with a
// cached one every kind would become a watch of the whole cluster. It has no poller, because nothing here waits.
func manager(c client.Client) *ssa.ResourceManager {
	manager := ssa.NewResourceManager(c, nil, ssa.Owner{Field: ucv1.FieldManager, Group: ucv1.GroupName})
	manager.SetConcurrency(reads.Concurrency)
	return manager
}

// Apply applies the objects of a set that differ: definitions and classes first, and what is beside the control plane
// last, its pods when there is a token for them. It takes over what exists: the caller has looked for objects that are
// someone else's, left out those that no one takes over (WithoutOthers), and has written the inventory before.
func (in *Installer) Apply(ctx context.Context, set manifest.Set) error {
	defer in.memory.wrote(InventoryOf(set.Objects))
	var definitions, rest, beside, pods []*unstructured.Unstructured
	for _, object := range set.Wanted() {
		object = object.DeepCopy()
		switch {
		case manifest.BesideControlPlane(object) && manifest.IsWorkload(object.GetKind()):
			pods = append(pods, object)
		case manifest.BesideControlPlane(object):
			beside = append(beside, object)
		case utils.IsClusterDefinition(object) || utils.IsClassDefinition(object):
			definitions = append(definitions, object)
		default:
			rest = append(rest, object)
		}
	}
	for _, stage := range []func() error{
		func() error { return apply(ctx, in.client, definitions) },
		func() error { return apply(ctx, in.client, rest) },
		func() error { return apply(ctx, in.beside.Client, beside) },
		func() error { return in.tokens.renew(ctx, set) },
		func() error { return apply(ctx, in.beside.Client, pods) },
	} {
		if err := stage(); err != nil {
			return fmt.Errorf("apply the addons of version %s: %w", set.Version, err)
		}
	}
	return nil
}

func apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	if len(objects) == 0 {
		return nil
	}
	_, err := manager(c).ApplyAll(ctx, objects, ssa.DefaultApplyOptions())
	return err
}

// Prune deletes objects of the inventory that carry our label. What others may hang on to stays: definitions,
// namespaces, classes and CSI drivers, and what the cluster has once for all drivers.
func (in *Installer) Prune(ctx context.Context, entries []InventoryEntry) error {
	defer in.memory.wrote(entries)
	var doomed, beside []*unstructured.Unstructured
	for _, entry := range entries {
		switch object := entry.object(); {
		case !Prunable(entry):
		case entry.BesideControlPlane:
			object.SetNamespace(in.beside.Namespace)
			beside = append(beside, object)
		default:
			doomed = append(doomed, object)
		}
	}
	options := ssa.DeleteOptions{
		PropagationPolicy: metav1.DeletePropagationBackground, Inclusions: managedLabels(),
		Exclusions: map[string]string{manifest.SharedAnnotation: manifest.SharedValue},
	}
	// Pods go before the ServiceAccount that they get in with.
	if len(beside) > 0 {
		if _, err := manager(in.beside.Client).DeleteAll(ctx, beside, options); err != nil {
			return fmt.Errorf("prune addons beside the control plane: %w", err)
		}
	}
	if _, err := manager(in.client).DeleteAll(ctx, doomed, options); err != nil {
		return fmt.Errorf("prune addons: %w", err)
	}
	return nil
}

// Prunable says whether an object is ever deleted. The caller drops those that are not from its inventory only.
func Prunable(entry InventoryEntry) bool { return !manifest.Lasting(entry.Kind) }
