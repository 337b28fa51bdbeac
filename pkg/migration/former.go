package migration

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

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
func (p *pass) formerLeases() []formerLease {
	var leases []formerLease
	processes, looked := p.o.CCMProcesses.Get()
	alone := p.o.ForeignCCMs.IsKnown() && p.otherManagersRun().Words == ""
	if lease, known := p.o.CCMLease.Get(); known && looked && alone && p.o.Fence.Value().Open && !withdrawn(p.facts) {
		leases = append(leases, formerLease{lease: lease, processes: processes, retry: retryPeriod, bound: true})
	}
	if kcm, known := p.kcmLease(); known && p.o.KCMLeaseRight.Value().May {
		leases = append(leases, kcm)
	}
	return leases
}

// freeLease is the action when a Lease can be freed now, and how long it takes until one can be.
func (p *pass) freeLease() (action *outcome.Action, after time.Duration) {
	for _, former := range p.formerLeases() {
		left, ended := former.endedBefore(p.now)
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

// interrupts says that what ends a manager is mostly our doing: from the start until all is finished. When the migration is
// completed, only the last step still does something.
func (p *pass) interrupts(decision Decision) bool {
	return p.facts.StartedAt != nil && p.facts.Origin == ucv1.OriginMigrating &&
		(p.facts.CompletedAt == nil || decision.Step == ucv1.StepFinalize && !unknown(decision))
}

// unknown says that it is waited for what could not be looked at.
func unknown(decision Decision) bool { return decision.Wait != nil && decision.Wait.Unknown }

// leasesFirst frees a Lease before anything else is done: no one leads until then. It stands beside what is waited for.
func (p *pass) leasesFirst(before ucv1.Facts, decision Decision) Decision {
	if !p.interrupts(decision) {
		return decision
	}
	action, after := p.freeLease()
	decision.LookAfter = observation.Sooner(decision.LookAfter, after)
	if action == nil {
		action = p.beforeKCMRolls(decision.Action)
	}
	switch {
	case action != nil:
		return p.instead(before, decision, action)
	case decision.Action == nil && !unknown(decision) && p.rightIsOver(decision):
		decision.Action = p.takeBack()
	}
	return decision
}

// instead does another action in this pass. What the one in its place would have recorded is not so yet.
func (p *pass) instead(before ucv1.Facts, decision Decision, action *outcome.Action) Decision {
	if decision.Action != nil {
		p.facts = before
		p.mergeProcesses()
	}
	decision.Action = action
	if action.Kind == outcome.ActionGrantLease {
		p.facts.Handover.KCMLeaseGrantedAt = p.stamp()
	}
	return decision
}
