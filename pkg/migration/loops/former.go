package loops

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// LeaderLives contradicts a Lease that is not old yet.
func LeaderLives(in pass.Input) outcome.Outcome {
	lease := in.CCMLease.Value()
	holder, found := formerLease{lease: lease, processes: in.CCMProcesses.Value(), bound: true}.holder()
	switch {
	case found && holder.Ended:
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease, " is held by "+lease.Holder+", which has ended.")
	case !lease.Alive(in.Now):
		return outcome.Waits(ucv1.WaitingForLeaderReason, lease, " was acquired by "+lease.Holder+", which did not renew it yet.")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

const (
	// kubeletGrain is what a kubelet leaves of the time at which a container ended.
	kubeletGrain = time.Second
	// retryPeriod is the default of leader election: who leads renews after each.
	// https://github.com/kubernetes/component-base/blob/v0.30.14/config/v1alpha1/defaults.go
	retryPeriod = 2 * time.Second
)

// formerLease is a Lease that may have a holder which ended.
type formerLease struct {
	lease observation.Lease
	// processes that its holder may be.
	processes []observation.Process
	retry     time.Duration
	// bound says that their tokens go with their pods.
	bound bool
}

// holder is the one process that may hold the Lease. It acquired it after its start, and no other process has its hostname but
// those that had ended before: a wrong answer is two leaders for a renew deadline. The three times are of the clock of one Node.
func (f formerLease) holder() (observation.Process, bool) {
	hostname, _, _ := strings.Cut(f.lease.Holder, "_")
	able := slices.DeleteFunc(slices.Clone(f.processes), func(process observation.Process) bool {
		return process.Hostname != hostname || process.Ended && process.FinishedAt.Add(kubeletGrain).Before(f.lease.AcquireTime)
	})
	if hostname == "" || len(able) != 1 {
		return observation.Process{}, false
	}
	holder := able[0]
	// Under the hostname of a Node there may be a process that no one of us saw, unless we saw the Lease being taken: pods that are
	// gone have no token to do that with.
	unseen := holder.HostNetwork && (!f.bound || !f.lease.HeldSince.After(f.lease.WatchedAt))
	return holder, holder.Started && !unseen && !f.lease.AcquireTime.Before(holder.StartedAt)
}

// endedBefore is how long the Lease has to stand still yet, since a watch showed its holder's end; known is false when nothing
// proves that end.
//
//	acquires ──► renews ──► ends ──► not renewed afterwards ──► stands still for a retry period ──► is freed
func (f formerLease) endedBefore(now time.Time) (left time.Duration, known bool) {
	holder, found := f.holder()
	switch {
	case !found, !holder.Ended, holder.ContainerID == "", holder.EndedAt.IsZero():
		return 0, false
	case f.lease.RenewTime.After(holder.FinishedAt.Add(kubeletGrain)), f.lease.Stale(now):
		return 0, false // Where we are refused for good, it runs out, and other things are done again.
	}
	since := holder.EndedAt
	for _, later := range []time.Time{f.lease.ChangedAt, f.lease.WatchedAt} {
		if later.After(since) {
			since = later
		}
	}
	return since.Add(f.retry).Sub(now), true
}

// formerLeases are those that may be freed.
func formerLeases(in pass.Input) []formerLease {
	var leases []formerLease
	processes, looked := in.CCMProcesses.Get()
	alone := in.ForeignCCMs.IsKnown() && start.OtherManagersRun(in).Words == ""
	if lease, known := in.CCMLease.Get(); known && looked && alone && in.Fence.Value().Open && !start.Withdrawn(in.Facts) {
		leases = append(leases, formerLease{lease: lease, processes: processes, retry: retryPeriod, bound: true})
	}
	if kcm, known := kcmLease(in); known && in.KCMLeaseRight.Value().May {
		leases = append(leases, kcm)
	}
	return leases
}

// LeaseToFree is the action when a Lease can be freed now, and how long it takes until one can be.
func LeaseToFree(in pass.Input) (action *outcome.Action, after time.Duration) {
	for _, former := range formerLeases(in) {
		left, ended := former.endedBefore(in.Now)
		switch {
		case ended && left <= 0:
			lease := former.lease
			return &outcome.Action{
				Kind: outcome.ActionFreeLease, Objects: []observation.Ref{lease.Ref}, Lease: &lease,
				Why: "Clearing " + lease.Holder + ", which was seen to end, from " + lease.String() + ", so that the next one leads now.",
			}, 0
		case ended:
			after = observation.Sooner(after, left)
		}
	}
	return nil, after
}
