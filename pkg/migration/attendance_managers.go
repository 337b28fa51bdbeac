package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// attends is what is known of one manager.
type attends struct {
	state attendsState
	why   observation.Text
}

type attendsState int

const (
	cannotTell attendsState = iota
	// tooEarly: its Lease was not watched for long enough.
	tooEarly
	runsNone
	runsLoops
)

// ccmAttends needs a Lease that is renewed. What keeps the CCM from it is known without looking: we did not let it lead.
func ccmAttends(in pass.Input) attends {
	lease, known := in.CCMLease.Get()
	switch {
	case underLock(in):
		return lockAttends(in)
	case known && lease.Alive(in.Now):
		return attends{runsLoops, observation.Say("The CCM leads and renews ", lease)}
	case ccmWithdrawn(in):
		return attends{runsNone, observation.Say("the CCM is gone")}
	case ccmNotAllowed(in):
		return attends{runsNone, observation.Say("the CCM may not lead yet")}
	case in.CCMLease.IsUnknown():
		return attends{cannotTell, observation.Say("the CCM's Lease cannot be looked at")}
	case known && lease.Holder != "" && !lease.Stale(in.Now):
		return attends{tooEarly, observation.Say(lease, " has to be watched first")}
	}
	return attends{runsNone, ccmIsMissing(in)}
}

// ccmIsMissing says what is seen of it.
func ccmIsMissing(in pass.Input) observation.Text {
	addons, known := in.Addons.Get()
	switch lease := in.CCMLease.Value(); {
	case known && len(addons.CCM.Unhealthy) > 0:
		return observation.Say("the CCM does not lead (", addons.CCM.Unhealthy[0].Without("."), ")")
	case in.Fence.IsKnown() && !in.Fence.Value().Open && lease.Name != "" && len(in.Fence.Value().Allowed) == 0:
		return observation.Say("the CCM may not lead, because its fence is closed")
	case lease.Holder != "":
		return observation.Say("the CCM does not renew ", lease, " any more")
	}
	return observation.Say("the CCM does not lead")
}

// ccmNotAllowed: in the hand-over it is our own doing that the CCM does not lead. After a contention it may lead until its fence
// is closed.
func ccmNotAllowed(in pass.Input) bool {
	handover := in.Facts.Handover
	if handover == nil || handover.StartedAt == nil || handover.FinishedAt != nil || handover.ContendedAt != nil ||
		in.Facts.Origin == ucv1.OriginExternal ||
		in.Fence.Value().Open { // Killed between opening it and saying so.
		return false
	}
	return handover.FenceOpenedAt == nil && (handover.Protocol == ucv1.FencedProtocol || handover.WorkloadAllowedAt == nil)
}

// ccmWithdrawn: a rollback saw the last pod of the CCM go.
func ccmWithdrawn(in pass.Input) bool {
	return in.Facts.Rollback != nil && in.Facts.Rollback.WorkloadGoneAt != nil
}

// underLock says that whoever holds the migration lock runs the loops, and no one else.
func underLock(in pass.Input) bool {
	handover := in.Facts.Handover
	return handover != nil && handover.LockArmedAt != nil && handover.LockTakenAt == nil
}

func lockAttends(in pass.Input) attends {
	lock, known := in.Lock.Get()
	switch {
	case in.Lock.IsUnknown():
		return attends{cannotTell, observation.Say("the migration lock cannot be looked at")}
	case known && lock.Lease.Alive(in.Now):
		return attends{runsLoops, observation.Say("The holder of the migration lock runs them and renews it")}
	case known && lock.Lease.Holder != "" && !lock.Lease.Stale(in.Now):
		return attends{tooEarly, observation.Say("the migration lock has to be watched first")}
	}
	return attends{runsNone, observation.Say("the migration lock has no holder")}
}

