package controlplane

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
)

// Changes numbers what the watches of the management cluster show of Deployments and Pods, and what we change ourselves, in the
// namespaces that something is read of. Who is woken by a change has counted it before.
type Changes struct {
	mu sync.Mutex
	// last is the newest number. None is given twice, so that a mark does not come again when a namespace was forgotten.
	last uint64
	// newest has the number of the newest change in each namespace that a mark was asked of, and of no other: a management
	// cluster has many.
	newest map[string]uint64
}

// NewChanges is for a Reader whose reads are kept.
func NewChanges() *Changes { return &Changes{newest: map[string]uint64{}} }

// Seen counts a change. Without anything that is kept there is nothing to count.
func (c *Changes) Seen(namespace string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, read := c.newest[namespace]; read {
		c.countLocked(namespace)
	}
}

func (c *Changes) countLocked(namespace string) {
	c.last++
	c.newest[namespace] = c.last
}

// Mark of a namespace.
func (c *Changes) Mark(namespace string) kept.Mark {
	if c == nil {
		return kept.Mark{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, read := c.newest[namespace]; !read {
		c.countLocked(namespace)
	}
	return kept.Mark{Changes: c.newest[namespace], Watched: true}
}

func (c *Changes) forget(namespace string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.newest, namespace)
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

// Forget what was read for a Cluster.
func (r *Reader) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.memories, key)
}

// Gone forgets a Cluster that is gone, and its namespace, too, unless another Cluster is read there.
func (r *Reader) Gone(key types.NamespacedName) {
	r.Forget(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.memories {
		if other.Namespace == key.Namespace {
			return
		}
	}
	r.Changes.forget(key.Namespace)
	if r.Ledger != nil {
		r.Ledger.Untrack(key.Namespace)
	}
}
