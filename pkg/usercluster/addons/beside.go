package addons

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Beside is the namespace of the Cluster in the management cluster. It is empty in a session that puts nothing there.
type Beside struct {
	Client client.Client
	// Live reads past the cache, which has little of a pod.
	Live      client.Reader
	Namespace string
	// Mark of the Deployments and Pods of the namespace; nil where nothing is kept.
	Mark func() kept.Mark
}

func (b Beside) mark() kept.Mark {
	if b.Mark == nil {
		return kept.Mark{}
	}
	return b.Mark()
}

// places are where the objects of the addons are: in the user cluster, and beside its control plane.
type places struct {
	client client.Client
	beside Beside
}

// clientOf the cluster that an object belongs into.
func (p *places) clientOf(object *unstructured.Unstructured) client.Client {
	if manifest.BesideControlPlane(object) {
		return p.beside.Client
	}
	return p.client
}

// readerOf is clientOf for reading past a cache.
func (p *places) readerOf(object *unstructured.Unstructured) client.Reader {
	if manifest.BesideControlPlane(object) {
		return p.beside.Live
	}
	return p.client
}

// get reads an object live, in the cluster that it belongs into.
func (p *places) get(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return reads.Live(ctx, p.clientOf(want), want)
}

// generations of the workloads there, from the cache: a change of one ends what is remembered of a comparison at once.
func (b Beside) generations(ctx context.Context, set manifest.Set) ([]int64, error) {
	var generations []int64
	for _, object := range set.Objects {
		if !manifest.BesideControlPlane(object) || object.GetKind() != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		err := b.Client.Get(ctx, client.ObjectKeyFromObject(object), deployment)
		if client.IgnoreNotFound(err) != nil {
			return nil, reads.Unseen(fmt.Sprintf("reading %s: %s", reads.RefOf(object), err))
		}
		generations = append(generations, deployment.Generation)
	}
	return generations, nil
}

// refsOf names what an inventory has.
func (p *places) refsOf(inventory []InventoryEntry) []observation.Ref {
	var refs []observation.Ref
	for _, entry := range inventory {
		ref := entry.Ref()
		if entry.BesideControlPlane {
			ref.Namespace = p.beside.Namespace
		}
		refs = append(refs, ref)
	}
	return refs
}
