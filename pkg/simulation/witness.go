package simulation

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// witness is what a test hooks into the engine: it writes the story, lets faults happen and checks what is done in the moment
// before.
type witness struct {
	world      *World
	controller *Controller
}

// Say writes the story.
func (h *witness) Say(format string, args ...any) {
	h.world.transcript.add(h.world.elapsed(), fmt.Sprintf(format, args...))
}

// Looks leaves the controller without some of the facts.
func (h *witness) Looks(o *observation.Observation) {
	w := h.world
	for _, fact := range FactNames() {
		if w.faulty() && w.chance(w.scenario.Faults.Unknown) {
			Forget(o, fact)
		}
	}
}

// Killed ends the controller by chance, and where the scenario says.
func (h *witness) Killed(decision migration.Decision) bool {
	return h.controller.killed(WhileActing, decision)
}

// Late is a fault.
func (h *witness) Late() bool {
	return h.world.faulty() && h.world.chance(h.world.scenario.Faults.Late)
}

// Refused is a fault.
func (h *witness) Refused() bool {
	return h.world.faulty() && h.world.chance(h.world.scenario.Faults.Refuse)
}

// Disturbed notes since when something may have to be repaired.
func (h *witness) Disturbed() { h.world.disturbed = h.world.now }

// Rolls checks it.
func (h *witness) Rolls(d *machineDeployment, action outcome.Action) {
	h.world.invariants.rolling(h.world, d, action)
}

// Classifies checks it.
func (h *witness) Classifies(class *Class, becomes bool) {
	h.world.invariants.classifying(h.world, class, becomes)
}

// Replaced counts and checks it.
func (h *witness) Replaced(m *machine, s *machineSet) { h.world.invariants.replaced(h.world, m, s) }

// Recreated counts it.
func (h *witness) Recreated() { h.world.invariants.created++ }
