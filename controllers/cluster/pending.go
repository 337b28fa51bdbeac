package cluster

import (
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
)

// pendingTimeline are actions that were done in a pass whose status was refused, most often because the cache was behind. The
// next pass sees the change itself as done, and would never say that it was.
type pendingTimeline struct {
	mu      sync.Mutex
	entries map[client.ObjectKey][]ucv1.TimelineEntry
}

// take returns what was kept for a Cluster, and keeps it no longer.
func (u *pendingTimeline) take(key client.ObjectKey) []ucv1.TimelineEntry {
	u.mu.Lock()
	defer u.mu.Unlock()
	entries := u.entries[key]
	delete(u.entries, key)
	return entries
}

func (u *pendingTimeline) keep(key client.ObjectKey, entries []ucv1.TimelineEntry) {
	if len(entries) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.entries == nil {
		u.entries = map[client.ObjectKey][]ucv1.TimelineEntry{}
	}
	u.entries[key] = entries[max(0, len(entries)-status.MaxTimeline):]
}

func verbsOf(entries []ucv1.TimelineEntry) []ucv1.TimelineEntry {
	return slices.DeleteFunc(entries, func(e ucv1.TimelineEntry) bool { return e.Kind != ucv1.TimelineAction })
}
