package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// volumesRegistered comes before every Machine that goes: a volume that the CSI driver does not know is not attached to the Node
// that its pod moves to.
func volumesRegistered(in input) outcome.Outcome {
	provider, known := in.o.Provider.Get()
	switch {
	case !known:
		return outcome.CannotLook("the catalogue", in.o.Provider.Why())
	case in.back() || provider.RegisteredBy == "":
		return outcome.Holds(ucv1.HoldsReason, "")
	case !in.o.Inventory.IsKnown():
		return outcome.CannotLook("the volumes", in.o.Inventory.Why())
	case in.o.Registered.IsUnknown():
		return outcome.CannotLook("which in-tree volumes the CSI driver registered ("+provider.RegisteredBy+")", in.o.Registered.Why())
	}
	awaited, late, left := unregistered(in)
	begun := ""
	if in.o.Registered.IsAbsent() {
		begun = " The CRD does not exist, so the CSI driver's syncer did not begin."
	}
	switch {
	case len(late) > 0:
		return outcome.Fails(ucv1.VolumesNotRegisteredReason, "No Node is drained, because the CSI driver did not register these "+
			"in-tree volumes within ", in.o.Deadlines.VolumeRegistration, ": ", observation.Names(late), "."+begun+
			" Look at the syncer's log; or name a PersistentVolume that may be left behind in spec.rollout.acceptVolumes.")
	case len(awaited) > 0:
		return outcome.WaitsUntil(ucv1.RegisteringVolumesReason, observation.Say("Waiting until the CSI driver registers these "+
			"in-tree volumes, which takes it about half an hour: ", observation.Names(awaited), "."+begun), left)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// unregistered are the volumes that have to be registered and are not, those within their deadline first; left is until the first
// of these is late.
func unregistered(in input) (awaited, late []observation.Ref, left time.Duration) {
	for _, volume := range in.o.Inventory.Value().Volumes {
		if volume.Path == "" || in.o.Registered.Value()[volume.Path] ||
			slices.Contains(in.o.Cluster.Spec.Rollout.AcceptVolumes, volume.Name) {
			continue
		}
		since := volume.CreatedAt
		if configured := in.facts.MachineControllerConfiguredAt; configured != nil && configured.After(since) {
			since = configured.Time
		}
		rest := in.o.Deadlines.VolumeRegistration - in.now.Sub(since)
		if rest <= 0 {
			late = append(late, volume.Reference())
			continue
		}
		awaited, left = append(awaited, volume.Reference()), observation.Sooner(left, rest)
	}
	return awaited, late, left
}
