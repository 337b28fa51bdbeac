package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// shown is how long the status of a pod shows the end of its process before its object goes.
const shown = 3 * tick

// sharedHostnames is on how few Nodes the CCM's pods run where they have the network of the host.
const sharedHostnames = 2

func (p *process) hostname() string {
	if p.node != "" && p.hostNetwork {
		return p.node
	}
	return p.podName
}

// retire ends a process whose pod is deleted as it should be: its status shows the end for a while. What it wrote last may arrive
// late.
func (ccm *CCM) retire(p *process) {
	if !p.podGone {
		ccm.retired = append(ccm.retired, p)
	}
	if l := &ccm.w.leases.ccm; l.holder == p.identity() && ccm.w.hooks.Late() {
		ccm.w.leases.late = append(ccm.w.leases.late, lateRenewal{p.identity(), ccm.w.now, ccm.w.now.Add(2 * tick)})
	}
	ccm.restart(p)
}

// lateRenewal is one that a process wrote before its end, and that arrives after it.
type lateRenewal struct {
	holder      string
	written, at time.Time
}

// arrive lets what was written late arrive, unless the Lease is another one by now.
func (ls *Leases) arrive() {
	ls.late = slices.DeleteFunc(ls.late, func(late lateRenewal) bool {
		if ls.w.now.Before(late.at) {
			return false
		}
		if ls.ccm.holder == late.holder && ls.ccm.renewed.Before(late.written) {
			ls.ccm.renewed = late.written
		}
		return true
	})
}

// drainLeader evicts the pod of the CCM that leads, as the drain of its Node does.
func drainLeader(w *World) {
	if leader := w.ccm.leader(); leader != nil {
		w.say("fault: %s is evicted", leader.podName)
		w.ccm.retire(leader)
	}
}

func evictCCM(w *World) {
	if p, ok := pick(w, w.ccm.processes); ok && p.alive() {
		w.say("fault: %s is evicted", p.podName)
		w.ccm.retire(p)
	}
}

// see is what a watch of pods tells of a process: what it showed once is known until the controller is killed.
func (c *Controller) see(process observation.Process) observation.Process {
	if process.ContainerID == "" {
		return process
	}
	if before := c.former[process.ContainerID]; process.Ended && before.Ended {
		process.EndedAt = before.EndedAt
	} else if process.Ended {
		process.EndedAt = c.world.now
	}
	c.former[process.ContainerID] = process
	return process
}

// observeCCMProcesses are all that a watch of the CCM's pods showed. A pod that vanished is not seen to end.
func (c *Controller) observeCCMProcesses() []observation.Process {
	w := c.world
	w.ccm.retired = slices.DeleteFunc(w.ccm.retired, func(p *process) bool { return w.now.Sub(p.endedAt) > shown })
	for _, p := range slices.Concat(w.ccm.processes, w.ccm.retired) {
		if !p.podGone {
			c.see(p.observed())
		}
	}
	processes := []observation.Process{}
	for _, process := range c.former {
		if process.NodeName == "" || process.HostNetwork {
			processes = append(processes, process)
		}
	}
	// A map has no order.
	slices.SortFunc(processes, func(a, b observation.Process) int { return a.StartedAt.Compare(b.StartedAt) })
	return processes
}

func (p *process) observed() observation.Process {
	seen := observation.Process{
		PodName: p.podName, PodUID: "uid-" + p.podName, ContainerID: p.id, StartedAt: p.startedAt, Started: true,
		Hostname: p.hostname(), HostNetwork: p.hostNetwork, NodeName: p.node,
	}
	if !p.alive() {
		seen.Ended, seen.Terminating, seen.FinishedAt = true, true, p.endedAt
	}
	return seen
}

// version changes with everything that is written into a Lease.
func (l lease) version() string {
	return fmt.Sprint(l.holder, " ", l.acquired.UnixNano(), " ", l.renewed.UnixNano())
}

func (ls *Leases) named(name string) *lease {
	for own, l := range map[string]*lease{kcmName: &ls.kcm, ccmLeaseName: &ls.ccm, handover.LockName: &ls.lock.lease} {
		if ls.ref(own).Name == name {
			return l
		}
	}
	return &lease{}
}

