package migration

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
