package migration

import (
	"cmp"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// interrupts says that what ends a manager is mostly our doing: from the start until all is finished. When the migration is
// completed, only the last step still does something.
func interrupts(in pass.Input, decision Decision) bool {
	return in.Facts.StartedAt != nil && in.Facts.Origin == ucv1.OriginMigrating &&
		(in.Facts.CompletedAt == nil || decision.Step == ucv1.StepFinalize && !unknown(decision))
}

// unknown says that it is waited for what could not be looked at.
func unknown(decision Decision) bool { return decision.Wait != nil && decision.Wait.Unknown }

// leasesFirst frees a Lease before anything else is done: no one leads until then. It stands beside what is waited for.
func leasesFirst(before pass.Input, decision Decision) Decision {
	in := before.From(decision.Facts)
	if !interrupts(in, decision) {
		return decision
	}
	action, after := loops.LeaseToFree(in)
	decision.LookAfter = observation.Sooner(decision.LookAfter, after)
	if action == nil {
		action = loops.BeforeKCMRolls(in, decision.Action)
	}
	switch {
	case action != nil:
		return instead(before, decision, action)
	case decision.Next() == nil && !unknown(decision) && rightIsOver(in, decision):
		out := loops.TakeBack(in)
		if out.Action != nil {
			decision = decision.doing(*out.Action)
		}
		decision.Facts = cmp.Or(out.Facts, decision.Facts)
	}
	return decision
}

// instead does another action in this pass. What the one in its place would have recorded is not so yet.
func instead(before pass.Input, decision Decision, action *outcome.Action) Decision {
	in := before.From(decision.Facts)
	if decision.Next() != nil {
		in = loops.MergeProcesses(before)
	}
	decision = decision.doing(*action)
	decision.Facts = in.Changed(func(facts *ucv1.Facts) {
		if action.Kind == outcome.ActionGrantLease {
			facts.Handover.KCMLeaseGrantedAt = in.Stamp()
		}
	})
	return decision
}
