package addons

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// standing is whose a shared object is.
type standing int

const (
	unowned standing = iota
	ours
	othersOwn
)

// WithoutForeign is a set without what the cluster has from someone else, of the objects that it has once
// (manifest.SharedAnnotation). Definitions are asked for one by one. The controller is a whole: it is wanted only where nothing
// of it, no definition and no other snapshot-controller is someone else's. It is asked again right before the set is applied.
func (in *Installer) WithoutForeign(ctx context.Context, inventory []InventoryEntry, set manifest.Set) (manifest.Set, error) {
	found := map[InventoryEntry]standing{}
	for _, object := range set.Objects {
		if !manifest.Shared(object) {
			continue
		}
		entry := entryOf(object)
		whose, err := in.standing(ctx, object, slices.ContainsFunc(inventory, entry.same))
		if err != nil {
			return manifest.Set{}, err
		}
		found[entry] = whose
	}
	taken, err := in.snapshotsTaken(ctx, found)
	if err != nil {
		return manifest.Set{}, err
	}
	others := func(entry InventoryEntry) bool {
		whose, shared := found[entry]
		return shared && (whose == othersOwn || whose == unowned && taken && entry.Kind != "CustomResourceDefinition")
	}
	set.Objects = slices.DeleteFunc(
		slices.Clone(set.Objects),
		func(object *unstructured.Unstructured) bool { return others(entryOf(object)) },
	)
	set.Workloads = slices.DeleteFunc(slices.Clone(set.Workloads), func(ref observation.Ref) bool {
		return !slices.ContainsFunc(set.Objects, func(object *unstructured.Unstructured) bool { return reads.RefOf(object) == ref })
	})
	return set, nil
}

// standing: who labels an object of ours as theirs, as Helm does when it adopts one, has it.
func (in *Installer) standing(ctx context.Context, want *unstructured.Unstructured, applied bool) (standing, error) {
	live, err := in.get(ctx, want)
	switch {
	case apierrors.IsNotFound(err):
		return unowned, nil
	case err != nil:
		return unowned, reads.Unseen(reads.Because("reading "+reads.RefOf(want).String(), err))
	case applied && live.GetLabels()[manifest.ManagedByLabel] == manifest.ManagedBy:
		return ours, nil
	}
	return othersOwn, nil
}

// snapshotsTaken says that someone else sees to snapshots. Deployments are listed only where something of ours is missing: there
// may be very many of them.
func (in *Installer) snapshotsTaken(ctx context.Context, found map[InventoryEntry]standing) (bool, error) {
	missing := false
	for _, whose := range found {
		if whose == othersOwn {
			return true, nil
		}
		missing = missing || whose == unowned
	}
	if !missing {
		return false, nil
	}
	taken := false
	err := reads.List(
		ctx,
		in.client,
		func() *appsv1.DeploymentList { return &appsv1.DeploymentList{} },
		func(page *appsv1.DeploymentList) {
			taken = taken || slices.ContainsFunc(page.Items, func(deployment appsv1.Deployment) bool {
				// Under our own name it was looked at above.
				own := deployment.Namespace == manifest.Namespace && deployment.Name == manifest.SnapshotController
				return !own && slices.ContainsFunc(deployment.Spec.Template.Spec.Containers, isSnapshotController)
			})
		},
	)
	if err != nil {
		return false, reads.Unseen(reads.Because("listing Deployments", err))
	}
	return taken, nil
}

// isSnapshotController goes by the end of the image's name: mirrors put something before it.
func isSnapshotController(container corev1.Container) bool {
	return strings.HasSuffix(manifest.ImageName(container.Image), manifest.SnapshotController)
}
