package simulation

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Lock is the migration lock: its Lease, and what was made for it.
type Lock struct {
	Lease
	Granted bool
	File    bool
}

// RunsLoops says that a process that leads runs the cloud loops: an armed one only with the migration lock.
func (p *Process) RunsLoops() bool { return p.Leading && (!p.Armed || p.Locking) }

// stepLock lets the processes that lead and have the lock try for it: upstream the second election begins when the first is won,
// with the same identity
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go).
func (ls *Leases) stepLock() {
	for _, p := range slices.Concat(ls.w.ControlPlane.Processes, ls.w.CCM.Processes) {
		if p.Alive() && p.Armed && p.Leading {
			ls.electLock(p)
		}
	}
}

// electLock is elect for the second Lease: who loses it exits.
func (ls *Leases) electLock(p *Process) {
	l := &ls.Lock.Lease
	if ls.w.Now.Sub(p.lockRenewed) < RetryPeriod {
		return
	}
	switch {
	case ls.w.Now.Before(p.HungUntil) || !ls.mayLock(p):
		if p.Locking && ls.w.Now.Sub(p.lockRenewed) > renewDeadline {
			ls.w.CCM.Restart(p)
		}
	case l.Holder == p.Identity():
		l.Renewed, p.lockRenewed, p.Locking = ls.w.Now, ls.w.Now, true
	case p.Locking:
		ls.w.CCM.Restart(p) // Someone else holds it: client-go gives up leading.
	case l.Holder == "" || ls.w.Now.Sub(l.Renewed) > LeaseDuration:
		l.Holder, l.Acquired, l.Renewed = p.Identity(), ls.w.Now, ls.w.Now
		p.lockRenewed, p.Locking = ls.w.Now, true
		ls.w.Say("%s holds the migration lock", p.PodName)
	}
}

func (ls *Leases) mayLock(p *Process) bool {
	return ls.Lock.Granted && !p.PodGone && (!p.Elects || !ls.w.Traits.KCMIsSomeoneElse)
}

// roll ends one pod that is not of the newest template: with the lock or the loop cloud-node and should not, or the other way
// round; one at a time.
func (ccm *CCM) roll() {
	for _, p := range ccm.Processes {
		if ccm.outdated(p) && len(ccm.Processes) > 1 {
			ccm.Retire(p)
			return
		}
	}
}

// rolls says that a pod of the CCM is not of the newest template.
func (ccm *CCM) rolls() bool {
	return slices.ContainsFunc(ccm.Processes, ccm.outdated)
}

func (ccm *CCM) outdated(p *Process) bool {
	return p.Armed != ccm.armed || p.CloudNode != ccm.CloudNode
}

func (c *Controller) observeLock() observation.Observed[observation.Lock] {
	w := c.world
	if !handover.ConcernsLock(w.Cluster) {
		return observation.Absent[observation.Lock]()
	}
	lock := w.Leases.Lock
	seen := observation.Lock{Granted: lock.Granted, Lease: c.observeLease(handover.LockName, lock.Lease).Value()}
	for kind, there := range map[string]bool{"Role": lock.Granted, "ConfigMap": lock.File, "Lease": lock.Holder != ""} {
		if there {
			seen.Left = append(seen.Left, observation.Ref{Kind: kind, Namespace: MachineNamespace, Name: handover.LockName})
		}
	}
	if !lock.Granted {
		seen.Denied = []string{"the managers may not create Lease " + handover.LockName + "."}
	}
	return observation.Known(seen)
}

// change changes who may hold the CCM's Lease and the migration lock.
func (ls *Leases) change(action outcome.Action) {
	ls.FenceOpen = action.Kind == outcome.ActionOpenFence || ls.FenceOpen && action.Kind != outcome.ActionCloseFence
	ls.Lock.Granted = action.Kind == outcome.ActionAllowLock || ls.Lock.Granted
	if action.Kind == outcome.ActionReleaseLock || action.Kind == outcome.ActionRemoveLock {
		ls.takeLock(action)
	}
	if action.Kind == outcome.ActionReleaseCCMLease {
		ls.CCM = Lease{}
	}
}

// Releasable are the Leases that are taken from someone, by what takes them.
func (ls *Leases) Releasable() map[outcome.ActionKind]Lease {
	return map[outcome.ActionKind]Lease{
		outcome.ActionReleaseCCMLease: ls.CCM,
		outcome.ActionReleaseLock:     ls.Lock.Lease, outcome.ActionRemoveLock: ls.Lock.Lease,
	}
}

// Conflicts is the API's answer to who takes a Lease that was renewed since it was looked at.
func (ls *Leases) Conflicts(p Pass) bool {
	now, taken := ls.Releasable()[p.Decision.Next().Kind]
	return taken && now != p.Leases[p.Decision.Next().Kind]
}

// takeLock takes it away, but not from someone who holds it.
func (ls *Leases) takeLock(action outcome.Action) {
	for _, object := range action.Objects {
		switch object.Kind {
		case "Role":
			ls.Lock.Granted = false
		case "ConfigMap":
			ls.Lock.File = false
		case "Lease":
			ls.Lock.Lease = Lease{}
		}
	}
}
