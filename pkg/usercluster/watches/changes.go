package watches

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

// changes of what one watch shows.
type changes struct {
	count uint64
	// by is the run of watches that has listed everything; nil: none has, and a change may not be seen.
	by chan struct{}
}

// Mark of resources that are watched as a whole.
func (w *Watches) Mark(resources ...schema.GroupVersionResource) kept.Mark {
	names := make([]string, 0, len(resources))
	for _, resource := range resources {
		names = append(names, resource.String())
	}
	return w.mark(names...)
}

// MarkOfLasting is the mark of what Lasting watches of resources.
func (w *Watches) MarkOfLasting(resources ...schema.GroupVersionResource) kept.Mark {
	names := make([]string, 0, len(resources))
	for _, resource := range resources {
		names = append(names, labeled(resource))
	}
	return w.mark(names...)
}

// MarkOfLastingObject is the mark of one object that Lasting watches.
func (w *Watches) MarkOfLastingObject(resource schema.GroupVersionResource, key types.NamespacedName) kept.Mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark := w.markLocked(labeled(resource))
	mark.Changes = w.changesLocked(labeledObject(labeled(resource), key)).count
	return mark
}

// MarkOfPods is the mark of what PodsOf watches.
func (w *Watches) MarkOfPods(account types.NamespacedName) kept.Mark {
	return w.mark(podsName(account))
}

// MarkOfObjects is the mark of objects of one name that Object watches.
func (w *Watches) MarkOfObjects(key types.NamespacedName, resources ...schema.GroupVersionResource) kept.Mark {
	names := make([]string, 0, len(resources))
	for _, resource := range resources {
		names = append(names, objectName(resource, key))
	}
	return w.mark(names...)
}

// MarkOfUnwatched is for what may not be watched, and is looked at now and then while a migration is: only what we write counts.
func (w *Watches) MarkOfUnwatched(resources ...schema.GroupVersionResource) kept.Mark {
	mark := w.Mark(resources...)
	mark.Watched = w.room != nil && !w.AtRest()
	return mark
}

// MarkOfWritten is MarkOfUnwatched for objects of one name.
func (w *Watches) MarkOfWritten(name string, resources ...schema.GroupVersionResource) kept.Mark {
	names := make([]string, 0, len(resources))
	for _, resource := range resources {
		names = append(names, writtenName(resource, name))
	}
	mark := w.mark(names...)
	mark.Watched = w.room != nil && !w.AtRest()
	return mark
}

// SeesLease says that a watch shows each renewal of a Lease.
func (w *Watches) SeesLease(key types.NamespacedName) bool { return w.mark(leaseName(key)).Watched }

// Wrote counts a change that we made ourselves: the next pass must not rest on what was before, and the watch may be late.
func (w *Watches) Wrote(resource schema.GroupVersionResource, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changesLocked(resource.String()).count++
	w.changesLocked(labeled(resource)).count++
	w.changedObjectsLocked(labeled(resource), "/"+name)
	if one := w.changes[writtenName(resource, name)]; one != nil {
		one.count++
	}
	for name, one := range w.changes {
		if strings.HasPrefix(name, objectsOf(resource)) {
			one.count++
		}
	}
}

// changedObjectsLocked counts a change of each object of a watch whose key ends so; when the name is not known, of all.
func (w *Watches) changedObjectsLocked(watch, end string) {
	for name, one := range w.changes {
		if strings.HasPrefix(name, labeledObjects(watch)) && (end == "/" || strings.HasSuffix(name, end)) {
			one.count++
		}
	}
}

func (w *Watches) mark(names ...string) kept.Mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.markLocked(names...)
}

func (w *Watches) markLocked(names ...string) kept.Mark {
	mark := kept.Mark{Watched: w.room != nil, Room: w.room}
	for _, name := range names {
		one := w.changesLocked(name)
		mark.Changes += one.count
		mark.Watched = mark.Watched && one.by != nil && (one.by == w.stop || one.by == w.lasting)
	}
	return mark
}

func (w *Watches) changesLocked(name string) *changes {
	if w.changes[name] == nil {
		w.changes[name] = &changes{}
	}
	return w.changes[name]
}

// countingStore counts what it hands on, before: who is woken finds the new count.
type countingStore struct {
	cache.ReflectorStore

	watches *Watches
	name    string
	stop    chan struct{}
}

// changed counts a change of one object, or, after a list, of all.
func (s *countingStore) changed(object any, all bool) {
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	one, end := s.watches.changesLocked(s.name), "/"
	one.count++
	if all {
		if one.by != s.stop && s.stop == s.watches.stop {
			s.watches.first.listed()
		}
		one.by = s.stop
	} else if item, ok := object.(metav1.Object); ok {
		end = " " + types.NamespacedName{Namespace: item.GetNamespace(), Name: item.GetName()}.String()
	}
	s.watches.changedObjectsLocked(s.name, end)
}

// Add implements cache.ReflectorStore.
func (s *countingStore) Add(object any) error {
	s.changed(object, false)
	return s.ReflectorStore.Add(object)
}

// Update implements cache.ReflectorStore.
func (s *countingStore) Update(object any) error {
	s.changed(object, false)
	return s.ReflectorStore.Update(object)
}

// Delete implements cache.ReflectorStore.
func (s *countingStore) Delete(object any) error {
	s.changed(object, false)
	return s.ReflectorStore.Delete(object)
}

// Replace implements cache.ReflectorStore.
func (s *countingStore) Replace(objects []any, version string) error {
	s.changed(nil, true)
	return s.ReflectorStore.Replace(objects, version)
}

func labeled(resource schema.GroupVersionResource) string { return "ours of " + resource.String() }

func labeledObjects(watch string) string { return "object of " + watch + ": " }

func labeledObject(watch string, key types.NamespacedName) string {
	return labeledObjects(watch) + key.String()
}

func objectsOf(resource schema.GroupVersionResource) string {
	return "one of " + resource.String() + ": "
}

func objectName(resource schema.GroupVersionResource, key types.NamespacedName) string {
	return objectsOf(resource) + key.String()
}

func writtenName(resource schema.GroupVersionResource, name string) string {
	return resource.String() + " named " + name
}

func leaseName(key types.NamespacedName) string { return "lease " + key.String() }

func podsName(account types.NamespacedName) string { return "pods of " + account.String() }
