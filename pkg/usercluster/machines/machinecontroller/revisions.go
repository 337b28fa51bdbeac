package machinecontroller

import (
	"sync"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// revisionMemory keeps since when each MachineDeployment has had its newest revision. A template that goes back to what it was
// has a MachineSet of long ago, and only the change itself tells when its bootstrap data was due. It has what the last look
// showed.
type revisionMemory struct {
	mu       sync.Mutex
	revision map[string]revisionSeen
}

type revisionSeen struct {
	set, revision string
	since         time.Time
}

// date says of the newest MachineSets since when they are that; of those that the first look shows no one knows.
func (m *revisionMemory) date(sets []observation.MachineSet, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[string]revisionSeen{}
	for i := range sets {
		set := &sets[i]
		if !set.Current || set.Deployment == "" {
			continue
		}
		before, known := m.revision[set.Deployment]
		if known && (before.set != set.UID || before.revision != set.Revision) {
			before.since = now
		}
		set.CurrentSince = before.since
		seen[set.Deployment] = revisionSeen{set.UID, set.Revision, before.since}
	}
	// While there is no MachineSet of the newest template, that of before is remembered.
	for i := range sets {
		if before, known := m.revision[sets[i].Deployment]; known && seen[sets[i].Deployment].set == "" {
			seen[sets[i].Deployment] = before
		}
	}
	m.revision = seen
}
