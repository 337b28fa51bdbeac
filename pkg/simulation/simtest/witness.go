package simtest

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// fate lets faults happen.
type fate struct{ world *World }

// witness counts what happens, and checks what is done in the moment before.
type witness struct{ world *World }

func hooks(w *World) simulation.Hooks {
	story := func(format string, args ...any) { w.transcript.add(w.Elapsed(), fmt.Sprintf(format, args...)) }
	return simulation.Hooks{Story: story, Fate: fate{w}, Witness: witness{w}}
}

// Looks leaves the controller without some of the facts.
func (f fate) Looks(o *observation.Observation) {
	w := f.world
	w.controller.age(o)
	for _, fact := range FactNames() {
		if w.faulty() && w.Chance(w.scenario.Faults.Unknown) {
			Forget(o, fact)
		}
	}
	// The other facts are lost in the same worlds as before there was an upgrade.
	if len(w.APIServers.Minors) > 0 && w.faulty() && w.Chance(w.scenario.Faults.Unknown) {
		Forget(o, "ServerVersion")
	}
}

// Killed ends the controller by chance, and where the scenario says.
func (f fate) Killed(decision migration.Decision) bool {
	return f.world.controller.killed(WhileActing, decision)
}

// Late is a fault.
func (f fate) Late() bool {
	return f.world.faulty() && f.world.Chance(f.world.scenario.Faults.Late)
}

// Refused is a fault.
func (f fate) Refused() bool {
	return f.world.faulty() && f.world.Chance(f.world.scenario.Faults.Refuse)
}

// Disturbed notes since when something may have to be repaired.
func (h witness) Disturbed() { h.world.disturbed = h.world.Now }

// Rolls checks it.
func (h witness) Rolls(d *simulation.MachineDeployment, action outcome.Action) {
	h.world.invariants.rolling(h.world, d, action)
}

// Classifies checks it.
func (h witness) Classifies(class *simulation.Class, becomes bool) {
	h.world.invariants.classifying(h.world, class, becomes)
}

// Replaced counts and checks it.
func (h witness) Replaced(m *simulation.Machine, s *simulation.MachineSet) {
	h.world.invariants.replaced(h.world, m, s)
}

// Recreated counts it, but for one that an in-tree provider makes in place of a renamed one when a person gave it the cloud
// loops: the fence keeps only the CCM away, and the renames are done when no rollback gives KCM its loops any more.
func (h witness) Recreated(renamed bool) {
	if !renamed || !h.world.loopsGivenBack {
		h.world.invariants.created++
	}
}
