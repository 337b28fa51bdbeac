package plan

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	managementCluster = "management"
	userCluster       = "user"
	// forceRestartPath is the field that has the machine-controller replace Machines.
	forceRestartPath = "spec.template.metadata.annotations[forceRestart]"
	defaultClassPath = "metadata.annotations[storageclass.kubernetes.io/is-default-class]"
)

// conditional verbs clear up behind others. Whether there is something to clear up no one can know before.
func conditional() map[outcome.VerbKind]string {
	return map[outcome.VerbKind]string{
		outcome.VerbRestoreAnnotations: "only when the annotations are missing",
		outcome.VerbGrantLease:         "for the time in which KCM rolls out",
		outcome.VerbRevokeLease:        "for the time in which KCM rolls out",
		outcome.VerbReleaseCCMLease:    "only when a process that ended still holds the Lease",
		outcome.VerbFreeLease:          "only when a process that ended still holds the Lease",
		outcome.VerbReleaseLock:        "only when a process that ended still holds the migration lock",
		outcome.VerbKeepLeader:         "only when the leader of KCM is not the pod that goes last anyway",
		outcome.VerbMarkMachines:       "only where some Machines of a MachineSet go and others stay",
	}
}

// shown says that a pass stands in the plan: one that only records facts changes nothing but the status.
func shown(decision migration.Decision) bool {
	return decision.Verb != nil && decision.Verb.Kind != outcome.VerbRecord
}

// counted says that a verb is done whatever happens meanwhile.
func counted(decision migration.Decision) bool {
	return shown(decision) && conditional()[decision.Verb.Kind] == ""
}

func verbs(in Input, future simulation.Future) []Verb {
	list := []Verb{}
	applied := map[string]bool{}
	number := 0
	for _, pass := range future.Passes {
		if !shown(pass.Decision) {
			continue
		}
		verb := verbOf(in, pass, applied)
		if counted(pass.Decision) {
			number++
			verb.Number = number
		}
		list = append(list, verb)
	}
	return list
}

func verbOf(in Input, pass simulation.Foreseen, applied map[string]bool) Verb {
	verb := *pass.Decision.Verb
	planned := Verb{
		Step: pass.Decision.Step, Line: pass.Decision.Line, Kind: verb.Kind, Cluster: clusterOf(verb), Why: verb.Why,
		Conditional: conditional()[verb.Kind],
	}
	switch verb.Kind {
	case outcome.VerbApplyAddons:
		planned.Objects = appliedObjects(in, verb, applied)
	case outcome.VerbChangeArguments:
		planned.Objects = []Object{changedArguments(verb, pass.Components)}
	case outcome.VerbPruneAddons, outcome.VerbRevokeLease, outcome.VerbRemoveLock, outcome.VerbRemoveCanary:
		planned.Objects = objects(verb.Objects, Delete, nil)
	case outcome.VerbTakeBaseline, outcome.VerbGrantLease:
		planned.Objects = objects(verb.Objects, Create, nil)
	case outcome.VerbCreateCanary:
		planned.Objects = canaryObjects(verb)
	case outcome.VerbRollMachineDeployment, outcome.VerbStepMachineSet, outcome.VerbReturnMinReady:
		planned.Objects = objects(verb.Objects, Change, func(ref observation.Ref) []FieldChange { return rolled(in, verb, ref) })
	case outcome.VerbSwitchDefaultClass:
		planned.Objects = objects(verb.Objects, Change, func(ref observation.Ref) []FieldChange {
			if ref.Name == verb.DefaultClass {
				return []FieldChange{{Path: defaultClassPath, To: "true"}}
			}
			return []FieldChange{{Path: defaultClassPath, From: "true", To: "false"}}
		})
	default:
		planned.Objects = objects(verb.Objects, Change, nil)
	}
	return planned
}

func clusterOf(verb outcome.Verb) string {
	switch verb.Kind {
	case outcome.VerbTakeBaseline, outcome.VerbRestoreAnnotations, outcome.VerbRelease, outcome.VerbKeepLeader:
		return managementCluster
	case outcome.VerbChangeArguments:
		if !verb.Arguments.InUserCluster {
			return managementCluster
		}
	default:
	}
	return userCluster
}

func objects(refs []observation.Ref, action Action, changes func(observation.Ref) []FieldChange) []Object {
	var list []Object
	for _, ref := range refs {
		object := Object{Object: ref.String(), Action: action}
		if changes != nil {
			object.Changes = changes(ref)
		}
		list = append(list, object)
	}
	return list
}

// appliedObjects are those of a set with what the dry run says of them. An object that is applied again differs only because of
// what was done before, which no dry run knows.
func appliedObjects(in Input, verb outcome.Verb, applied map[string]bool) []Object {
	var list []Object
	names := make([]string, 0, len(verb.Objects))
	for _, ref := range verb.Objects {
		names = append(names, ref.String())
	}
	for _, name := range append(names, adopted(in, verb, applied)...) {
		dry, looked := in.Dry[name]
		switch {
		case applied[name]:
			dry = Object{Object: name, Action: Change, Note: "it is applied again with another configuration, which a dry run cannot show now"}
		case !looked:
			dry = Object{Object: name, Action: Create, Note: "a dry run cannot show it, because it depends on what is done before"}
		}
		applied[name] = true
		list = append(list, dry)
	}
	return list
}

// adopted are the objects of someone else that the verb takes over.
func adopted(in Input, verb outcome.Verb, applied map[string]bool) []string {
	addons := in.Start.Observation.Addons.Value()
	foreign := map[outcome.AddonSetName][]string{outcome.CCMSet: addons.CCM.Foreign, outcome.CSISet: addons.CSI.Foreign}[verb.AddonSet]
	var names []string
	for _, theirs := range foreign {
		for name := range in.Dry {
			if !applied[name] && (theirs == name || strings.HasPrefix(theirs, name+" ")) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// changedArguments are the flags of one container, before and after.
func changedArguments(verb outcome.Verb, components []observation.Component) Object {
	change := *verb.Arguments
	object := Object{Object: change.Target.String(), Action: Change}
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
		object.Changes = append(object.Changes, FieldChange{Path: path + ".volumeMounts", To: "ConfigMap " + change.Mount.ConfigMap + " at " + change.Mount.Folder})
	}
	if change.Unmount {
		object.Changes = append(object.Changes, FieldChange{Path: path + ".volumeMounts", From: "the file of the migration lock"})
	}
	return object
}