// kcmAttends asks its processes first: one whose arguments show the loops off runs none, whatever its Lease says.
func kcmAttends(in pass.Input) attends {
	controlPlane, known := in.ControlPlane.Get()
	switch {
	case in.ControlPlane.IsAbsent():
		return attends{runsNone, observation.Say("KCM does not exist")}
	case !known:
		return attends{cannotTell, observation.Say("the control plane cannot be looked at")}
	}
	kcm := controlPlane.KCM
	able, silent := processesOf(in, kcm)
	switch {
	// One that crashes is not.
	case !handover.Elects(kcm) && slices.ContainsFunc(able, func(process observation.Process) bool { return process.Ready }):
		return attends{runsLoops, observation.Say("A process of ", kcm, " runs them in-tree, without leader election")}
	case !handover.Elects(kcm) && silent, in.KCMLease.IsUnknown() && silent:
		return attends{runsNone, noneOf(kcm)}
	}
	return kcmLeaseAttends(in, kcm, able)
}

// processesOf KCM that run the loops when they lead; silent says that no process, seen or recorded, may run them.
func processesOf(in pass.Input, kcm observation.Component) (able []observation.Process, silent bool) {
	able = slices.DeleteFunc(slices.Clone(kcm.Pods), func(process observation.Process) bool {
		return process.Ended || !process.Started || !process.Arguments.Understood() || !handover.MayRunUnlocked(process.Arguments)
	})
	mayRun := func(process observation.Process) bool {
		return !process.Ended && handover.MayRunUnlocked(process.Arguments)
	}
	return able, allEnded(in) && !slices.ContainsFunc(kcm.Pods, mayRun)
}

func noneOf(kcm observation.Component) observation.Text {
	return observation.Say("no process of ", kcm, " runs them")
}

// kcmLeaseAttends: a holder that is no pod which we see may still run the loops.
func kcmLeaseAttends(in pass.Input, kcm observation.Component, able []observation.Process) attends {
	lease, known := in.KCMLease.Get()
	holds := func(process observation.Process) bool {
		return handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	}
	switch {
	case in.KCMLease.IsUnknown():
		return attends{cannotTell, observation.Say("KCM's Lease cannot be looked at")}
	case !known || lease.Holder == "" || lease.Stale(in.Now) || heldByTheEnded(in, lease, kcm):
		return attends{runsNone, noneOf(kcm)}
	case lease.Alive(in.Now) && slices.ContainsFunc(able, holds):
		return attends{runsLoops, observation.Say("KCM leads with them in-tree and renews ", lease)}
	case handover.HeldBySilentPod(lease, kcm):
		return attends{runsNone, noneOf(kcm)}
	case armedLeads(in, lease, kcm):
		return lockAttends(in)
	case lease.Alive(in.Now):
		return attends{cannotTell, observation.Say(lease, " is renewed by a process that is no pod of KCM which can be seen")}
	}
	return attends{tooEarly, observation.Say(lease, " has to be watched first")}
}

// armedLeads: someone else gives KCM the migration lock, is half way, and one that has it leads.
func armedLeads(in pass.Input, lease observation.Lease, kcm observation.Component) bool {
	return !underLock(in) && lease.Alive(in.Now) && handover.HeldByArmedPod(lease, kcm)
}

// heldByTheEnded: the process of the holder was seen to end, and nothing renewed the Lease since.
func heldByTheEnded(in pass.Input, lease observation.Lease, kcm observation.Component) bool {
	if in.Facts.Handover != nil && handover.HeldByTheDead(in.Facts.Handover.Processes, lease) {
		return true
	}
	return slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return process.Ended && handover.HeldBy(lease, process.PodName)
	}) &&
		!slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
			return !process.Ended && handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
		})
}

// allEnded says that every process that was recorded before KCM was changed has ended.
func allEnded(in pass.Input) bool {
	return in.Facts.Handover == nil ||
		!slices.ContainsFunc(in.Facts.Handover.Processes, func(process ucv1.ManagerProcess) bool { return process.EndedAt == nil })
}
