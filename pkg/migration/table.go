package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Row is a post-condition: it holds, or evaluate says what has to happen for it to hold. What there is to know of a row stands
// here; documents, conditions, events, commands and the simulation go by it.
type Row struct {
	Step ucv1.Step
	// Means says in a sentence when the row holds.
	Means string
	// Conditions of the Cluster that say how it stands. A row of the rollback has none: those of the step that it rolls back say it.
	Conditions []string
	// RollsBack is the step that a row of the rollback takes back.
	RollsBack ucv1.Step
	// About is what an event of the row is about.
	About Subject
	// Actions that it may bring, besides those of any row (ActionsOfAnyRow).
	Actions []outcome.ActionKind
	// Records are the checkpoints that it may set, as fields of the status, besides those of any row (RecordsOfAnyRow).
	Records  []string
	evaluate func(pass.Input) outcome.Outcome
}

// Subject is the object that a row is about.
type Subject int

// The subjects of rows.
const (
	// AboutKCM is the Deployment of kube-controller-manager.
	AboutKCM Subject = iota
	// AboutAddons is the ConfigMap with the applied set.
	AboutAddons
	// AboutMachines is the Deployment of the machine-controller.
	AboutMachines
	// AboutBaseline is the Secret with the baseline.
	AboutBaseline
)

// Table of an origin.
func Table(origin ucv1.Origin) []Row {
	if origin == ucv1.OriginExternal {
		return externalTable()
	}
	return migrationTable()
}

// RowOf a step; the zero Row is for a step that stands before or behind the tables.
func RowOf(origin ucv1.Origin, step ucv1.Step) Row {
	rows := append(Table(origin), RollbackTable()...)
	at := slices.IndexFunc(rows, func(row Row) bool { return row.Step == step })
	if at < 0 {
		return Row{}
	}
	return rows[at]
}

// Steps are all there are, in the order in which a Cluster comes through them.
func Steps() []ucv1.Step {
	steps := []ucv1.Step{ucv1.StepInTree}
	for _, row := range migrationTable() {
		steps = append(steps, row.Step)
	}
	steps = append(steps, ucv1.StepFinished)
	for _, row := range RollbackTable() {
		steps = append(steps, row.Step)
	}
	return append(steps, ucv1.StepRolledBack)
}

// ActionsOfAnyRow are seen to at any step: checkpoints, the annotations, who leads while KCM rolls out, and a Cluster that goes.
func ActionsOfAnyRow() []outcome.ActionKind {
	return []outcome.ActionKind{
		outcome.ActionRecord, outcome.ActionRestoreAnnotations, outcome.ActionKeepLeader, outcome.ActionGrantLease,
		outcome.ActionFreeLease, outcome.ActionRevokeLease, outcome.ActionRelease,
	}
}

// RecordsOfAnyRow are the checkpoints that are kept at any step, because they tell of what others do.
func RecordsOfAnyRow() []string {
	return []string{
		"lookAhead", "unattendedSince", "pointOfNoReturnAt", "slo", "handover.processes", "handover.stage",
		"handover.kcmLeaseGrantedAt", "handover.kcmLeaseRevokedAt",
	}
}

// walk evaluates the table from the top. The first row that does not hold is the current step; the rows behind it are
// not evaluated, because they would be judged on a world that is not theirs yet.
func walk(in pass.Input) Decision {
	in = loops.MergeProcesses(in)
	decision := Decision{Step: ucv1.StepFinished}
	var states []RowState
	for _, row := range Table(in.Facts.Origin) {
		if decision.Step != ucv1.StepFinished {
			states = append(states, waitsFor(row.Step, decision.Step))
			continue
		}
		out := evaluate(in, row)
		in = in.With(out)
		out = failIfRefused(in, out)
		states = append(states, stateOf(row.Step, out))
		if !out.Holds {
			decision = decisionOf(row.Step, out, nil)
		}
	}
	decision.Rows, decision.Facts = states, &in.Facts
	if recorded := in.Facts.Handover; recorded != nil && recorded.StartedAt != nil {
		decision.Proof = handover.Prove(loops.Silence(in))
	}
	if decision.Instructions == nil {
		decision.Instructions = loops.Instructions(in)
	}
	return decision
}

// failIfRefused calls a person where we cannot look because the kubeconfig is refused: no waiting helps.
func failIfRefused(in pass.Input, out outcome.Outcome) outcome.Outcome {
	if out.Wait == nil || !out.Wait.Unknown || !in.Connection.Refused {
		return out
	}
	failed := outcome.Fails(in.Connection.Reason, in.Connection.Text())
	failed.Facts, failed.Instructions, failed.Findings = out.Facts, out.Instructions, out.Findings
	return failed
}

// evaluate lets the rows up to Complete hold once the migration is completed: a Node that is NotReady a month later
// rolls nothing back. Drift repair and the guard still act, which may begin the hand-over again.
func evaluate(in pass.Input, row Row) outcome.Outcome {
	if in.Facts.CompletedAt == nil || row.Step == ucv1.StepFinalize {
		return row.evaluate(in)
	}
	switch row.Step {
	case ucv1.StepAddons:
		return addons(in)
	case ucv1.StepHandover:
		return row.evaluate(in)
	default:
		return outcome.Holds(ucv1.HoldsReason, "The migration is completed.")
	}
}
