package observation

import "time"

// Lease is a leader election Lease.
type Lease struct {
	Ref
	Holder          string
	DurationSeconds int32
	AcquireTime     time.Time
	RenewTime       time.Time
	// ChangedAt is when, on our clock, it was last seen to change; Watched is since when we have been looking.
	ChangedAt time.Time
	WatchedAt time.Time
	// RenewedBy is when, on our clock, it was renewed last at the latest: a Lease that is read once a minute may have been
	// renewed for the last time long before we saw the change. Only the rate of the other clock counts for it.
	RenewedBy time.Time
	// HeldSince is when, on our clock, we saw the holder take it. Zero: it was held when we looked first.
	HeldSince time.Time
	// Version is its resourceVersion.
	Version string
}

// Alive says that the Lease has a holder who was seen to renew it, and within its duration. One that only acquired it may be a
// manager that crashes at every start.
func (l Lease) Alive(now time.Time) bool {
	return l.Holder != "" && l.RenewTime.After(l.AcquireTime) && l.ChangedAt.After(l.WatchedAt) && l.Fresh(now)
}

// Fresh says that its duration has not gone by since it was renewed.
func (l Lease) Fresh(now time.Time) bool { return now.Sub(l.LastRenewal()) <= l.duration() }

// LastRenewal is no later than the change that we saw. Of a Lease that did not change since we look, only its own time tells.
func (l Lease) LastRenewal() time.Time {
	last, latest := l.RenewedBy, l.ChangedAt
	if !l.ChangedAt.After(l.WatchedAt) {
		last, latest = l.RenewTime, l.WatchedAt
	}
	if last.IsZero() || last.After(latest) {
		return latest
	}
	return last
}

// Renewed says that we saw the Lease change, and within its duration. The first look is no change.
func (l Lease) Renewed(now time.Time) bool {
	return l.ChangedAt.After(l.WatchedAt) && now.Sub(l.ChangedAt) <= l.duration()
}

// Stale says that we looked for longer than the Lease's duration and saw no change.
func (l Lease) Stale(now time.Time) bool {
	return now.Sub(l.ChangedAt) > l.duration() && now.Sub(l.WatchedAt) > l.duration()
}

// DeadSince says that we looked for that long and saw no change.
func (l Lease) DeadSince(now time.Time, long time.Duration) bool {
	return now.Sub(l.ChangedAt) > long && now.Sub(l.WatchedAt) > long
}

func (l Lease) duration() time.Duration {
	return time.Duration(max(l.DurationSeconds, 1)) * time.Second
}

// LeaseRight is ours to free KCM's Lease.
type LeaseRight struct {
	// May says that we may write that Lease, by whatever the user cluster grants.
	May bool
	// There says that something of our own Role and RoleBinding for it is there.
	There bool
}

// Fence says whether the CCM's identity may write its Lease.
type Fence struct {
	// Open says that our Role and RoleBinding are there.
	Open bool
	// Allowed lists the verbs on the Lease that the CCM's identity has, by SubjectAccessReview.
	Allowed []string
	// Identity of the CCM and the Lease's name, for messages.
	Identity string
	Lease    string
}
