package loops

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// armedByOthers is the line KCMArmed where someone else changes KCM. While the fence is open, the parts of KCM that lose their
// loops one after the other are proven by the line Silent. One that runs them without the lock is contended at any time.
func armedByOthers(in pass.Input, kcm observation.Component) outcome.Outcome {
	change, out := arming(in, kcm)
	if change == nil {
		return out
	}
	recorded, left := in.Facts.Handover, lockLeftOut(in, kcm, *change)
	if len(left.asked) > 0 {
		return lockAskedOfOthers(in, kcm, left)
	}
	if recorded.LockArmedAt != nil && recorded.FenceOpenedAt != nil && in.Fence.Value().Open {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	if out := lockProvenOfOthers(in, kcm); !out.Holds {
		return left.list.With(out)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// lockAskedOfOthers asks for the lock once. That KCM has it was noted when all of it had: without it again, someone took it out.
func lockAskedOfOthers(in pass.Input, kcm observation.Component, left changesLeft) outcome.Outcome {
	recorded := in.Facts.Handover
	if recorded.LoopsOffAt != nil {
		return loopsLeftOn(in, kcm).list.With(contention(in, handover.Contended(kcm)))
	}
	if recorded.LockArmedAt != nil {
		return left.list.With(contention(in, handover.Contended(kcm)))
	}
	return waitForLock(in, left)
}

// lockProvenOfOthers is the proof that all of KCM has the lock, and that it is held.
func lockProvenOfOthers(in pass.Input, kcm observation.Component) outcome.Outcome {
	if in.Facts.Handover.LockArmedAt == nil && handover.Armed(kcm.Arguments) && len(kcm.Unseen) == 0 {
		return in.Records("Recording that "+kcm.String()+" has the migration lock.", lockArmedNow(in))
	}
	if doubts := handover.LockDoubts(Silence(in)); len(doubts) > 0 {
		return outcome.WaitsUntil(ucv1.ArmingReason, observation.Clauses(doubts), 2*time.Second)
	}
	return lockHeld(in, kcm)
}

// lockLeftOut says how far others are with giving KCM the lock. A part without loops needs none.
func lockLeftOut(in pass.Input, kcm observation.Component, arming outcome.ArgumentChange) (left changesLeft) {
	rid := ridOfUnlocked(in, kcm)
	for _, t := range components.MissingTargets(kcm) {
		left.list = left.list.And(t, outcome.ArgumentChange{}, false)
		left.proving = append(left.proving, t)
	}
	for _, t := range components.Targets(in, kcm) {
		armed, given := handover.Armed(t.Component.Arguments), !handover.MayRunUnlocked(t.Component.Arguments)
		change := arming
		if given && !armed {
			change = outcome.ArgumentChange{}
		}
		done := given && rid(t) && t.Runs()
		left.list = left.list.And(t, change, done)
		switch {
		case !given:
			left.asked = append(left.asked, t)
		case !done:
			left.proving = append(left.proving, t)
		}
		left.begun = left.begun || armed
	}
	return left
}

// ridOfUnlocked says of a target whether every process that may run loops there without the lock is proven to have ended. Those
// with the lock are recorded, too, and go on.
func ridOfUnlocked(in pass.Input, kcm observation.Component) func(components.Target) bool {
	locked := map[string]bool{}
	for _, process := range kcm.Pods {
		locked[process.PodUID] = handover.Armed(process.Arguments)
	}
	return ridOf(in, kcm, func(process ucv1.ManagerProcess) bool { return !locked[process.PodUID] })
}

// waitForLock has no deadline: whoever leads meanwhile runs the loops, with the lock or without it.
func waitForLock(in pass.Input, left changesLeft) outcome.Outcome {
	if out := pass.NodesReady(in); !out.Holds && !left.begun {
		return out
	}
	return waitForOthers(left, "The migration lock has to be given, one after the other, to ")
}

// lockInstructions is the list of those who have begun to give KCM the lock, while an earlier row waits.
func lockInstructions(in pass.Input, kcm observation.Component) []ucv1.Instruction {
	change, _ := arming(in, kcm)
	if change == nil || in.Facts.Handover.LockArmedAt != nil {
		return nil
	}
	left := lockLeftOut(in, kcm, *change)
	if !left.begun {
		return nil
	}
	return left.list
}
