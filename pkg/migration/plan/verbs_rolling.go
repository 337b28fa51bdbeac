package plan

import (
	"strconv"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// canaryObjects are what one extra Machine takes; what is there already stays as it is.
func canaryObjects(verb migration.Verb) []Object {
	source := verb.Objects[0]
	refs := []migration.Ref{{Kind: source.Kind, Namespace: source.Namespace, Name: ucv1.CanaryName}}
	for _, kind := range verb.Canary.Kinds() {
		refs = append(refs, migration.Ref{Kind: kind, Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName})
	}
	return objects(refs, Create, nil)
}

// guarded are the fields of a MachineDeployment that the circuit breaker takes and gives back. What it gives back is what the
// field was before, when nobody owned it: nothing.
func guarded(in Input, verb migration.Verb, ref migration.Ref) []FieldChange {
	const minReady, paused = "spec.minReadySeconds", "spec.paused"
	switch seconds := verb.Breaker.MinReadySeconds; verb.Kind {
	case migration.VerbOwnMinReady:
		change := FieldChange{Path: minReady, To: strconv.Itoa(int(*seconds))}
		for _, deployment := range in.Start.Observation.Machines.Value().Deployments {
			if deployment.UID == ref.UID && deployment.MinReadySeconds != 0 {
				change.From = strconv.Itoa(int(deployment.MinReadySeconds))
			}
		}
		return []FieldChange{change}
	case migration.VerbReturnMinReady:
		return []FieldChange{{Path: minReady, From: "ours"}}
	case migration.VerbPauseMachineDeployment:
		return []FieldChange{{Path: paused, To: "true"}}
	default:
		return []FieldChange{{Path: paused, From: "true"}}
	}
}
