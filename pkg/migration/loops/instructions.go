package loops

import (
	"cmp"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// loopsOffByOthers is the line LoopsOff where someone else changes KCM. That the loops are off is noted when they are off
// everywhere: on again, someone put them back. Until then some are still to be switched off.
func loopsOffByOthers(in pass.Input, kcm observation.Component) outcome.Outcome {
	recorded, left := in.Facts.Handover, loopsLeftOn(in, kcm)
	switch {
	case len(left.asked) == 0 && in.Facts.Origin == ucv1.OriginExternal:
		return outcome.Holds(ucv1.HoldsReason, "") // There never was anything to switch off.
	case len(left.asked) == 0 && recorded.LoopsOffAt == nil && len(kcm.Unseen) > 0:
		// Off everywhere else: what cannot be seen may still run them.
		return left.list.With(outcome.WaitsUntil(
			ucv1.ProvingSilenceReason, observation.Clauses(handover.Doubts(Silence(in))), 2*time.Second))
	case len(left.asked) == 0 && recorded.LoopsOffAt == nil:
		why := "Recording that the cloud loops are switched off in " + kcm.String() + "."
		return left.list.With(in.Records(why, func(facts *ucv1.Facts) {
			facts.Handover.LoopsOffAt = in.Stamp()
			facts.Handover.ChangingSince = cmp.Or(facts.Handover.ChangingSince, in.Stamp())
		}))
	case len(left.asked) == 0:
		return left.list.With(outcome.Holds(ucv1.HoldsReason, ""))
	case left.loud && recorded.LoopsOffAt != nil:
		return left.list.With(contention(in, handover.Contended(kcm)))
	}
	return waitForLoopsOff(in, kcm, left)
}

// changesLeft says how far others are with a change.
type changesLeft struct {
	list components.Instructions
	// asked are the targets that are still to be changed, proving those that are changed and not proven yet.
	asked, proving []components.Target
	// loud says that one of those that are asked has its loops on.
	loud bool
	// begun says that some target is changed.
	begun bool
}

func loopsLeftOn(in pass.Input, kcm observation.Component) (left changesLeft) {
	silent := ridOf(in, kcm, func(ucv1.ManagerProcess) bool { return true })
	for _, t := range components.MissingTargets(kcm) {
		left.list = left.list.And(t, outcome.ArgumentChange{}, false)
		left.proving = append(left.proving, t)
	}
	for _, t := range components.Targets(in, kcm) {
		off, locked := !handover.MayRunLoops(observation.Process{Arguments: t.Component.Arguments}), keepsLock(in, t)
		done := off && !locked && silent(t) && t.Runs()
		left.list = left.list.And(t, offChange(in, t, off), done)
		switch {
		case !off || locked:
			left.asked = append(left.asked, t)
		case !done:
			left.proving = append(left.proving, t)
		}
		left.loud, left.begun = left.loud || !off, left.begun || off
	}
	return left
}

// keepsLock says that a target has anything of our migration lock: without loops it would keep the lock from the CCM.
func keepsLock(in pass.Input, t components.Target) bool {
	return in.Facts.Handover.Protocol == ucv1.LeaderMigrationProtocol && handover.KeepsLock(t.Component.Arguments)
}

// offChange switches the loops of a target off, and takes the lock out in the same change. It is said until all of it is proven.
func offChange(in pass.Input, t components.Target, off bool) (change outcome.ArgumentChange) {
	flag := components.LoopsOffFlag(t.Component.Arguments, in.KCMMinor())
	given, _ := t.Component.Arguments.Flag("controllers")
	asWeSay := !off || given == flag.Value // Else they were switched off in another way, which is as good.
	if asWeSay {
		change.Set = []outcome.Flag{flag}
	}
	if keepsLock(in, t) || asWeSay && in.Facts.Handover.Protocol == ucv1.LeaderMigrationProtocol {
		components.Disarm(&change)
	}
	return change
}

// Instructions is the list of a hand-over that was begun while an earlier row waits: the rest has to follow.
func Instructions(in pass.Input) []ucv1.Instruction {
	controlPlane, known := in.ControlPlane.Get()
	recorded := in.Facts.Handover
	switch {
	case !known || recorded == nil || recorded.FinishedAt != nil:
		return nil
	case recorded.ChangingSince != nil:
		return loopsLeftOn(in, controlPlane.KCM).list
	case recorded.StartedAt != nil && start.WantsLock(in.Facts) && in.Cluster.Spec.ControlPlane.Instructed():
		return lockInstructions(in, controlPlane.KCM)
	}
	return nil
}

// waitForLoopsOff notes since when a part of KCM has had its loops off. Nothing is asked for while a Node is NotReady,
// unless it was begun: then the rest has to follow.
func waitForLoopsOff(in pass.Input, kcm observation.Component, left changesLeft) outcome.Outcome {
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
	if in.Facts.Handover.Protocol == ucv1.LeaderMigrationProtocol {
		return waitForOthers(left, "The cloud loops have to be switched off and the migration lock taken out, one after the other, in ")
	}
	return waitForOthers(left, "The cloud loops have to be switched off, one after the other, in ")
}

// waitForOthers waits for those who change what is left.
func waitForOthers(left changesLeft, what string) outcome.Outcome {
	message := observation.Say(what, components.InOrder(left.asked), ", as status.instructions says.")
	if len(left.proving) > 0 {
		// The proof of those rests on time, which wakes no one.
		message = observation.Say(message, " Proving that what ran before has ended: ", observation.Names(left.proving), ".")
		return left.list.With(outcome.WaitsUntil(ucv1.WaitingForAdministratorReason, message, 2*time.Second))
	}
	return left.list.With(outcome.Waits(ucv1.WaitingForAdministratorReason, message))
}

// ridOf says of a target whether every process that was recorded on its Node, and counts, is proven to have ended. For a
// Deployment its processes are proven all together, in the line Silent.
func ridOf(in pass.Input, kcm observation.Component, counts func(ucv1.ManagerProcess) bool) func(components.Target) bool {
	running := map[string]bool{}
	for _, process := range in.Facts.Handover.Processes {
		if process.EndedAt == nil && counts(process) {
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
