package loops

import (
	"cmp"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// loopsOffByOthers is the line LoopsOff where someone else changes KCM. That the loops are off is noted when they are off
// everywhere: on again, someone put them back. Until then some are still to be switched off.
func loopsOffByOthers(in pass.Input, kcm observation.Component) outcome.Outcome {
	recorded, left := in.Facts.Handover, loopsLeftOn(in, kcm)
	switch {
	case len(left.loud) == 0 && in.Facts.Origin == ucv1.OriginExternal:
		return outcome.Holds(ucv1.HoldsReason, "") // There never was anything to switch off.
	case len(left.loud) == 0 && recorded.LoopsOffAt == nil && len(kcm.Unseen) > 0:
		// Off everywhere else: what cannot be seen may still run them.
		return left.list.With(outcome.WaitsUntil(
			ucv1.ProvingSilenceReason, observation.Clauses(handover.Doubts(Silence(in))), 2*time.Second))
	case len(left.loud) == 0 && recorded.LoopsOffAt == nil:
		why := "Recording that the cloud loops are switched off in " + kcm.String() + "."
		return left.list.With(in.Records(why, func(facts *ucv1.Facts) {
			facts.Handover.LoopsOffAt = in.Stamp()
			facts.Handover.ChangingSince = cmp.Or(facts.Handover.ChangingSince, in.Stamp())
		}))
	case len(left.loud) == 0:
		return left.list.With(outcome.Holds(ucv1.HoldsReason, ""))
	case recorded.LoopsOffAt != nil:
		return left.list.With(contention(in, handover.Contended(kcm)))
	}
	return waitForLoopsOff(in, kcm, left)
}

// loopsLeft says how far others are with switching the loops off.
type loopsLeft struct {
	list components.Instructions
	// loud are the targets whose loops are still on, proving those that are changed and not proven yet.
	loud, proving []components.Target
	// begun says that some target is changed.
	begun bool
}

func loopsLeftOn(in pass.Input, kcm observation.Component) (left loopsLeft) {
	silent := silentNodes(in, kcm)
	for _, t := range components.MissingTargets(kcm) {
		left.list = left.list.And(t, outcome.ArgumentChange{}, false)
		left.proving = append(left.proving, t)
	}
	for _, t := range components.Targets(in, kcm) {
		flag := components.LoopsOffFlag(t.Component.Arguments, in.Minor())
		change := outcome.ArgumentChange{Set: []outcome.Flag{flag}}
		off := !handover.MayRunLoops(observation.Process{Arguments: t.Component.Arguments})
		if given, _ := t.Component.Arguments.Flag("controllers"); off && given != flag.Value {
			change = outcome.ArgumentChange{} // They were switched off in another way, which is as good.
		}
		done := off && silent(t) && t.Runs()
		left.list = left.list.And(t, change, done)
		switch {
		case !off:
			left.loud = append(left.loud, t)
		case !done:
			left.proving = append(left.proving, t)
		}
		left.begun = left.begun || off
	}
	return left
}

// Instructions is the list of a hand-over that was begun while an earlier row waits: the rest has to follow.
func Instructions(in pass.Input) []ucv1.Instruction {
	controlPlane, known := in.ControlPlane.Get()
	handover := in.Facts.Handover
	if !known || handover == nil || handover.ChangingSince == nil || handover.FinishedAt != nil {
		return nil
	}
	return loopsLeftOn(in, controlPlane.KCM).list
}

// waitForLoopsOff notes since when a part of KCM has had its loops off. Nothing is asked for while a Node is NotReady,
// unless it was begun: then the rest has to follow.
func waitForLoopsOff(in pass.Input, kcm observation.Component, left loopsLeft) outcome.Outcome {
	since := in.Facts.Handover.ChangingSince
	switch {
	case !left.begun && since != nil && len(kcm.Unseen) == 0:
		return left.list.With(in.Records("Recording that no part of KCM has its cloud loops off any more.",
			func(facts *ucv1.Facts) { facts.Handover.ChangingSince = nil }))
	case left.begun && since == nil:
		return left.list.With(in.Records("Recording that the cloud loops are switched off in the first part of KCM.",
			func(facts *ucv1.Facts) { facts.Handover.ChangingSince = in.Stamp() }))
	}
	if out := pass.NodesReady(in); !out.Holds && !left.begun {
		return out
	}
	message := observation.Say("The cloud loops have to be switched off, one after the other, in ", components.InOrder(left.loud),
		", as status.instructions says.")
	if len(left.proving) > 0 {
		// The proof of those rests on time, which wakes no one.
		message = observation.Say(message, " Proving that what ran before has ended: ", observation.Names(left.proving), ".")
		return left.list.With(outcome.WaitsUntil(ucv1.WaitingForAdministratorReason, message, 2*time.Second))
	}
	return left.list.With(outcome.Waits(ucv1.WaitingForAdministratorReason, message))
}

// silentNodes says of a target whether every process that was recorded on its Node is proven to have ended. For a
// Deployment its processes are proven all together, in the line Silent.
func silentNodes(in pass.Input, kcm observation.Component) func(components.Target) bool {
	running := map[string]bool{}
	for _, process := range in.Facts.Handover.Processes {
		if process.EndedAt == nil {
			running[process.NodeName] = true
		}
	}
	return func(t components.Target) bool {
		if t.Process.NodeName == "" {
			return len(running) == 0 && kcm.RolledOut
		}
		return !running[t.Process.NodeName]
	}
}
