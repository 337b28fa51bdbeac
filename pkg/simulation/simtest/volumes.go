package simtest

import (
	"maps"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// AttachByCSI lets the CSI driver attach the cluster's in-tree volume, as it does while the migration gates are on.
func AttachByCSI(w *World) {
	w.Storage.Attachments = []observation.Attachment{{Name: "csi-1", Attacher: simulation.CSIDriver, Node: "n1", Volume: "data"}}
}

// Detach is what happens when the pods that use it go.
func Detach(w *World) { w.Storage.Attachments = nil }

// checkGates: without its gate no one detaches a volume that was attached through it.
func checkGates(i *invariants, w *World, p pass, change outcome.ArgumentChange) {
	at := slices.IndexFunc(w.ControlPlane.Workloads, func(d *simulation.Workload) bool { return d.UID == change.Target.UID })
	if at < 0 || !w.rollingBack() || p.truth.attached == 0 {
		return
	}
	before := w.ControlPlane.Workloads[at].Arguments
	after := &simulation.Workload{Arguments: maps.Clone(before)}
	w.ControlPlane.Patch(after, change)
	if gatesOf(before) != gatesOf(after.Arguments) {
		i.fail("feature gates of %s are switched back while a volume is attached through them", w.ControlPlane.Workloads[at].Name)
	}
}

func gatesOf(arguments map[string]string) string { return arguments["feature-gates"] }

// checkWaitsForVolumes: pods keep volumes for as long as they like, so no one waits for that while no manager runs the cloud
// loops.
func checkWaitsForVolumes(i *invariants, w *World, d migration.Decision) {
	waits := d.Wait != nil && d.Wait.Reason == ucv1.WaitingForVolumesReason
	if waits && len(unlocked(w.ControlPlane.KCM().Arguments)) == 0 {
		i.fail("rule 7: it is waited for volumes at step %s while KCM does not have its cloud loops", d.Step)
	}
}
