package controlplane

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

// Changes counts what the watches of the management cluster show of Deployments and Pods, and what we change ourselves, by
// namespace. Who is woken by a change has counted it before.
type Changes struct {
	mu    sync.Mutex
	count map[string]uint64
}

// NewChanges is for a Reader whose reads are kept.
func NewChanges() *Changes { return &Changes{count: map[string]uint64{}} }

// Seen counts a change. Without anything that is kept there is nothing to count.
func (c *Changes) Seen(namespace string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[namespace]++
}

// Mark of a namespace.
func (c *Changes) Mark(namespace string) kept.Mark {
	if c == nil {
		return kept.Mark{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return kept.Mark{Changes: c.count[namespace], Watched: true}
}

// memory is what was read for one Cluster.
type memory struct {
	look kept.Value[look]
	// generation of the Cluster, whose spec says what is read.
	generation int64
}

func (r *Reader) memoryOf(cluster *ucv1.Cluster) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	if r.memories == nil {
		r.memories = map[types.NamespacedName]*memory{}
	}
	if known := r.memories[key]; known == nil || known.generation != cluster.Generation {
		r.memories[key] = &memory{generation: cluster.Generation}
	}
	return r.memories[key]
}

// Forget a Cluster.
func (r *Reader) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.memories, key)
}
