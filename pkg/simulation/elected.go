package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The machine-controller and the operating-system-manager are elected, and neither gives its Lease back when it ends: until that
// has expired, a Deployment that is rolled out has no one who works. What a process outlives is no end of it either: it is its
// Lease that says who works, and not its pod.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/cmd/machine-controller/main.go#L325-L335
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/cmd/osm-controller/main.go#L329-L339
// https://github.com/kubernetes-sigs/controller-runtime/blob/v0.24.1/pkg/manager/manager.go (LeaderElectionReleaseOnCancel)

func (d *Workload) elected() bool {
	return d.Flag != "" && observation.MachineControllerProgram(d.Name) != observation.MachineWebhook
}

// leaseOf is nil for what is not elected, or takes part in an election that is told elsewhere.
func leaseOf(d *Workload) *Lease {
	if d.elected() {
		return &d.lease
	}
	return nil
}

// working is the process of an elected Deployment that works now; nil where none does.
func (cp *ControlPlane) working(d *Workload) *Process {
	at := slices.IndexFunc(cp.Processes, func(p *Process) bool {
		return p.lease == &d.lease && p.Alive() && p.Leading && d.lease.Holder == p.Identity()
	})
	if at < 0 {
		return nil
	}
	return cp.Processes[at]
}

// electControllers lets each of their processes try once. In a hasty world no one waits.
func (ls *Leases) electControllers() {
	for _, p := range slices.Clone(ls.w.ControlPlane.Processes) {
		if p.lease == nil {
			continue
		}
		if ls.w.hasty && !ls.holds(p.lease) {
			p.lease.Holder = ""
		}
		ls.elect(p, p.lease, true)
	}
}

// holds says that whoever holds a Lease still runs.
func (ls *Leases) holds(l *Lease) bool {
	return slices.ContainsFunc(ls.w.ControlPlane.Processes, func(p *Process) bool {
		return p.lease == l && p.Alive() && p.Identity() == l.Holder
	})
}

// lists says that the machine-controller looks at everything now: a process does when it begins to work, and then whenever its
// caches deliver all they have once more.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/cmd/machine-controller/main.go#L296
func (ms *Machines) lists() bool {
	worker := ""
	if d := ms.w.ControlPlane.Workload(string(observation.MachineController)); d != nil {
		if p := ms.w.ControlPlane.working(d); p != nil {
			worker = p.Identity()
		}
	}
	if worker == ms.worker && ms.w.Now.Sub(ms.listedAt) < resync {
		return ms.w.Now.Equal(ms.listedAt)
	}
	ms.worker, ms.listedAt = worker, ms.w.Now
	return true
}

// resync is how often they do.
const resync = 5 * time.Minute
