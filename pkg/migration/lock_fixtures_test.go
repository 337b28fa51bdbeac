package migration

import (
	"maps"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// locked are arguments with our lock.
func locked(arguments observation.Arguments) observation.Arguments {
	arguments.Flags = maps.Clone(arguments.Flags)
	arguments.Flags["enable-leader-migration"], arguments.Flags["leader-migration-config"] = "true", handover.LockPath
	return arguments
}

// Stages of protocol LeaderMigration, each ready to do the next thing.

func wantingLock() Observation {
	o := fresh()
	o.Cluster.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice
	o.Lock = observation.Known(observation.Lock{Denied: []string{handover.KCMUser + " may not create Leases."}})
	return o
}

// unlocked is ready to give KCM the lock.
func unlocked() Observation {
	o := loud()
	o.Cluster.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice
	o.Cluster.Status.Handover.Protocol = ucv1.LeaderMigrationProtocol
	o.Lock = observation.Known(observation.Lock{Granted: true})
	return o
}

// kcmLocked is ready to open the fence: an armed KCM holds both Leases.
func kcmLocked() Observation {
	o := unlocked()
	o.Cluster.Status.Handover.LockArmedAt, o.Cluster.Status.Handover.TouchedAt = stampAgo(time.Minute), microAgo(time.Minute)
	o.Cluster.Status.Handover.Processes[0].EndedAt = microAgo(30 * time.Second)
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
	setKCM(&o, locked(inTree()))
	edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "new_1" })
	edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("new_1") })
	return o
}

func lockLease(holder string) observation.Lease {
	return observation.Lease{
		Ref: observation.Ref{Kind: "Lease", Namespace: "kube-system", Name: handover.LockName}, Holder: holder, DurationSeconds: 15,
		ChangedAt: ago(time.Second), WatchedAt: ago(time.Hour),
	}
}

// bothLocked is ready to switch the loops off.
func bothLocked() Observation {
	o := kcmLocked()
	o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(20 * time.Second)
	edit(&o.Fence, func(f *observation.Fence) { f.Open = true })
	o.CCMLease = finished().CCMLease
	return o
}

// kcmUnlocked waits for the CCM to take the lock.
func kcmUnlocked() Observation {
	o := bothLocked()
	o.Cluster.Status.Handover.LoopsOffAt = stampAgo(15 * time.Second)
	o.Cluster.Status.Handover.Processes = append(o.Cluster.Status.Handover.Processes,
		ucv1.ManagerProcess{PodUID: "uid-armed", PodName: "armed", EndedAt: microAgo(9 * time.Second)},
		ucv1.ManagerProcess{PodUID: "uid-armed-2", PodName: "armed-2", EndedAt: microAgo(4 * time.Second)})
	o.Processes = o.Cluster.Status.Handover.DeepCopy().Processes
	setKCM(&o, silentArguments())
	edit(&o.Lock, func(l *observation.Lock) { l.Lease = lockLease("armed_1") })
	return o
}

// unlocking is ready to remove what is left.
func unlocking() Observation {
	o := kcmUnlocked()
	o.Cluster.Status.Handover.LockTakenAt = stampAgo(time.Second)
	edit(&o.Lock, func(l *observation.Lock) {
		l.Lease = lockLease("ccm_1")
		l.Lease.ChangedAt = ago(time.Minute)
		l.Left = []observation.Ref{{Kind: "Role", Namespace: "kube-system", Name: "ccm-migration:lock"}}
	})
	return o
}

// lockOf has the Lease of the lock as given.
func lockOf(lease observation.Lease) func(*Observation) {
	return func(o *Observation) { edit(&o.Lock, func(l *observation.Lock) { l.Lease = lease }) }
}

func renewedBy(holder string, before time.Duration) observation.Lease {
	lease := lockLease(holder)
	lease.ChangedAt = ago(before)
	return lease
}

func withoutNodes(o *Observation) { o.Nodes = observation.Known([]observation.Node{}) }
