package plan

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

const (
	managementCluster = "management"
	userCluster       = "user"
	// forceRestartPath is the field that has the machine-controller replace Machines.
	forceRestartPath = "spec.template.metadata.annotations[forceRestart]"
	defaultClassPath = "metadata.annotations[storageclass.kubernetes.io/is-default-class]"
	// theCloud is where load balancers are.
	theCloud = "cloud"
)

// conditional actions clear up behind others. Whether there is something to clear up no one can know before.
func conditional() map[outcome.ActionKind]string {
	return map[outcome.ActionKind]string{
		outcome.ActionRestoreAnnotations: "only when the annotations are missing",
		outcome.ActionGrantLease:         "for the time in which KCM rolls out",
		outcome.ActionRevokeLease:        "for the time in which KCM rolls out",
		outcome.ActionReleaseCCMLease:    "only when a process that ended still holds the Lease",
		outcome.ActionFreeLease:          "only when a process that ended still holds the Lease",
		outcome.ActionReleaseLock:        "only when a process that ended still holds the migration lock",
		outcome.ActionKeepLeader:         "only when the leader of KCM is not the pod that goes last anyway",
		outcome.ActionMarkMachines:       "only where some Machines of a MachineSet go and others stay",
	}
}

// shown says that a pass stands in the plan: one that only records facts changes nothing but the status.
func shown(decision migration.Decision) bool {
	return decision.Next() != nil && decision.Next().Kind != outcome.ActionRecord
}

// counted says that an action is done whatever happens meanwhile.
func counted(decision migration.Decision) bool {
	return shown(decision) && conditional()[decision.Next().Kind] == ""
}

func actions(in Input, future simulation.Future) []Action {
	list := []Action{}
	applied := map[string]bool{}
	number := 0
	for _, pass := range future.Passes {
		if !shown(pass.Decision) {
			continue
		}
		action := actionOf(in, pass, applied)
		if counted(pass.Decision) {
			number++
			action.Number = number
		}
		list = append(list, action)
	}
	return list
}

func actionOf(in Input, pass simulation.Foreseen, applied map[string]bool) Action {
	action := *pass.Decision.Next()
	planned := Action{
		Step: pass.Decision.Step, Stage: pass.Decision.Stage, Kind: action.Kind, Cluster: clusterOf(action), Why: action.Why,
		Conditional: conditional()[action.Kind],
	}
	switch action.Kind {
	case outcome.ActionApplyAddons:
		planned.Objects = appliedObjects(in, action, applied)
	case outcome.ActionChangeArguments:
		planned.Objects = []Object{changedArguments(action, pass.Components)}
	case outcome.ActionTouch:
		planned.Objects = objects(action.Objects, Change, func(observation.Ref) []FieldChange {
			return []FieldChange{{Path: "metadata.annotations[" + ucv1.TouchedAnnotation + "]", To: "(the time)"}}
		})
	case outcome.ActionPruneAddons, outcome.ActionRevokeLease, outcome.ActionRemoveLock, outcome.ActionRemoveCanary:
		planned.Objects = objects(action.Objects, Delete, nil)
	case outcome.ActionTakeBaseline, outcome.ActionGrantLease:
		planned.Objects = objects(action.Objects, Create, nil)
	case outcome.ActionCreateCanary:
		planned.Objects = canaryObjects(action)
	case outcome.ActionRollMachineDeployment, outcome.ActionStepMachineSet, outcome.ActionReturnMinReady:
		planned.Objects = objects(action.Objects, Change, func(ref observation.Ref) []FieldChange { return rolled(in, action, ref) })
	case outcome.ActionSwitchDefaultClass:
		planned.Objects = objects(action.Objects, Change, func(ref observation.Ref) []FieldChange {
			if ref.Name == action.DefaultClass {
				return []FieldChange{{Path: defaultClassPath, To: "true"}}
			}
			return []FieldChange{{Path: defaultClassPath, From: "true", To: "false"}}
		})
	case outcome.ActionRenameLoadBalancers:
		planned.Objects = renamed(action)
	default:
		planned.Objects = objects(action.Objects, Change, nil)
	}
	return planned
}

