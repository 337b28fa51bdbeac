package simtest

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// checkTaken: no Lease is taken from a process that leads by it.
func checkTaken(i *invariants, w *World, action outcome.Action) {
	for _, p := range slices.Concat(w.ControlPlane.Processes, w.CCM.Processes) {
		if p.Alive() && p.Locking && action.Kind != outcome.ActionReleaseCCMLease {
			i.fail("rule 2: %s takes the migration lock from %s, which holds it", action.Kind, p.PodName)
		}
	}
	for _, p := range w.CCM.Processes {
		leads := p.Alive() && p.Leading && w.Leases.CCM.Holder == p.Identity() && w.Now.Sub(p.Renewed) <= simulation.LeaseDuration
		if leads && action.Kind == outcome.ActionReleaseCCMLease {
			i.fail("rule 2: a Lease is taken from %s, which leads", p.PodName)
		}
	}
}
