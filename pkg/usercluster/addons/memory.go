package addons

import (
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// addonMemory keeps comparisons that found nothing to do.
type addonMemory struct {
	mu   sync.Mutex
	sets map[outcome.AddonSetName]*setMemory
}

// setMemory is what is known of a set: its objects as it was compared last, how often one of them changed, and, after a
// comparison that found nothing, that.
type setMemory struct {
	objects []InventoryEntry
	change  int
	clean   *cleanComparison
}

type cleanComparison struct {
	comparison
	digest  string
	expires time.Time
}

// invalidate forgets the comparisons of the sets that have one of these objects, and those that are being made: they may have
// looked before the change. What no set has may be of any.
func (m *addonMemory) invalidate(is func(InventoryEntry) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Collect(maps.Values(m.sets))
	having := slices.DeleteFunc(slices.Clone(all), func(set *setMemory) bool { return !slices.ContainsFunc(set.objects, is) })
	if len(having) == 0 {
		having = all
	}
	for _, set := range having {
		set.change++
		set.clean = nil
	}
}

// changed is told by a watch of the workloads; nil: any of them.
func (m *addonMemory) changed(object metav1.Object) {
	m.invalidate(func(entry InventoryEntry) bool {
		return object != nil && manifest.IsWorkload(entry.Kind) && entry.Name == object.GetName() &&
			entry.Namespace == object.GetNamespace()
	})
}

// wrote is told of what we apply or delete.
func (m *addonMemory) wrote(entries []InventoryEntry) {
	m.invalidate(func(entry InventoryEntry) bool { return slices.ContainsFunc(entries, entry.same) })
}

func (m *addonMemory) recall(
	name outcome.AddonSetName, objects []InventoryEntry, digest string, now time.Time,
) (found *comparison, change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sets == nil {
		m.sets = map[outcome.AddonSetName]*setMemory{}
	}
	if m.sets[name] == nil {
		m.sets[name] = &setMemory{}
	}
	set := m.sets[name]
	set.objects = objects
	if set.clean != nil && set.clean.digest == digest && now.Before(set.clean.expires) {
		return &set.clean.comparison, set.change
	}
	return nil, set.change
}

func (m *addonMemory) keep(name outcome.AddonSetName, clean cleanComparison, change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if set := m.sets[name]; set != nil && set.change == change {
		set.clean = &clean
	}
}
