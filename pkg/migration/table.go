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
	evaluate func(*pass) outcome.Outcome
}

// migrationTable is for clusters that move from the in-tree cloud provider.
func migrationTable() []row {
	return []row{
		{ucv1.StepAdmitted, "The migration started, or nothing holds the cluster back from starting.", (*pass).admitted},
		{ucv1.StepPreflight, "The migration started, or there is no blocking finding.", (*pass).preflight},
		{ucv1.StepAddons, "The CSI driver is ready. The CCM is applied, available and fenced.", (*pass).addons},
		{ucv1.StepHandover, "KCM is proven silent. The CCM leads exactly the loops that KCM ran.", (*pass).handover},
		{ucv1.StepVolumeMigration, "The CSI migration gates that this minor still has are on in every control-plane component that " +
			"was found, with no old pod left.", (*pass).volumeMigration},
		{ucv1.StepMachineController, "The CCM leads, with its loop cloud-node. Every Deployment of the machine-controller is found " +
			"and carries its flag, with no old pod left.", (*pass).machineController},
		{ucv1.StepRoll, "Every MachineDeployment is rolled and every Machine is up-to-date.", (*pass).roll},
		{ucv1.StepVerify, "Every Node is proven, its external kubelet included, load balancers and volumes are as in the baseline, " +
			"and it stayed so for the soak time.", (*pass).verify},
		{ucv1.StepComplete, "Condition CSIKubeletMigrationCompleted is True.", (*pass).complete},
		{ucv1.StepFinalize, "The in-tree flags are gone from every control-plane component that was found. The default StorageClass " +
			"was judged.", (*pass).finalize},
	}
}

// externalTable is for clusters that were created with the feature: the same proof, and nothing is rolled.
func externalTable() []row {
	return []row{
		{ucv1.StepAddons, "What the Cluster refers to is usable and KCM runs no cloud loop. The CSI driver is ready, and the CCM is " +
			"applied, available and fenced.", (*pass).externalAddons},
		{ucv1.StepHandover, "KCM is proven silent. The CCM leads. The default StorageClass was judged.", (*pass).externalHandover},
	}
}

// RowMeaning describes one row of a table.
type RowMeaning struct {
	Step  ucv1.Step
	Means string
}

// Table describes the rows for an origin, for documentation and for setting every condition.
func Table(origin ucv1.Origin) []RowMeaning {
	p := pass{facts: ucv1.Facts{Origin: origin}}
	rows := p.rows()
	meanings := make([]RowMeaning, 0, len(rows))
	for _, r := range rows {
		meanings = append(meanings, RowMeaning{Step: r.step, Means: r.means})
	}
	return meanings
}

func (p *pass) rows() []row {
	if p.facts.Origin == ucv1.OriginExternal {
		return externalTable()
	}
	return migrationTable()
}

// walk evaluates the table from the top. The first row that does not hold is the current step; the rows behind it are
// not evaluated, because they would be judged on a world that is not theirs yet.
func (p *pass) walk() Decision {
	p.mergeProcesses()
	decision := Decision{Step: ucv1.StepFinished}
	stopped := false
	for _, row := range p.rows() {
		if stopped {
			decision.Rows = append(decision.Rows, RowState{
				Step: row.step, Reason: ucv1.WaitingForEarlierStepReason,
				Message: "Waits for step " + string(decision.Step) + ".",
			})
			continue
		}
		out := p.failIfRefused(p.evaluate(row))
		decision.Rows = append(decision.Rows, stateOf(row.step, out))
		if !out.Holds {
			stopped = true
			decision.Step, decision.Stage = row.step, out.Stage
			decision.Action, decision.Wait, decision.Failure = out.Action, out.Wait, out.Failure
		}
	}
	if recorded := p.facts.Handover; recorded != nil && recorded.StartedAt != nil {
		decision.Proof = handover.Prove(p.silence())
	}
	p.rememberInstructions()
	decision.Instructions = p.instructions
	return decision
}

// failIfRefused calls a person where we cannot look because the kubeconfig is refused: no waiting helps.
func (p *pass) failIfRefused(out outcome.Outcome) outcome.Outcome {
	if out.Wait == nil || !out.Wait.Unknown || !p.o.Connection.Refused {
		return out
	}
	return outcome.Fails(p.o.Connection.Reason, p.o.Connection.Text())
}

// evaluate lets the rows up to Complete hold once the migration is completed: a Node that is NotReady a month later
// undoes nothing. Drift repair and the guard still act, which may begin the hand-over again.
func (p *pass) evaluate(row row) outcome.Outcome {
	if p.facts.CompletedAt == nil || row.step == ucv1.StepFinalize {
		return row.evaluate(p)
	}
	switch row.step {
	case ucv1.StepAddons:
		return p.addons()
	case ucv1.StepHandover:
		return row.evaluate(p)
	default:
		return outcome.Holds(ucv1.HoldsReason, "The migration is completed.")
	}
}
