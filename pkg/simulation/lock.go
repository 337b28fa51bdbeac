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
func (w *World) stepLock() {
	for _, p := range slices.Concat(w.processes, w.replicas) {
		if p.alive() && p.armed && p.leading {
			w.electLock(p)
		}
	}
}

// electLock is elect for the second Lease: who loses it exits.
func (w *World) electLock(p *process) {
	l := &w.lock.lease
	if w.now.Sub(p.lockRenewed) < retryPeriod {
		return
	}
	switch {
	case w.now.Before(p.hungUntil) || !w.mayLock(p):
		if p.locking && w.now.Sub(p.lockRenewed) > renewDeadline {
			w.restart(p)
		}
	case l.holder == p.identity():
		l.renewed, p.lockRenewed, p.locking = w.now, w.now, true
	case p.locking:
		w.restart(p) // Someone else holds it: client-go gives up leading.
	case l.holder == "" || w.now.Sub(l.renewed) > leaseDuration:
		l.holder, l.acquired, l.renewed = p.identity(), w.now, w.now
		p.lockRenewed, p.locking = w.now, true
		w.say("%s holds the migration lock", p.podName)
	}
}

func (w *World) mayLock(p *process) bool {
	return w.lock.granted && !p.podGone && (!p.elects || !w.traits.KCMIsSomeoneElse)
}

// rollCCM ends one pod that is not of the newest template: with the lock or the loop cloud-node and should not, or the other way
// round; one at a time.
func (w *World) rollCCM() {
	for _, p := range w.replicas {
		if w.outdated(p) && len(w.replicas) > 1 {
			w.retire(p)
			return
		}
	}
}

// ccmRolls says that a pod of the CCM is not of the newest template.
func (w *World) ccmRolls() bool {
	return slices.ContainsFunc(w.replicas, w.outdated)
}

func (w *World) outdated(p *process) bool {
	return p.armed != w.ccmArmed || p.cloudNode != w.ccmCloudNode
}

func (c *Controller) observeLock() observation.Observed[observation.Lock] {
	w := c.world
	if !migration.ConcernsLock(w.cluster) {
		return observation.Absent[observation.Lock]()
	}
	seen := observation.Lock{Granted: w.lock.granted, Lease: c.observeLease(handover.LockName, w.lock.lease).Value()}
	for kind, there := range map[string]bool{"Role": w.lock.granted, "ConfigMap": w.lock.file, "Lease": w.lock.holder != ""} {
		if there {
			seen.Left = append(seen.Left, observation.Ref{Kind: kind, Namespace: machineNamespace, Name: handover.LockName})
		}
	}
	if !w.lock.granted {
		seen.Denied = []string{"the managers may not create Lease " + handover.LockName + "."}
	}
	return observation.Known(seen)
}

// changeLeases changes who may hold the CCM's Lease and the migration lock.
func (w *World) changeLeases(action outcome.Action) {
	w.fenceOpen = action.Kind == outcome.ActionOpenFence || w.fenceOpen && action.Kind != outcome.ActionCloseFence
	w.lock.granted = action.Kind == outcome.ActionAllowLock || w.lock.granted
	if action.Kind == outcome.ActionReleaseLock || action.Kind == outcome.ActionRemoveLock {
		w.takeLock(action)
	}
	if action.Kind == outcome.ActionReleaseCCMLease {
		w.ccmLease = lease{}
	}
}

// releasable are the Leases that are taken from someone, by what takes them.
func (w *World) releasable() map[outcome.ActionKind]lease {
	return map[outcome.ActionKind]lease{
		outcome.ActionReleaseCCMLease: w.ccmLease,
		outcome.ActionReleaseLock:     w.lock.lease, outcome.ActionRemoveLock: w.lock.lease,
	}
}

// leaseConflicts is the API's answer to who takes a Lease that was renewed since it was looked at.
func (w *World) leaseConflicts(p pass) bool {
	now, taken := w.releasable()[p.decision.Action.Kind]
	return taken && now != p.leases[p.decision.Action.Kind]
}

// takeLock takes it away, but not from someone who holds it.
func (w *World) takeLock(action outcome.Action) {
	for _, object := range action.Objects {
		switch object.Kind {
		case "Role":
			w.lock.granted = false
		case "ConfigMap":
			w.lock.file = false
		case "Lease":
			w.lock.lease = lease{}
		}
	}
}

// checkTaken: no Lease is taken from a process that leads by it.
func (i *invariants) checkTaken(w *World, action outcome.Action) {
	for _, p := range slices.Concat(w.processes, w.replicas) {
		if p.alive() && p.locking && action.Kind != outcome.ActionReleaseCCMLease {
			i.fail("rule 2: %s takes the migration lock from %s, which holds it", action.Kind, p.podName)
		}
	}
	for _, p := range w.replicas {
		leads := p.alive() && p.leading && w.ccmLease.holder == p.identity() && w.now.Sub(p.renewed) <= leaseDuration
		if leads && action.Kind == outcome.ActionReleaseCCMLease {
			i.fail("rule 2: a Lease is taken from %s, which leads", p.podName)
		}
	}
}