// seeKCM has what a watch showed of KCM's processes, and of those that are gone.
func (c *Controller) seeKCM(kcm *observation.Component) {
	listed := map[string]bool{}
	for i := range kcm.Pods {
		process := &kcm.Pods[i]
		process.Hostname = cmp.Or(process.Hostname, process.PodName)
		if pods := c.world.controlPlane.kcm().pods; process.Ended && i < len(pods) && pods[i].process != nil {
			process.FinishedAt = pods[i].process.endedAt
		}
		listed[process.PodUID] = true
		*process = c.see(*process)
	}
	for _, process := range c.former {
		if process.NodeName != "" && !process.HostNetwork && !listed[process.PodUID] {
			kcm.Former = append(kcm.Former, process)
		}
	}
	slices.SortFunc(kcm.Former, func(a, b observation.Process) int { return cmp.Compare(a.ContainerID, b.ContainerID) })
}

func (ls *Leases) observeRight() observation.Observed[observation.LeaseRight] {
	if !ls.w.needs().KCMLeaseRight {
		return observation.Absent[observation.LeaseRight]()
	}
	return observation.Known(observation.LeaseRight{May: ls.mayFreeKCM, There: ls.mayFreeKCM})
}

func (ls *Leases) changeRight(action outcome.Action) {
	switch action.Kind {
	case outcome.ActionGrantLease:
		ls.mayFreeKCM = !ls.w.traits.LeftAlone
	case outcome.ActionRevokeLease:
		ls.mayFreeKCM = ls.mayFreeKCM && ls.rightStays
	default:
		ls.free(action)
	}
}

// checkRight: what we granted ourselves for a time is taken back.
func (i *invariants) checkRight(w *World, o observation.Observation, d migration.Decision) {
	over := d.Step == ucv1.StepFinished || d.Step == ucv1.StepRolledBack && o.Cluster.Status.Rollback.FinishedAt != nil
	if over && d.Action == nil && w.leases.mayFreeKCM {
		i.fail("the right to free KCM's Lease is left at step %s", d.Step)
	}
}

// free is refused when the Lease is not as it was seen, and whenever the API server likes.
func (ls *Leases) free(action outcome.Action) {
	l := ls.named(action.Lease.Name)
	if l.version() != action.Lease.Version || ls.w.hooks.Refused() {
		return
	}
	l.holder = ""
}

// checkFreed: only the Lease of a process that has ended is freed, with the right to, and in a migration.
func (i *invariants) checkFreed(w *World, action outcome.Action) {
	l := w.leases.named(action.Lease.Name)
	if l == &w.leases.kcm && !w.leases.mayFreeKCM {
		i.fail("KCM's Lease is freed without the right to")
	}
	if l.version() != action.Lease.Version {
		return
	}
	for _, p := range slices.Concat(w.controlPlane.processes, w.ccm.processes) {
		if p.alive() && p.identity() == l.holder {
			i.fail("rule 2: a Lease is freed from %s, whose process goes on", p.podName)
		}
	}
	if facts := w.facts(); facts.StartedAt == nil || w.cluster.Spec.Paused {
		i.fail("rule 2: a Lease is freed of %s at rest", l.holder)
	}
}

// aboutLeases says that what is done only makes the time short in which no one leads: it comes before what is done otherwise.
func aboutLeases(d migration.Decision) bool {
	return does(d, outcome.ActionFreeLease) || does(d, outcome.ActionGrantLease) || does(d, outcome.ActionRevokeLease) ||
		does(d, outcome.ActionKeepLeader)
}

// sameBut: the action is the same, but for what is done about Leases.
func sameBut(d, without migration.Decision) bool {
	return does(d, without.Action.Kind) || aboutLeases(d) || aboutLeases(without)
}

func (ccm *CCM) newProcess() *process {
	name := ccm.w.id("cloud-controller-manager")
	made := &process{id: ccm.w.id("container"), podName: name, startedAt: ccm.w.now, armed: ccm.armed, cloudNode: ccm.cloudNode}
	if ccm.w.traits.HostNetwork {
		made.hostNetwork, made.node = true, fmt.Sprintf("host-%d", ccm.w.rng.IntN(sharedHostnames))
	}
	return made
}
