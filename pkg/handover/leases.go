package handover

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// DeliverySkew is how much later than a process's end we may see a renewal that it made before its end: the two come
// from different API servers. A later one contradicts the end.
const DeliverySkew = 2 * time.Second

// HeldBySilentPod says that a pod leads that runs no cloud loop. The identity begins with the pod's hostname, and with
// hostNetwork old and new pods share that, so the Lease must have been acquired after the container started.
func HeldBySilentPod(lease observation.Lease, kcm observation.Component) bool {
	return slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return !MayRunLoops(process) && process.Started && !process.Ended &&
			HeldBy(lease, process.PodName, process.NodeName, process.Hostname) && !lease.AcquireTime.Before(process.StartedAt)
	})
}

// HeldByTheDead rests on an end that was seen. One that was concluded after the pod had vanished says only when we
// concluded it, and a holder that still renews contradicts it: there the Lease has to run out.
func HeldByTheDead(processes []ucv1.ManagerProcess, lease observation.Lease) bool {
	return slices.ContainsFunc(processes, func(process ucv1.ManagerProcess) bool {
		return process.EndedAt != nil && process.VanishedAt == nil && HeldBy(lease, process.PodName, process.NodeName) &&
			!lease.ChangedAt.After(process.EndedAt.Add(DeliverySkew))
	})
}

// Elects says that KCM elects a leader. Of static pods, one that takes part in the election is enough.
func Elects(kcm observation.Component) bool {
	return kcm.Arguments.True("leader-elect", true) || slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return process.ConfigHash != "" && !process.Ended && process.Arguments.True("leader-elect", true)
	})
}

// HeldBy says that the holder of a Lease is a process on one of these hosts: its identity begins with its hostname.
func HeldBy(lease observation.Lease, hostnames ...string) bool {
	return slices.ContainsFunc(hostnames, func(hostname string) bool {
		return hostname != "" && strings.HasPrefix(lease.Holder, hostname+"_")
	})
}

// LeaseExpiry is how long an unknown holder still has to be waited for, on our clock: the larger of the lease duration
// and the renew deadline plus retry period. The three default to 15, 10 and 2 seconds upstream.
func LeaseExpiry(lease observation.Lease, arguments observation.Arguments, now time.Time) time.Duration {
	last := lease.ChangedAt
	if lease.WatchedAt.After(last) {
		last = lease.WatchedAt
	}
	deadline := arguments.Duration(
		"leader-elect-renew-deadline",
		10*time.Second,
	) + arguments.Duration(
		"leader-elect-retry-period",
		2*time.Second,
	)
	return max(time.Duration(lease.DurationSeconds)*time.Second, 15*time.Second, deadline) - now.Sub(last)
}

// KCMLeaseRole is the name of the Role and the RoleBinding by which we may free KCM's Lease.
const KCMLeaseRole = "ccm-migration:kube-controller-manager-lease"
