package migration

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
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
func (p *pass) ccmAttends() attends {
	lease, known := p.o.CCMLease.Get()
	switch {
	case p.underLock():
		return p.lockAttends()
	case known && lease.Alive(p.now):
		return attends{runsLoops, observation.Say("The CCM leads and renews ", lease)}
	case p.ccmWithdrawn():
		return attends{runsNone, observation.Say("the CCM is gone")}
	case p.ccmNotAllowed():
		return attends{runsNone, observation.Say("the CCM may not lead yet")}
	case p.o.CCMLease.IsUnknown():
		return attends{cannotTell, observation.Say("the CCM's Lease cannot be looked at")}
	case known && lease.Holder != "" && !lease.Stale(p.now):
		return attends{tooEarly, observation.Say(lease, " has to be watched first")}
	}
	return attends{runsNone, p.ccmIsMissing()}
}

// ccmIsMissing says what is seen of it.
func (p *pass) ccmIsMissing() observation.Text {
	addons, known := p.o.Addons.Get()
	switch lease := p.o.CCMLease.Value(); {
	case known && len(addons.CCM.Unhealthy) > 0:
		return observation.Say("the CCM does not lead (", addons.CCM.Unhealthy[0].Without("."), ")")
	case p.o.Fence.IsKnown() && !p.o.Fence.Value().Open && lease.Name != "" && len(p.o.Fence.Value().Allowed) == 0:
		return observation.Say("the CCM may not lead, because its fence is closed")
	case lease.Holder != "":
		return observation.Say("the CCM does not renew ", lease, " any more")
	}
	return observation.Say("the CCM does not lead")
}

// otherManagersRun names one that may run the loops under another Lease. One that elects by the CCM's Lease runs none while that
// has no holder who renews it.
func (p *pass) otherManagersRun() observation.Text {
	for _, m := range p.o.ForeignCCMs.Value() {
		led := p.o.CCMLease.IsUnknown() || !p.bound(m, byLease)
		if led && !m.Harmless() && m.MayRun() && !slices.Contains(p.o.Cluster.Spec.Handover.AcceptOtherManagers, m.String()) {
			return observation.Say(m)
		}
	}
	return observation.Text{}
}

// ccmNotAllowed: in the hand-over it is our own doing that the CCM does not lead. After a contention it may lead until its fence
// is closed.
func (p *pass) ccmNotAllowed() bool {
	handover := p.facts.Handover
	if handover == nil || handover.StartedAt == nil || handover.FinishedAt != nil || handover.ContendedAt != nil ||
		p.facts.Origin == ucv1.OriginExternal ||
		p.o.Fence.Value().Open { // Killed between opening it and saying so.
		return false
	}
	return handover.FenceOpenedAt == nil && (handover.Protocol == ucv1.FencedProtocol || handover.WorkloadAllowedAt == nil)
}

// ccmWithdrawn: an undo saw the last pod of the CCM go.
func (p *pass) ccmWithdrawn() bool {
	return p.facts.Rollback != nil && p.facts.Rollback.WorkloadGoneAt != nil
}

// underLock says that whoever holds the migration lock runs the loops, and no one else.
func (p *pass) underLock() bool {
	handover := p.facts.Handover
	return handover != nil && handover.LockArmedAt != nil && handover.LockTakenAt == nil
}

func (p *pass) lockAttends() attends {
	lock, known := p.o.Lock.Get()
	switch {
	case p.o.Lock.IsUnknown():
		return attends{cannotTell, observation.Say("the migration lock cannot be looked at")}
	case known && lock.Lease.Alive(p.now):
		return attends{runsLoops, observation.Say("The holder of the migration lock runs them and renews it")}
	case known && lock.Lease.Holder != "" && !lock.Lease.Stale(p.now):
		return attends{tooEarly, observation.Say("the migration lock has to be watched first")}
	}
	return attends{runsNone, observation.Say("the migration lock has no holder")}
}

// kcmAttends asks its processes first: one whose arguments show the loops off runs none, whatever its Lease says.
func (p *pass) kcmAttends() attends {
	controlPlane, known := p.o.ControlPlane.Get()
	switch {
	case p.o.ControlPlane.IsAbsent():
		return attends{runsNone, observation.Say("KCM does not exist")}
	case !known:
		return attends{cannotTell, observation.Say("the control plane cannot be looked at")}
	}
	kcm := controlPlane.KCM
	able, silent := p.processesOf(kcm)
	switch {
	// One that crashes is not.
	case !handover.Elects(kcm) && slices.ContainsFunc(able, func(process observation.Process) bool { return process.Ready }):
		return attends{runsLoops, observation.Say("A process of ", kcm, " runs them in-tree, without leader election")}
	case !handover.Elects(kcm) && silent, p.o.KCMLease.IsUnknown() && silent:
		return attends{runsNone, noneOf(kcm)}
	}
	return p.kcmLeaseAttends(kcm, able)
}

// processesOf KCM that run the loops when they lead; silent says that no process, seen or recorded, may run them.
func (p *pass) processesOf(kcm observation.Component) (able []observation.Process, silent bool) {
	able = slices.DeleteFunc(slices.Clone(kcm.Pods), func(process observation.Process) bool {
		return process.Ended || !process.Started || !process.Arguments.Understood() || !handover.MayRunUnlocked(process.Arguments)
	})
	mayRun := func(process observation.Process) bool {
		return !process.Ended && handover.MayRunUnlocked(process.Arguments)
	}
	return able, p.allEnded() && !slices.ContainsFunc(kcm.Pods, mayRun)
}

func noneOf(kcm observation.Component) observation.Text {
	return observation.Say("no process of ", kcm, " runs them")
}

// kcmLeaseAttends: a holder that is no pod which we see may still run the loops.
func (p *pass) kcmLeaseAttends(kcm observation.Component, able []observation.Process) attends {
	lease, known := p.o.KCMLease.Get()
	holds := func(process observation.Process) bool {
		return handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	}
	switch {
	case p.o.KCMLease.IsUnknown():
		return attends{cannotTell, observation.Say("KCM's Lease cannot be looked at")}
	case !known || lease.Holder == "" || lease.Stale(p.now) || p.heldByTheEnded(lease, kcm):
		return attends{runsNone, noneOf(kcm)}
	case lease.Alive(p.now) && slices.ContainsFunc(able, holds):
		return attends{runsLoops, observation.Say("KCM leads with them in-tree and renews ", lease)}
	case handover.HeldBySilentPod(lease, kcm):
		return attends{runsNone, noneOf(kcm)}
	case lease.Alive(p.now):
		return attends{cannotTell, observation.Say(lease, " is renewed by a process that is no pod of KCM which can be seen")}
	}
	return attends{tooEarly, observation.Say(lease, " has to be watched first")}
}

// heldByTheEnded: the process of the holder was seen to end, and nothing renewed the Lease since.
func (p *pass) heldByTheEnded(lease observation.Lease, kcm observation.Component) bool {
	if p.facts.Handover != nil && handover.HeldByTheDead(p.facts.Handover.Processes, lease) {
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
func (p *pass) allEnded() bool {
	return p.facts.Handover == nil ||
		!slices.ContainsFunc(p.facts.Handover.Processes, func(process ucv1.ManagerProcess) bool { return process.EndedAt == nil })
}
