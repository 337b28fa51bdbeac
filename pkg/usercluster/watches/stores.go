package watches

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// WakeStore is the store of a watch that only wakes: it keeps nothing.
type WakeStore struct {
	wake func()
}

// Add implements cache.ReflectorStore.
func (s *WakeStore) Add(any) error { s.wake(); return nil }

// Update implements cache.ReflectorStore.
func (s *WakeStore) Update(any) error { s.wake(); return nil }

// Delete implements cache.ReflectorStore.
func (s *WakeStore) Delete(any) error { s.wake(); return nil }

// Replace implements cache.ReflectorStore.
func (s *WakeStore) Replace([]any, string) error { s.wake(); return nil }

// Resync implements cache.ReflectorStore.
func (s *WakeStore) Resync() error { return nil }

// SpecStore tells a change of more than a status from the rest. A reflector calls its store from one goroutine only.
type SpecStore struct {
	// Changed is called when an object was made, deleted, or changed in more than its status; with nil, when any of them may
	// have been.
	Changed func(metav1.Object)
	// Wake is called then, too, and for a change of the status unless nothing is being migrated: a DaemonSet has one
	// for each Node that restarts.
	Wake func()
	// AtRest says that nothing is being migrated.
	AtRest func() bool

	generations map[types.UID]int64
}

// Add implements cache.ReflectorStore.
func (s *SpecStore) Add(object any) error { return s.Update(object) }

// Update implements cache.ReflectorStore.
func (s *SpecStore) Update(object any) error {
	if item, ok := object.(metav1.Object); ok {
		if known, seen := s.generations[item.GetUID()]; !seen || known != item.GetGeneration() {
			s.set(item)
			s.Changed(item)
		} else if s.AtRest() {
			return nil
		}
	}
	s.Wake()
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *SpecStore) Delete(object any) error {
	item, ok := object.(metav1.Object)
	if ok {
		delete(s.generations, item.GetUID())
	}
	s.Changed(item)
	s.Wake()
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *SpecStore) Replace(objects []any, _ string) error {
	s.generations = map[types.UID]int64{}
	for _, object := range objects {
		if item, ok := object.(metav1.Object); ok {
			s.set(item)
		}
	}
	s.Changed(nil)
	s.Wake()
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *SpecStore) Resync() error { return nil }

func (s *SpecStore) set(item metav1.Object) {
	if s.generations == nil {
		s.generations = map[types.UID]int64{}
	}
	s.generations[item.GetUID()] = item.GetGeneration()
}
