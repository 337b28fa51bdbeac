package simulation

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// awaitRegistration gives volumes of the in-tree plugin that are not annotated yet a path: KCM annotates them once they are
// migrated, and then they are awaited.
func (st *Storage) awaitRegistration(volumes []observation.Volume) []observation.Volume {
	provider := st.w.Provider()
	if provider.RegisteredBy == "" {
		return volumes
	}
	volumes = slices.Clone(volumes)
	for i := range volumes {
		if v := &volumes[i]; v.Path == "" && v.Plugin != "" && v.Plugin == provider.DefaultClass.Plugin {
			v.Path = "of " + v.Name
		}
	}
	return volumes
}

// observeRegistered: a CSI driver that has to register in-tree volumes does so when it looks again, one interval later.
func (st *Storage) observeRegistered(inventory observation.Inventory) map[string]bool {
	paths := map[string]bool{}
	for _, volume := range inventory.Volumes {
		paths[volume.Path] = st.unregisteredFor(volume) <= 0
	}
	return paths
}

// unregisteredFor is how long it is until a volume is registered, from when Machines can be replaced, or it was made.
func (st *Storage) unregisteredFor(volume observation.Volume) time.Duration {
	configured := st.w.Facts().MachineControllerConfiguredAt
	switch {
	case st.w.real != nil && st.w.real.Observation.Registered.Value()[volume.Path]:
		return 0
	case configured == nil:
		return observation.RegistrationInterval
	}
	since := configured.Time
	if volume.CreatedAt.After(since) {
		since = volume.CreatedAt
	}
	return observation.RegistrationInterval - st.w.Now.Sub(since) - st.passedOver
}

// passOver a wait for the CSI driver: half an hour of seconds in which nothing else happens would have to be gone through. It
// returns how long it takes.
func (st *Storage) passOver(d migration.Decision, inventory observation.Inventory) time.Duration {
	if d.Wait == nil || d.Wait.Reason != ucv1.RegisteringVolumesReason {
		return 0
	}
	longest := time.Duration(0)
	for _, volume := range inventory.Volumes {
		if volume.Path != "" {
			longest = max(longest, st.unregisteredFor(volume))
		}
	}
	st.passedOver += longest
	return longest
}
