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
func (w *World) awaitRegistration(volumes []observation.Volume) []observation.Volume {
	provider := w.provider()
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
func (w *World) observeRegistered(inventory observation.Inventory) map[string]bool {
	paths := map[string]bool{}
	for _, volume := range inventory.Volumes {
		paths[volume.Path] = w.unregisteredFor(volume) <= 0
	}
	return paths
}

// unregisteredFor is how long it is until a volume is registered, from when Machines can be replaced, or it was made.
func (w *World) unregisteredFor(volume observation.Volume) time.Duration {
	configured := w.facts().MachineControllerConfiguredAt
	switch {
	case w.real != nil && w.real.Observation.Registered.Value()[volume.Path]:
		return 0
	case configured == nil:
		return observation.RegistrationInterval
	}
	since := configured.Time
	if volume.CreatedAt.After(since) {
		since = volume.CreatedAt
	}
	return observation.RegistrationInterval - w.now.Sub(since) - w.passedOver
}

// passOver a wait for the CSI driver: half an hour of seconds in which nothing else happens would have to be gone through. It
// returns how long it takes.
func (w *World) passOver(d migration.Decision, inventory observation.Inventory) time.Duration {
	if d.Wait == nil || d.Wait.Reason != ucv1.RegisteringVolumesReason {
		return 0
	}
	longest := time.Duration(0)
	for _, volume := range inventory.Volumes {
		if volume.Path != "" {
			longest = max(longest, w.unregisteredFor(volume))
		}
	}
	w.passedOver += longest
	return longest
}
