package watches

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

// Clients of the user cluster. Without them nothing is watched, as in a dry run.
type Clients struct {
	Metadata metadata.Interface
	Leases   rest.Interface
	Pods     rest.Interface
}

// Watches of one user cluster. Most of them run only while a migration does.
type Watches struct {
	clients Clients
	wake    func()
	log     logr.Logger
	// room is for what may be kept; nil: nothing may.
	room *kept.Room

	// The mutex guards all below.
	mu      sync.Mutex
	closed  bool
	stop    chan struct{}
	lasting chan struct{}
	started map[string]struct{}
	first   *firstLists
	changes map[string]*changes
	running sync.WaitGroup
}

// New watches nothing yet.
func New(clients Clients, wake func(), log logr.Logger) *Watches {
	return &Watches{clients: clients, wake: wake, log: log, changes: map[string]*changes{}}
}

// Keep lets reads be kept while a watch would show a change. It is for the manager; where someone looks right after he changed
// something, as tests do, the watch may not have shown it yet.
func (w *Watches) Keep(total *kept.Total) { w.room = kept.NewRoom(total) }

// Wake has the reconciler look at the cluster again.
func (w *Watches) Wake() { w.wake() }

// Set begins or ends the watches of a migration, and says whether they begin now. Neither waits.
func (w *Watches) Set(on bool) (begins bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed || on == (w.stop != nil):
		return false
	case !on:
		w.stopLocked()
		return false
	}
	w.stop, w.started, w.first = make(chan struct{}), map[string]struct{}{}, newFirstLists()
	return true
}

// Close ends all watches and waits for them.
func (w *Watches) Close() {
	w.mu.Lock()
	w.closed = true
	w.stopLocked()
	if w.lasting != nil {
		close(w.lasting)
		w.lasting = nil
	}
	w.room.Clear()
	w.mu.Unlock()
	w.running.Wait()
}

// AtRest says that nothing is being migrated.
func (w *Watches) AtRest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stop == nil
}

// Misses says that a migration goes on without a watch of a resource.
func (w *Watches) Misses(resource schema.GroupVersionResource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, watched := w.started[resource.String()]
	return w.stop != nil && !watched
}

func (w *Watches) stopLocked() {
	if w.stop != nil {
		close(w.stop)
		w.stop, w.started, w.first = nil, nil, nil
		w.room.Clear()
	}
}

// Resources wakes when one of them changes: it watches their metadata, which is a fraction of their size.
func (w *Watches) Resources(resources ...schema.GroupVersionResource) {
	for _, resource := range resources {
		w.Resource(resource, &WakeStore{wake: w.wake})
	}
}

// Resource watches the metadata of one for a store.
func (w *Watches) Resource(resource schema.GroupVersionResource, store cache.ReflectorStore) {
	if w.clients.Metadata != nil {
		w.metadata(resource.String(), w.clients.Metadata.Resource(resource), metav1.ListOptions{}, store)
	}
}

// Lasting watches the objects of some resources that have the labels for as long as the session is there, whether a
// migration goes on or not. To do it again changes nothing.
func (w *Watches) Lasting(labels string, newStore func() cache.ReflectorStore, resources ...schema.GroupVersionResource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.lasting != nil || w.clients.Metadata == nil {
		return
	}
	w.lasting = make(chan struct{})
	only := metav1.ListOptions{LabelSelector: labels}
	for _, resource := range resources {
		source := metadataOf(w.clients.Metadata.Resource(resource), only, false)
		w.runLocked(w.lasting, labeled(resource), newStore(), &metav1.PartialObjectMetadata{}, source)
	}
}

// Object wakes when one object changes, or comes back under its name: all pods of a namespace, say, would wake us for every
// DaemonSet. To do it again changes nothing.
func (w *Watches) Object(resource schema.GroupVersionResource, key types.NamespacedName) {
	if w.clients.Metadata == nil {
		return
	}
	source := w.clients.Metadata.Resource(resource).Namespace(key.Namespace)
	only := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name).String()}
	w.metadata(objectName(resource, key), source, only, &WakeStore{wake: w.wake})
}

// Lease watches one Lease: those of a whole cluster would wake us for every Node, every ten seconds.
func (w *Watches) Lease(key types.NamespacedName, store cache.ReflectorStore) {
	if w.clients.Leases != nil {
		w.reflect(leaseName(key), store, &coordinationv1.Lease{},
			filtered(w.clients.Leases, "leases", key.Namespace, "metadata.name", key.Name))
	}
}

// PodsOf watches the pods that run as a ServiceAccount.
func (w *Watches) PodsOf(account types.NamespacedName, store cache.ReflectorStore) {
	if w.clients.Pods != nil {
		w.reflect(podsName(account), store, &corev1.Pod{},
			filtered(w.clients.Pods, "pods", account.Namespace, "spec.serviceAccountName", account.Name))
	}
}

func filtered(c rest.Interface, resource, namespace, field, value string) cache.ListerWatcher {
	return cache.NewFilteredListWatchFromClient(c, resource, namespace, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(field, value).String()
	})
}

func (w *Watches) metadata(name string, source metadata.ResourceInterface, only metav1.ListOptions, store cache.ReflectorStore) {
	_, wakes := store.(*WakeStore)
	w.reflect(name, store, &metav1.PartialObjectMetadata{}, metadataOf(source, only, wakes))
}

func metadataOf(source metadata.ResourceInterface, only metav1.ListOptions, wakes bool) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			return listForWatch(ctx, source, only, wakes)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector, options.FieldSelector = only.LabelSelector, only.FieldSelector
			return source.Watch(ctx, options)
		},
	}
}

// reflect runs a reflector under the name, unless one runs already or nothing is to be watched.
func (w *Watches) reflect(name string, store cache.ReflectorStore, kind runtime.Object, source cache.ListerWatcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, running := w.started[name]; running || w.stop == nil {
		return
	}
	w.started[name] = struct{}{}
	w.first.missing++
	w.runLocked(w.stop, name, store, kind, source)
}

func (w *Watches) runLocked(
	stop chan struct{},
	name string,
	store cache.ReflectorStore,
	kind runtime.Object,
	source cache.ListerWatcher,
) {
	counting := &countingStore{ReflectorStore: store, watches: w, name: name, stop: stop}
	reflector := cache.NewReflectorWithOptions(bounding(source), kind, counting, cache.ReflectorOptions{Logger: &w.log, Name: name})
	w.running.Go(func() { reflector.Run(stop) })
}
