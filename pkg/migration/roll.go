package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// rollInput is what the roll is judged from in this pass.
func rollInput(in input) rollout.In {
	roll := rollout.In{
		Observation: *in.Observation, Now: in.Now, Facts: in.Facts, Offer: func() string { return rollbackOffer(in) }, Seen: in.Seen,
	}
	for _, gate := range []func(input) outcome.Outcome{ccmCanServe, noStrangerLeads, cloudAsked} {
		roll.Gates = append(roll.Gates, func() outcome.Outcome { return gate(in) })
	}
	if rollingBack(in) {
		roll.Direction = rollout.Back
	}
	return roll
}

// withSamples comes before anything is rolled: a violation halts the roll in the pass that sees it.
func withSamples(in input) input {
	return in.From(rollout.Measured(rollInput(in)))
}

func roll(in input) outcome.Outcome { return rollout.Next(rollInput(in)) }

// addRollHalt calls a person as long as the roll stands still, whatever is done or waited for meanwhile.
func addRollHalt(in input, decision Decision) Decision {
	rolled := func(row RowState) bool { return row.Step == ucv1.StepRoll && row.Holds }
	if decision.Failure == nil && !slices.ContainsFunc(decision.Rows, rolled) {
		decision.Halt = rollout.Halts(rollInput(in.From(decision.Facts)))
	}
	return decision
}
