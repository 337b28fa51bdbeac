package usercluster

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// managedLabels are on every addon object that we apply.
func managedLabels() map[string]string {
	return map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}
}

// setWatching starts or ends the watches of a migration. Neither waits.
func (s *Session) setWatching(on bool) {
	s.mu.Lock()
	if s.closed || on == (s.stop != nil) {
		s.mu.Unlock()
		return
	}
	if !on {
		s.stopLocked()
		s.mu.Unlock()
		return
	}
	s.stop, s.started = make(chan struct{}), map[string]struct{}{}
	s.mu.Unlock()

	plain := &wakeStore{wake: s.wake}
	s.watch(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, plain)
	s.watch(schema.GroupVersionResource{Version: "v1", Resource: "services"}, plain)
	s.watch(schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"}, plain)
	s.watchForManagers()
}

// watchWorkloads watches what we applied for as long as the session is there: a finished cluster is served by it.
func (s *Session) watchWorkloads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.guard != nil || s.network == nil {
		return
	}
	s.guard = make(chan struct{})
	only := metav1.ListOptions{LabelSelector: labels.Set(managedLabels()).String()}
	for _, name := range []string{"deployments", "daemonsets"} {
		resource := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: name}
		store := &addonStore{wakeStore: wakeStore{wake: s.wake}, invalidate: s.addons.invalidate, atRest: s.atRest}
		s.runLocked(s.guard, resource.String(), store, &metav1.PartialObjectMetadata{}, metadataOf(s.network.metadata.Resource(resource), only, false))
	}
}

// atRest says that nothing is being migrated.
func (s *Session) atRest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop == nil
}

func (s *Session) stopLocked() {
	if s.stop != nil {
		close(s.stop)
		s.stop, s.started = nil, nil
	}
}

// watch watches the metadata of a resource: enough to know that something changed, and a fraction of its size.
func (s *Session) watch(resource schema.GroupVersionResource, store cache.ReflectorStore) {
	if s.network == nil {
		return
	}
	s.watchMetadata(resource.String(), s.network.metadata.Resource(resource), metav1.ListOptions{}, store)
}

// WatchPod wakes when a static pod of the control plane changes, or comes back under its name: all pods of its namespace
// would wake us for every DaemonSet. To do it again changes nothing.
func (s *Session) WatchPod(key types.NamespacedName) {
	if s.network == nil {
		return
	}
	source := s.network.metadata.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(key.Namespace)
	only := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name).String()}
	s.watchMetadata("pod "+key.String(), source, only, &wakeStore{wake: s.wake})
}

func (s *Session) watchMetadata(name string, source metadata.ResourceInterface, only metav1.ListOptions, store cache.ReflectorStore) {
	_, wakes := store.(*wakeStore)
	s.reflect(name, store, &metav1.PartialObjectMetadata{}, metadataOf(source, only, wakes))
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

// watchLease watches one Lease: those of a whole cluster would wake us for every Node, every ten seconds.
func (s *Session) watchLease(key types.NamespacedName) {
	if s.network == nil {
		return
	}
	store := &leaseStore{key: key, tracker: s.leases, wake: s.wake}
	s.reflect("lease "+key.String(), store, &coordinationv1.Lease{}, cache.NewFilteredListWatchFromClient(
		s.network.leases, "leases", key.Namespace, func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", key.Name).String()
		}))
}

// reflect runs a reflector under the name, unless one runs already or nothing is to be watched.
func (s *Session) reflect(name string, store cache.ReflectorStore, kind runtime.Object, source cache.ListerWatcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, running := s.started[name]; running || s.stop == nil {
		return
	}
	s.started[name] = struct{}{}
	s.runLocked(s.stop, name, store, kind, source)
}

func (s *Session) runLocked(stop chan struct{}, name string, store cache.ReflectorStore, kind runtime.Object, source cache.ListerWatcher) {
	reflector := cache.NewReflectorWithOptions(bounding(source), kind, store, cache.ReflectorOptions{Logger: &s.log, Name: name})
	s.watchers.Go(func() { reflector.Run(stop) })
}

// wakeStore is the store of a watch that only wakes: it keeps nothing.
type wakeStore struct {
	wake func()
}

// Add implements cache.ReflectorStore.
func (w *wakeStore) Add(any) error { w.wake(); return nil }

// Update implements cache.ReflectorStore.
func (w *wakeStore) Update(any) error { w.wake(); return nil }

// Delete implements cache.ReflectorStore.
func (w *wakeStore) Delete(any) error { w.wake(); return nil }

// Replace implements cache.ReflectorStore.
func (w *wakeStore) Replace([]any, string) error { w.wake(); return nil }

// Resync implements cache.ReflectorStore.
func (w *wakeStore) Resync() error { return nil }

// addonStore also has the addons compared again when one of our workloads changed in more than its status. At rest a status wakes
// no one: a DaemonSet has one for each Node that restarts. A reflector calls its store from one goroutine only.
type addonStore struct {
	wakeStore
	invalidate  func()
	atRest      func() bool
	generations map[types.UID]int64
}

// Add implements cache.ReflectorStore.
func (a *addonStore) Add(object any) error { return a.Update(object) }

// Update implements cache.ReflectorStore.
func (a *addonStore) Update(object any) error {
	if item, ok := object.(metav1.Object); ok {
		if known, seen := a.generations[item.GetUID()]; !seen || known != item.GetGeneration() {
			a.set(item)
			a.invalidate()
		} else if a.atRest() {
			return nil
		}
	}
	a.wake()
	return nil
}

// Delete implements cache.ReflectorStore.
func (a *addonStore) Delete(object any) error {
	if item, ok := object.(metav1.Object); ok {
		delete(a.generations, item.GetUID())
	}
	a.invalidate()
	a.wake()
	return nil
}

// Replace implements cache.ReflectorStore.
func (a *addonStore) Replace(objects []any, _ string) error {
	a.generations = map[types.UID]int64{}
	for _, object := range objects {
		if item, ok := object.(metav1.Object); ok {
			a.set(item)
		}
	}
	a.invalidate()
	a.wake()
	return nil
}

func (a *addonStore) set(item metav1.Object) {
	if a.generations == nil {
		a.generations = map[types.UID]int64{}
	}
	a.generations[item.GetUID()] = item.GetGeneration()
}
