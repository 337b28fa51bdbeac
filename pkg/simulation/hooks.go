package simulation

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Hooks are told what happens in a world, and asked what goes wrong in it. Only tests have some.
type Hooks interface {
	// Say a line of the story.
	Say(format string, args ...any)
	// Looks may take parts of an observation away before it is used.
	Looks(o *observation.Observation)
	// Killed says that the controller ends between two objects of an action.
	Killed(decision migration.Decision) bool
	// Late says that the last renewal of a process of the CCM arrives after its end.
	Late() bool
	// Refused says that the API server refuses to free a Lease.
	Refused() bool
	// Disturbed is told of what is not the controller's doing, and takes a while to be repaired.
	Disturbed()
	// Rolls is told of a MachineDeployment in the moment before the controller turns it round.
	Rolls(d *machineDeployment, action outcome.Action)
	// Classifies is told of a StorageClass in the moment before it becomes the default, or stops to be it.
	Classifies(class *Class, becomes bool)
	// Replaced is told of a Machine that its MachineSet has deleted.
	Replaced(m *machine, s *machineSet)
	// Recreated is told of a load balancer that was made for a Service that had one.
	Recreated()
}

// undisturbed are the hooks of a world in which nothing goes wrong and that tells no one.
type undisturbed struct{}

func (undisturbed) Say(string, ...any)                       {}
func (undisturbed) Looks(*observation.Observation)           {}
func (undisturbed) Killed(migration.Decision) bool           { return false }
func (undisturbed) Late() bool                               { return false }
func (undisturbed) Refused() bool                            { return false }
func (undisturbed) Disturbed()                               {}
func (undisturbed) Rolls(*machineDeployment, outcome.Action) {}
func (undisturbed) Classifies(*Class, bool)                  {}
func (undisturbed) Replaced(*machine, *machineSet)           {}
func (undisturbed) Recreated()                               {}
