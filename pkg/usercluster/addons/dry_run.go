package addons

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// DryObjects is what the API server's dry run says of the objects of the sets, by their names. What would not change is not
// there.
func (in *Installer) DryObjects(
	ctx context.Context,
	inventory []InventoryEntry,
	sets ...manifest.Set,
) (map[string]plan.Object, error) {
	var objects []*unstructured.Unstructured
	for _, set := range sets {
		set, err := in.WithoutForeign(ctx, inventory, set)
		if err != nil {
			return nil, err
		}
		objects = append(objects, set.Objects...)
	}
	found := make([]*plan.Object, len(objects))
	if err := reads.Concurrently(ctx, len(found), func(ctx context.Context, i int) (err error) {
		found[i], err = in.dryObject(ctx, objects[i].DeepCopy())
		return err
	}); err != nil {
		return nil, err
	}
	dry := map[string]plan.Object{}
	for _, object := range found {
		if object != nil {
			dry[object.Object] = *object
		}
	}
	return dry, nil
}

func (p *places) dryObject(ctx context.Context, want *unstructured.Unstructured) (*plan.Object, error) {
	dry := &plan.Object{Object: reads.RefOf(want).String(), Operation: plan.Change}
	live, err := p.get(ctx, want)
	switch {
	case meta.IsNoMatchError(err):
		dry.Operation, dry.Note = plan.Create, "a dry run cannot show it, because its definition is applied before it"
		return dry, nil
	case apierrors.IsNotFound(err):
		dry.Operation = plan.Create
		return dry, p.dryCreate(ctx, want, dry)
	case err != nil:
		return nil, reads.Unseen(reads.Because("reading "+dry.Object, err))
	}
	compared := p.planOf(ctx, want, live)
	if compared.Problem != "" {
		dry.Note = compared.Problem
	}
	for _, change := range compared.Changes {
		dry.Changes = append(dry.Changes, plan.FieldChange(change))
	}
	if dry.Note == "" && len(dry.Changes) == 0 {
		return nil, nil
	}
	return dry, nil
}

// dryCreate notes what the API server says against a new object: an admission webhook, for example.
func (p *places) dryCreate(ctx context.Context, want *unstructured.Unstructured, dry *plan.Object) error {
	switch _, _, _, err := manager(p.clientOf(want)).Diff(ctx, want, ssa.DefaultDiffOptions()); {
	case apierrors.IsNotFound(err):
		dry.Note = "a dry run cannot show it, because its namespace or its definition is not there yet"
	case err != nil && ctx.Err() != nil:
		return reads.Unseen(reads.Because("comparing "+dry.Object, err))
	case err != nil:
		dry.Note = refusal(err)
	}
	return nil
}

// Refs names the objects of a set.
func Refs(objects []*unstructured.Unstructured) []observation.Ref {
	refs := make([]observation.Ref, 0, len(objects))
	for _, object := range objects {
		refs = append(refs, reads.RefOf(object))
	}
	return refs
}
