package simtest

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
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

// checkUpgrade: no CCM is newer than an API server, and in each minor one kind of manager has the migration lock, as KEP-2436 has
// it.
func checkUpgrade(i *invariants, w *World) {
	if len(w.APIServers.Minors) == 0 {
		return
	}
	for _, p := range w.CCM.Processes {
		switch oldest := slices.Min(w.APIServers.Minors); {
		case !p.Alive():
		case p.Minor > oldest:
			i.fail("rule 2: a CCM of 1.%d runs beside an API server of 1.%d", p.Minor, oldest)
		case p.Armed && p.Minor == observation.MinorOf(w.scenario.version()):
			i.fail("rule 2: a CCM of 1.%d has the migration lock, which KCM has in this minor", p.Minor)
		}
	}
}
