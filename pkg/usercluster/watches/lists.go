package watches

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// listTimeout bounds a list that no pass waits for.
	listTimeout = time.Minute
	// maxKeptOfWatch is what is kept of such a list, in bytes: enough for 10,000 workloads.
	maxKeptOfWatch = 4 << 20
)

// boundedLists keep a reflector from lists that are not. It asks for version 0, and of such a list, which comes from the watch
// cache, the API server ignores the limit; and where it can it has the list sent as a watch, and keeps all of it.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
type boundedLists struct {
	cache.ListerWatcher
	source cache.ListerWatcherWithContext
}

func bounding(source cache.ListerWatcher) cache.ListerWatcher {
	return &boundedLists{ListerWatcher: source, source: cache.ToListerWatcherWithContext(source)}
}

// ListWithContext implements cache.ListerWithContext.
func (b *boundedLists) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch = "", ""
	return b.source.ListWithContext(ctx, options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (b *boundedLists) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return b.source.WatchWithContext(ctx, options)
}

// IsWatchListSemanticsUnSupported is asked by the reflector.
// https://github.com/kubernetes/client-go/blob/v0.36.4/util/watchlist/watch_list.go
func (b *boundedLists) IsWatchListSemanticsUnSupported() bool { return true }

// listForWatch is the list that a watch begins with. Which version it begins at is all that one needs to know which only
// wakes: each page says that. Else, what tells an object from others and from its former versions is kept.
func listForWatch(
	ctx context.Context,
	source metadata.ResourceInterface,
	only metav1.ListOptions,
	wakes bool,
) (*metav1.PartialObjectMetadataList, error) {
	kept := &metav1.PartialObjectMetadataList{}
	ctx, cancel := context.WithTimeout(reads.WithBudgetOf(ctx, maxKeptOfWatch), listTimeout)
	defer cancel()
	err := reads.EachPage(ctx, func(ctx context.Context, limit int64, next string) (string, error) {
		page, err := source.List(
			ctx,
			metav1.ListOptions{LabelSelector: only.LabelSelector, FieldSelector: only.FieldSelector, Limit: limit, Continue: next},
		)
		if err != nil {
			return "", err
		}
		kept.ResourceVersion = page.ResourceVersion
		if wakes {
			return "", nil
		}
		for i := range page.Items {
			kept.Items = append(kept.Items, reads.Keep(ctx, identityOfObject(&page.Items[i])))
		}
		return page.Continue, nil
	})
	return kept, err
}

func identityOfObject(object *metav1.PartialObjectMetadata) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{TypeMeta: object.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace:       object.Namespace,
		Name:            object.Name,
		UID:             object.UID,
		Generation:      object.Generation,
		ResourceVersion: object.ResourceVersion,
	}}
}
