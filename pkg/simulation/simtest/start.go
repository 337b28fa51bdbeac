package simtest

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// StartOf is what a controller that has just started observes of a world, with the objects that the catalogue would have.
func StartOf(w *World) simulation.Start {
	addons := w.Addons.Observe()
	return simulation.Start{
		Observation: simulation.NewController(w.World).Observe(), Now: w.Now,
		Objects: map[outcome.AddonSetName][]observation.Ref{
			outcome.CCMSet: w.Addons.CCM.Wanted, outcome.CSISet: w.Addons.CSI.Wanted, outcome.ProbeSet: w.Addons.Probe.Wanted,
		},
		Differing: slices.DeleteFunc(slices.Concat(addons.CCM.Drifted, addons.CSI.Drifted), func(object observation.Ref) bool {
			return !w.Addons.CCM.Present[object] && !w.Addons.CSI.Present[object]
		}),
	}
}
