package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// rollInput is what the roll is judged from in this pass.
func rollInput(in pass.Input) rollout.In {
	roll := in.Rolls()
	roll.Offer = func() string { return noreturn.OfferRollback(in) }
	for _, gate := range []func(pass.Input) outcome.Outcome{loops.CCMCanServe, loops.NoStrangerLeads, start.CloudAsked} {
		roll.Gates = append(roll.Gates, func() outcome.Outcome { return gate(in) })
	}
	return roll
}

// withSamples comes before anything is rolled: a violation halts the roll in the pass that sees it.
func withSamples(in pass.Input) pass.Input {
	return in.From(rollout.Measured(rollInput(in)))
}

func roll(in pass.Input) outcome.Outcome { return rollout.Next(rollInput(in)) }

// addRollHalt calls a person as long as the roll stands still, whatever is done or waited for meanwhile.
func addRollHalt(in pass.Input, decision Decision) Decision {
	rolled := func(row RowState) bool { return row.Step == ucv1.StepRoll && row.Holds }
	if decision.Failure == nil && !slices.ContainsFunc(decision.Rows, rolled) {
		decision.Halt = rollout.Halts(rollInput(in.From(decision.Facts)))
	}
	return decision
}
