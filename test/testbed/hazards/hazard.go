package hazards

import (
	"context"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Hazard is something that would go wrong, made on purpose.
type Hazard struct {
	// Name says what was made, as a sentence without its end.
	Name string
	// ID and Severity of the finding that has to name it; NotLookedAt where the finding says that no one can look.
	ID          string
	Severity    ucv1.FindingSeverity
	NotLookedAt bool
	// Objects that the finding has to name, all of them and no other.
	Objects []string
	// Refused says that no one can accept it: Happens fixes it, and the migration starts then.
	Refused bool
	// Stage makes it before there is a Cluster object; it may be nil.
	Stage func(context.Context, *Play) error
	// Happens is called when the migration goes on although it stands. It returns what happened, as a sentence, or an error
	// that says in what that differs from what the finding said.
	Happens func(context.Context, *Play) (string, error)
}

// Group is a user cluster with hazards that do not get in each other's way. What happens is looked at in their order.
type Group struct {
	// Name of the group, of its folder and of its user cluster.
	Name string
	// Options of the user cluster, but for its name.
	Options bed.UserClusterOptions
	// Nodes that are fine, and Pools of Machines that are.
	Nodes []string
	Pools map[string]int32
	// Spec changes the Cluster object; it may be nil.
	Spec    func(*ucv1.Cluster)
	Hazards []Hazard
	// CI runs it, too.
	CI bool
}

// blocking are the hazards that keep the migration back.
func (g Group) blocking() []Hazard {
	return slices.DeleteFunc(slices.Clone(g.Hazards), func(h Hazard) bool { return h.Severity != ucv1.FindingSeverity("Blocking") })
}

// Groups are all that there are. A new hazard is an element of one of their lists, or a group of its own where it does not get on
// with the others. Those that take longest come first.
func Groups() []Group {
	return slices.Concat(machineGroups(), admissionGroups(), controlPlaneGroups(), cloudGroups(), nodeGroups(), accessGroups())
}
