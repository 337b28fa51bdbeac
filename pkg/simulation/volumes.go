package simulation

import (
	"maps"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// AttachByCSI lets the CSI driver attach the cluster's in-tree volume, as it does while the migration gates are on.
func AttachByCSI(w *World) {
	w.storage.attachments = []observation.Attachment{{Name: "csi-1", Attacher: csiDriver, Node: "n1", Volume: "data"}}
}

// Detach is what happens when the pods that use it go.
func Detach(w *World) { w.storage.attachments = nil }

// checkGates: without its gate no one detaches a volume that was attached through it.
func (i *invariants) checkGates(w *World, p pass, change outcome.ArgumentChange) {
	at := slices.IndexFunc(w.controlPlane.workloads, func(d *workload) bool { return d.uid == change.Target.UID })
	if at < 0 || !w.undoing() || p.truth.attached == 0 {
		return
	}
	before := w.controlPlane.workloads[at].arguments
	after := &workload{arguments: maps.Clone(before)}
	w.controlPlane.patch(after, change)
	if gatesOf(before) != gatesOf(after.arguments) {
		i.fail("feature gates of %s are switched back while a volume is attached through them", w.controlPlane.workloads[at].name)
	}
}

func gatesOf(arguments map[string]string) string { return arguments["feature-gates"] }

// checkWaitsForVolumes: pods keep volumes for as long as they like, so no one waits for that while no manager runs the cloud
// loops.
func (i *invariants) checkWaitsForVolumes(w *World, d migration.Decision) {
	waits := d.Wait != nil && d.Wait.Reason == ucv1.WaitingForVolumesReason
	if waits && len(unlocked(w.controlPlane.kcm().arguments)) == 0 {
		i.fail("rule 7: it is waited for volumes at step %s while KCM does not have its cloud loops", d.Step)
	}
}
