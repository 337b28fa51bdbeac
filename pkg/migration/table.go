package migration

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// row is a post-condition: it holds, or evaluate says what has to happen for it to hold.
type row struct {
	step ucv1.Step
	// means says in a sentence when the row holds; the documentation is generated from it.
	means    string
	evaluate func(input) outcome.Outcome
}

// migrationTable is for clusters that move from the in-tree cloud provider.
func migrationTable() []row {
	return []row{
		{ucv1.StepAdmitted, "The migration started, or nothing holds the cluster back from starting.", admitted},
		{ucv1.StepPreflight, "The migration started, or there is no blocking finding.", preflight},
		{ucv1.StepAddons, "The CSI driver is ready. The CCM is applied, available and fenced.", addons},
		{ucv1.StepHandover, "KCM is proven silent. The CCM leads exactly the loops that KCM ran.", handOver},
		{ucv1.StepVolumeMigration, "The CSI migration gates that this minor still has are on in every control-plane component that " +
			"was found, with no old pod left.", volumeMigration},
		{ucv1.StepMachineController, "The CCM leads, with its loop cloud-node. Every Deployment of the machine-controller is found " +
			"and carries its flag, with no old pod left.", machineController},
		{ucv1.StepRoll, "Every MachineDeployment is rolled and every Machine is up-to-date.", roll},
		{ucv1.StepVerify, "Every Node is proven, its external kubelet included, load balancers and volumes are as in the baseline, " +
			"and it stayed so for the soak time.", verify},
		{ucv1.StepComplete, "Condition CSIKubeletMigrationCompleted is True.", markCompleted},
		{ucv1.StepFinalize, "The in-tree flags are gone from every control-plane component that was found. The default StorageClass " +
			"was judged.", finalize},
	}
}

// externalTable is for clusters that were created with the feature: the same proof, and nothing is rolled.
func externalTable() []row {
	return []row{
		{ucv1.StepAddons, "What the Cluster refers to is usable and KCM runs no cloud loop. The CSI driver is ready, and the CCM is " +
			"applied, available and fenced.", externalAddons},
		{ucv1.StepHandover, "KCM is proven silent. The CCM leads. The default StorageClass was judged.", externalHandover},
	}
}

// RowMeaning describes one row of a table.
type RowMeaning struct {
	Step  ucv1.Step
	Means string
}

// Table describes the rows for an origin, for documentation and for setting every condition.
func Table(origin ucv1.Origin) []RowMeaning {
	rows := tableOf(origin)
	meanings := make([]RowMeaning, 0, len(rows))
	for _, r := range rows {
		meanings = append(meanings, RowMeaning{Step: r.step, Means: r.means})
	}
	return meanings
}

func tableOf(origin ucv1.Origin) []row {
	if origin == ucv1.OriginExternal {
		return externalTable()
	}
	return migrationTable()
}

// walk evaluates the table from the top. The first row that does not hold is the current step; the rows behind it are
// not evaluated, because they would be judged on a world that is not theirs yet.
func walk(in input) Decision {
	in = mergeProcesses(in)
	decision := Decision{Step: ucv1.StepFinished}
	var states []RowState
	for _, row := range tableOf(in.facts.Origin) {
		if decision.Step != ucv1.StepFinished {
			states = append(states, waitsFor(row.step, decision.Step))
			continue
		}
		out := evaluate(in, row)
		in = in.with(out)
		out = failIfRefused(in, out)
		states = append(states, stateOf(row.step, out))
		if !out.Holds {
			decision = decisionOf(row.step, out, nil)
		}
	}
	decision.Rows, decision.Facts = states, &in.facts
	if recorded := in.facts.Handover; recorded != nil && recorded.StartedAt != nil {
		decision.Proof = handover.Prove(silence(in))
	}
	if decision.Instructions == nil {
		decision.Instructions = instructionsOfHandover(in)
	}
	return decision
}

// failIfRefused calls a person where we cannot look because the kubeconfig is refused: no waiting helps.
func failIfRefused(in input, out outcome.Outcome) outcome.Outcome {
	if out.Wait == nil || !out.Wait.Unknown || !in.o.Connection.Refused {
		return out
	}
	failed := outcome.Fails(in.o.Connection.Reason, in.o.Connection.Text())
	failed.Facts, failed.Instructions, failed.Findings = out.Facts, out.Instructions, out.Findings
	return failed
}

// evaluate lets the rows up to Complete hold once the migration is completed: a Node that is NotReady a month later
// undoes nothing. Drift repair and the guard still act, which may begin the hand-over again.
func evaluate(in input, row row) outcome.Outcome {
	if in.facts.CompletedAt == nil || row.step == ucv1.StepFinalize {
		return row.evaluate(in)
	}
	switch row.step {
	case ucv1.StepAddons:
		return addons(in)
	case ucv1.StepHandover:
		return row.evaluate(in)
	default:
		return outcome.Holds(ucv1.HoldsReason, "The migration is completed.")
	}
}
