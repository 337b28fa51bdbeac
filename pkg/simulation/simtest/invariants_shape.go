package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// actsAlone: the annotations are an interface for others, and restored beside whatever the migration waits for. The
// answer to a contention stands beside its failure.
func actsAlone(d migration.Decision) bool {
	if d.Action == nil || actsBeside(d) && (d.Wait != nil || d.Failure != nil) || does(d, outcome.ActionRestoreAnnotations) {
		return false
	}
	answers := []outcome.ActionKind{outcome.ActionRecord, outcome.ActionCloseFence}
	return d.Failure == nil || haltsBeside(d) || !slices.Contains(answers, d.Action.Kind)
}

// actsBeside: annotations and Leases are seen to whatever is waited for.
func actsBeside(d migration.Decision) bool {
	return does(d, outcome.ActionRestoreAnnotations) || does(d, outcome.ActionFreeLease) || does(d, outcome.ActionRevokeLease)
}

// haltsBeside: a roll that stands still calls a person, whatever is done or waited for meanwhile.
func haltsBeside(d migration.Decision) bool {
	halts := []string{
		ucv1.BreakerTrippedReason, ucv1.SLOViolatedReason, ucv1.NodesNotInitializedReason, ucv1.WaitingForMachinesReason,
		ucv1.MachineDeploymentFieldConflictReason, ucv1.KubeletsNotExternalReason,
		ucv1.BootstrapDataNotExternalReason,
	}
	return d.Failure != nil && ((d.Action != nil && !actsBeside(d)) || d.Wait != nil) && slices.Contains(halts, d.Failure.Reason)
}
