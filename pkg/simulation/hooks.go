package simulation

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Hooks are told what happens in a world, and asked what goes wrong in it. Only tests set them.
type Hooks struct {
	// Story gets a line of what happens.
	Story   func(format string, args ...any)
	Fate    Fate
	Witness Witness
}

// Fate is asked what goes wrong.
type Fate interface {
	// Looks may take parts of an observation away, or make them older, before it is used.
	Looks(o *observation.Observation)
	// Killed says that the controller ends between two objects of an action.
	Killed(decision migration.Decision) bool
	// Late says that the last renewal of a process of the CCM arrives after its end.
	Late() bool
	// Refused says that the API server refuses to free a Lease.
	Refused() bool
}

// Witness is told what happens, in the moment that it does.
type Witness interface {
	// Disturbed is called for what is not the controller's doing and takes a while to be repaired.
	Disturbed()
	// Rolls is called before the controller turns a MachineDeployment round.
	Rolls(d *MachineDeployment, action outcome.Action)
	// Classifies is called before a StorageClass becomes the default, or is it no longer.
	Classifies(class *Class, becomes bool)
	// Replaced is called for a Machine that its MachineSet has deleted.
	Replaced(m *Machine, s *MachineSet)
	// Recreated is called for a load balancer that was made for a Service that had one; renamed says that the one it had was
	// given the CCM's name, by which an in-tree provider does not find it.
	Recreated(renamed bool)
}

// unwatched: nothing goes wrong, and no one is told.
func unwatched() Hooks {
	return Hooks{Story: func(string, ...any) {}, Fate: undisturbed{}, Witness: undisturbed{}}
}

type undisturbed struct{}

func (undisturbed) Looks(*observation.Observation)           {}
func (undisturbed) Killed(migration.Decision) bool           { return false }
func (undisturbed) Late() bool                               { return false }
func (undisturbed) Refused() bool                            { return false }
func (undisturbed) Disturbed()                               {}
func (undisturbed) Rolls(*MachineDeployment, outcome.Action) {}
func (undisturbed) Classifies(*Class, bool)                  {}
func (undisturbed) Replaced(*Machine, *MachineSet)           {}
func (undisturbed) Recreated(bool)                           {}
