package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// shown is how long the status of a pod shows the end of its process before its object goes.
const shown = 3 * Tick

// sharedHostnames is on how few Nodes the CCM's pods run where they have the network of the host.
const sharedHostnames = 2

func (p *Process) hostname() string {
	if p.Node != "" && p.hostNetwork {
		return p.Node
	}
	return p.PodName
}

// Retire ends a process whose pod is deleted as it should be: its status shows the end for a while. What it wrote last may arrive
// late.
func (ccm *CCM) Retire(p *Process) {
	if !p.PodGone {
		ccm.retired = append(ccm.retired, p)
	}
	if l := &ccm.w.Leases.CCM; l.Holder == p.Identity() && ccm.w.Hooks.Fate.Late() {
		ccm.w.Leases.late = append(ccm.w.Leases.late, lateRenewal{p.Identity(), ccm.w.Now, ccm.w.Now.Add(2 * Tick)})
	}
	ccm.Restart(p)
}

// lateRenewal is one that a process wrote before its end, and that arrives after it.
type lateRenewal struct {
	holder      string
	written, at time.Time
}

// arrive lets what was written late arrive, unless the Lease is another one by now.
func (ls *Leases) arrive() {
	ls.late = slices.DeleteFunc(ls.late, func(late lateRenewal) bool {
		if ls.w.Now.Before(late.at) {
			return false
		}
		if ls.CCM.Holder == late.holder && ls.CCM.Renewed.Before(late.written) {
			ls.CCM.Renewed = late.written
		}
		return true
	})
}

// see is what a watch of pods tells of a process: what it showed once is known until the controller is killed.
func (c *Controller) see(process observation.Process) observation.Process {
	if process.ContainerID == "" {
		return process
	}
	if before := c.former[process.ContainerID]; process.Ended && before.Ended {
		process.EndedAt = before.EndedAt
	} else if process.Ended {
		process.EndedAt = c.world.Now
	}
	c.former[process.ContainerID] = process
	return process
}

// observeCCMProcesses are all that a watch of the CCM's pods showed. A pod that vanished is not seen to end.
func (c *Controller) observeCCMProcesses() []observation.Process {
	w := c.world
	w.CCM.retired = slices.DeleteFunc(w.CCM.retired, func(p *Process) bool { return w.Now.Sub(p.endedAt) > shown })
	for _, p := range slices.Concat(w.CCM.Processes, w.CCM.retired) {
		if !p.PodGone {
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

func (p *Process) observed() observation.Process {
	seen := observation.Process{
		PodName: p.PodName, PodUID: "uid-" + p.PodName, ContainerID: p.id, StartedAt: p.startedAt, Started: true,
		Hostname: p.hostname(), HostNetwork: p.hostNetwork, NodeName: p.Node,
	}
	if !p.Alive() {
		seen.Ended, seen.Terminating, seen.FinishedAt = true, true, p.endedAt
	}
	return seen
}

// Version changes with everything that is written into a Lease.
func (l Lease) Version() string {
	return fmt.Sprint(l.Holder, " ", l.Acquired.UnixNano(), " ", l.Renewed.UnixNano())
}

// Named is an empty Lease where there is none of that name.
func (ls *Leases) Named(name string) *Lease {
	for own, l := range map[string]*Lease{KCMName: &ls.KCM, ccmLeaseName: &ls.CCM, handover.LockName: &ls.Lock.Lease} {
		if ls.ref(own).Name == name {
			return l
		}
	}
	return &Lease{}
}

// seeKCM has what a watch showed of KCM's processes, and of those that are gone.
func (c *Controller) seeKCM(kcm *observation.Component) {
	listed := map[string]bool{}
	for i := range kcm.Pods {
		process := &kcm.Pods[i]
		process.Hostname = cmp.Or(process.Hostname, process.PodName)
		if pods := c.world.ControlPlane.KCM().Pods; process.Ended && i < len(pods) && pods[i].Process != nil {
			process.FinishedAt = pods[i].Process.endedAt
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
	return observation.Known(observation.LeaseRight{May: ls.MayFreeKCM, There: ls.MayFreeKCM})
}

func (ls *Leases) changeRight(action outcome.Action) {
	switch action.Kind {
	case outcome.ActionGrantLease:
		ls.MayFreeKCM = !ls.w.Traits.LeftAlone
	case outcome.ActionRevokeLease:
		ls.MayFreeKCM = ls.MayFreeKCM && ls.RightStays
	default:
		ls.free(action)
	}
}

// free is refused when the Lease is not as it was seen, and whenever the API server likes.
func (ls *Leases) free(action outcome.Action) {
	l := ls.Named(action.Lease.Name)
	if l.Version() != action.Lease.Version || ls.w.Hooks.Fate.Refused() {
		return
	}
	l.Holder = ""
}

func (ccm *CCM) newProcess() *Process {
	name := ccm.w.ID("cloud-controller-manager")
	made := &Process{
		id: ccm.w.ID("container"), PodName: name, startedAt: ccm.w.Now, Armed: ccm.armed, CloudNode: ccm.CloudNode,
		Minor: observation.MinorOf(ccm.w.Cluster.Spec.Version),
	}
	if ccm.w.Traits.HostNetwork {
		made.hostNetwork, made.Node = true, fmt.Sprintf("host-%d", ccm.w.Rng.IntN(sharedHostnames))
	}
	return made
}