func renamed(action outcome.Action) []Object {
	list := make([]Object, 0, len(action.Objects))
	for i, service := range action.Objects {
		list = append(list, Object{
			Object: service.String(), Operation: Change,
			Changes: []FieldChange{{Path: "name of its load balancer", From: action.Renames[i].From, To: action.Renames[i].To}},
			Note:    "the in-tree provider does not find it by the new name: the point of no return is passed before",
		})
	}
	return list
}

func clusterOf(action outcome.Action) string {
	switch action.Kind {
	case outcome.ActionTakeBaseline, outcome.ActionRestoreAnnotations, outcome.ActionRelease, outcome.ActionKeepLeader,
		outcome.ActionTouch:
		return managementCluster
	case outcome.ActionRenameLoadBalancers:
		return theCloud
	case outcome.ActionChangeArguments:
		if !action.Arguments.InUserCluster {
			return managementCluster
		}
	default:
	}
	return userCluster
}

func objects(refs []observation.Ref, action Operation, changes func(observation.Ref) []FieldChange) []Object {
	var list []Object
	for _, ref := range refs {
		object := Object{Object: ref.String(), Operation: action}
		if changes != nil {
			object.Changes = changes(ref)
		}
		list = append(list, object)
	}
	return list
}

// appliedObjects are those of a set with what the dry run says of them. An object that is applied again differs only because of
// what was done before, which no dry run knows.
func appliedObjects(in Input, action outcome.Action, applied map[string]bool) []Object {
	var list []Object
	names := make([]string, 0, len(action.Objects))
	for _, ref := range action.Objects {
		names = append(names, ref.String())
	}
	for _, name := range append(names, adopted(in, action, applied)...) {
		dry, looked := in.Dry[name]
		switch {
		case applied[name]:
			dry = Object{Object: name, Operation: Change, Note: "it is applied again with another configuration, which a dry run " +
				"cannot show now"}
		case !looked:
			dry = Object{Object: name, Operation: Create, Note: "a dry run cannot show it, because it depends on what is done before"}
		}
		applied[name] = true
		list = append(list, dry)
	}
	return list
}

// adopted are the objects of someone else that the action takes over.
func adopted(in Input, action outcome.Action, applied map[string]bool) []string {
	addons := in.Start.Observation.Addons.Value()
	foreign := map[outcome.AddonSetName][]observation.Text{outcome.CCMSet: addons.CCM.Foreign,
		outcome.CSISet: addons.CSI.Foreign}[action.AddonSet]
	var names []string
	for _, theirs := range foreign {
		for name := range in.Dry {
			if !applied[name] && slices.Contains(observation.RefNames(theirs.Objects), name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// changedArguments are the flags of one container, before and after.
func changedArguments(action outcome.Action, components []observation.Component) Object {
	change := *action.Arguments
	object := Object{Object: change.Target.String(), Operation: Change}
	at := slices.IndexFunc(components, func(c observation.Component) bool { return c.Ref == change.Target })
	before := observation.Arguments{}
	if at >= 0 {
		before = components[at].Arguments
	}
	path := "spec.template.spec.containers[" + change.Container + "]"
	for _, flag := range change.Set {
		from, _ := before.Flag(strings.TrimLeft(flag.Name, "-"))
		object.Changes = append(object.Changes, FieldChange{Path: path + " " + flag.Name, From: from, To: flag.Value})
	}
	for _, name := range change.Remove {
		name = strings.TrimLeft(name, "-")
		if from, given := before.Flag(name); given {
			object.Changes = append(object.Changes, FieldChange{Path: path + " --" + name, From: from})
		}
	}
	if change.Mount != nil {
		object.Changes = append(object.Changes, FieldChange{Path: path + ".volumeMounts", To: "ConfigMap " + change.Mount.ConfigMap +
			" at " + change.Mount.Folder})
	}
	if change.Unmount {
		object.Changes = append(object.Changes, FieldChange{Path: path + ".volumeMounts", From: "the file of the migration lock"})
	}
	return object
}
