package plan

import (
	"strconv"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// canaryObjects are what one extra Machine takes; what is there already stays as it is.
func canaryObjects(action outcome.Action) []Object {
	source := action.Objects[0]
	refs := []observation.Ref{{Kind: source.Kind, Namespace: source.Namespace, Name: ucv1.CanaryName}}
	for _, kind := range action.Canary.Kinds() {
		refs = append(refs, observation.Ref{Kind: kind, Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName})
	}
	return objects(refs, Create, nil)
}

const minReadyPath = "spec.minReadySeconds"

// rolled are the fields of a MachineDeployment, or of a MachineSet of it, that a roll changes.
func rolled(in Input, action outcome.Action, ref observation.Ref) []FieldChange {
	switch action.Kind {
	case outcome.ActionStepMachineSet:
		return []FieldChange{{Path: "spec.replicas", From: replicasOf(in, ref), To: strconv.Itoa(int(action.Step.Replicas))}}
	case outcome.ActionReturnMinReady:
		return []FieldChange{{Path: minReadyPath, From: "ours"}}
	default:
	}
	changes := []FieldChange{{Path: forceRestartPath, To: "(made when the roll starts)"}}
	if action.Endless {
		changes = append(changes, FieldChange{Path: minReadyPath, To: strconv.Itoa(rollout.EndlessMinReadySeconds)})
	}
	return changes
}

// replicasOf a MachineSet that was there at the start.
func replicasOf(in Input, ref observation.Ref) string {
	for _, set := range in.Start.Observation.Machines.Value().Sets {
		if set.UID == ref.UID {
			return strconv.Itoa(int(set.Replicas))
		}
	}
	return ""
}
