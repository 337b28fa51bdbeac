package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// lock is the migration lock: its Lease, and what was made for it.
type lock struct {
	lease
	granted bool
	file    bool
}

// runsLoops says that a process that leads runs the cloud loops: an armed one only with the migration lock.
func (p *process) runsLoops() bool { return p.leading && (!p.armed || p.locking) }

// stepLock lets the processes that lead and have the lock try for it: upstream the second election begins when the first is won,
// with the same identity
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go).
func (ls *Leases) stepLock() {
	for _, p := range slices.Concat(ls.w.controlPlane.processes, ls.w.ccm.processes) {
		if p.alive() && p.armed && p.leading {
			ls.electLock(p)
		}
	}
}

// electLock is elect for the second Lease: who loses it exits.
func (ls *Leases) electLock(p *process) {
	l := &ls.lock.lease
	if ls.w.now.Sub(p.lockRenewed) < retryPeriod {
		return
	}
	switch {
	case ls.w.now.Before(p.hungUntil) || !ls.mayLock(p):
		if p.locking && ls.w.now.Sub(p.lockRenewed) > renewDeadline {
			ls.w.ccm.restart(p)
		}
	case l.holder == p.identity():
		l.renewed, p.lockRenewed, p.locking = ls.w.now, ls.w.now, true
	case p.locking:
		ls.w.ccm.restart(p) // Someone else holds it: client-go gives up leading.
	case l.holder == "" || ls.w.now.Sub(l.renewed) > leaseDuration:
		l.holder, l.acquired, l.renewed = p.identity(), ls.w.now, ls.w.now
		p.lockRenewed, p.locking = ls.w.now, true
		ls.w.say("%s holds the migration lock", p.podName)
	}
}

func (ls *Leases) mayLock(p *process) bool {
	return ls.lock.granted && !p.podGone && (!p.elects || !ls.w.traits.KCMIsSomeoneElse)
}

// roll ends one pod that is not of the newest template: with the lock or the loop cloud-node and should not, or the other way
// round; one at a time.
func (ccm *CCM) roll() {
	for _, p := range ccm.processes {
		if ccm.outdated(p) && len(ccm.processes) > 1 {
			ccm.retire(p)
			return
		}
	}
}

// rolls says that a pod of the CCM is not of the newest template.
func (ccm *CCM) rolls() bool {
	return slices.ContainsFunc(ccm.processes, ccm.outdated)
}

func (ccm *CCM) outdated(p *process) bool {
	return p.armed != ccm.armed || p.cloudNode != ccm.cloudNode
}

func (c *Controller) observeLock() observation.Observed[observation.Lock] {
	w := c.world
	if !migration.ConcernsLock(w.cluster) {
		return observation.Absent[observation.Lock]()
	}
	seen := observation.Lock{Granted: w.leases.lock.granted, Lease: c.observeLease(handover.LockName, w.leases.lock.lease).Value()}
	for kind, there := range map[string]bool{"Role": w.leases.lock.granted, "ConfigMap": w.leases.lock.file, "Lease": w.leases.lock.holder != ""} {
		if there {
			seen.Left = append(seen.Left, observation.Ref{Kind: kind, Namespace: machineNamespace, Name: handover.LockName})
		}
	}
	if !w.leases.lock.granted {
		seen.Denied = []string{"the managers may not create Lease " + handover.LockName + "."}
	}
	return observation.Known(seen)
}

// change changes who may hold the CCM's Lease and the migration lock.
func (ls *Leases) change(action outcome.Action) {
	ls.fenceOpen = action.Kind == outcome.ActionOpenFence || ls.fenceOpen && action.Kind != outcome.ActionCloseFence
	ls.lock.granted = action.Kind == outcome.ActionAllowLock || ls.lock.granted
	if action.Kind == outcome.ActionReleaseLock || action.Kind == outcome.ActionRemoveLock {
		ls.takeLock(action)
	}
	if action.Kind == outcome.ActionReleaseCCMLease {
		ls.ccm = lease{}
	}
}

// releasable are the Leases that are taken from someone, by what takes them.
func (ls *Leases) releasable() map[outcome.ActionKind]lease {
	return map[outcome.ActionKind]lease{
		outcome.ActionReleaseCCMLease: ls.ccm,
		outcome.ActionReleaseLock:     ls.lock.lease, outcome.ActionRemoveLock: ls.lock.lease,
	}
}

// conflicts is the API's answer to who takes a Lease that was renewed since it was looked at.
func (ls *Leases) conflicts(p Pass) bool {
	now, taken := ls.releasable()[p.decision.Action.Kind]
	return taken && now != p.leases[p.decision.Action.Kind]
}

// takeLock takes it away, but not from someone who holds it.
func (ls *Leases) takeLock(action outcome.Action) {
	for _, object := range action.Objects {
		switch object.Kind {
		case "Role":
			ls.lock.granted = false
		case "ConfigMap":
			ls.lock.file = false
		case "Lease":
			ls.lock.lease = lease{}
		}
	}
}

// checkTaken: no Lease is taken from a process that leads by it.
func (i *invariants) checkTaken(w *World, action outcome.Action) {
	for _, p := range slices.Concat(w.controlPlane.processes, w.ccm.processes) {
		if p.alive() && p.locking && action.Kind != outcome.ActionReleaseCCMLease {
			i.fail("rule 2: %s takes the migration lock from %s, which holds it", action.Kind, p.podName)
		}
	}
	for _, p := range w.ccm.processes {
		leads := p.alive() && p.leading && w.leases.ccm.holder == p.identity() && w.now.Sub(p.renewed) <= leaseDuration
		if leads && action.Kind == outcome.ActionReleaseCCMLease {
			i.fail("rule 2: a Lease is taken from %s, which leads", p.podName)
		}
	}
}
