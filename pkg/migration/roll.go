package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// rolling is what the roll is judged from in this pass.
func (p *pass) rolling() rollout.In {
	in := rollout.In{
		Observation: p.o, Now: p.now, Facts: p.facts, Offer: p.undoOffer, Seen: &p.seen,
		Gates: []func() outcome.Outcome{p.ccmCanServe, p.noStrangerLeads, p.cloudAsked},
	}
	if p.undoing() {
		in.Direction = rollout.Back
	}
	return in
}

// countSamples comes before anything is rolled: a violation halts the roll in the pass that sees it.
func (p *pass) countSamples() { p.facts = rollout.Measured(p.rolling()) }

func (p *pass) roll() outcome.Outcome {
	out := rollout.Next(p.rolling())
	p.facts = out.Facts
	return out.Outcome
}

// addRollHalt calls a person as long as the roll stands still, whatever is done or waited for meanwhile.
func (p *pass) addRollHalt(decision Decision) Decision {
	rolled := func(row RowState) bool { return row.Step == ucv1.StepRoll && row.Holds }
	if decision.Failure == nil && !slices.ContainsFunc(decision.Rows, rolled) {
		decision.Failure = rollout.Halts(p.rolling())
	}
	return decision
}
