package leases

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// Lease reads a leader election Lease, and says since when we look and when we last saw it change, on our own clock:
// the timestamps in it come from clocks that no one vouches for.
func (e *Elections) Lease(ctx context.Context, namespace, name string) observation.Observed[observation.Lease] {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	e.watches.Lease(key, &leaseStore{key: key, tracker: e.tracker, wake: e.watches.Wake})
	look := leaseLook{at: e.clock.Now(), watched: e.watches.SeesLease(key), before: e.tracker.get(key),
		writes: e.watches.Mark(coordinationv1.SchemeGroupVersion.WithResource("leases")).Changes}
	if look.suffices(ctx) {
		return look.before.asSeen()
	}
	lease := &coordinationv1.Lease{}
	switch err := e.client.Get(ctx, key, lease); {
	case apierrors.IsNotFound(err):
		e.tracker.read(key, look, nil)
		return observation.Absent[observation.Lease]()
	case err != nil:
		return observation.Unknown[observation.Lease](reads.Because("reading Lease "+key.String(), err))
	}
	return e.tracker.read(key, look, lease).asSeen()
}

// leaseLook is one look at a Lease: when, whether a watch shows changes of it, what was known of it, and how often we wrote
// Leases.
type leaseLook struct {
	at      time.Time
	watched bool
	before  leaseRecord
	writes  uint64
}

// suffices says that it need not be read: a watch shows changes of it, and we wrote none since. A proof takes nothing that
// was not read, or that may be older than what was.
func (l leaseLook) suffices(ctx context.Context) bool {
	return l.watched && l.before.writes == l.writes && l.before.standsFor(l.at) && kept.IsFresh(ctx, l.before.readAt)
}

// mostSilence is how long what a watch delivered of a Lease may stand for it: a Lease that is renewed has the next renewal by
// then, and one that is not is read, because a watch whose connection died shows no renewals either.
const mostSilence = 5 * time.Second

// leaseTracker remembers when Leases were seen to change.
type leaseTracker struct {
	clock clock.Clock
	mu    sync.Mutex
	seen  map[types.NamespacedName]leaseRecord
}

type leaseRecord struct {
	watchedAt time.Time
	changedAt time.Time
	// renewedBy is when it was renewed last at the latest, noted when it was last looked at or delivered.
	renewedBy, noted time.Time
	// heldSince is when its holder was seen to take it; zero: before we looked.
	heldSince time.Time
	ref       observation.Ref
	version   string
	exists    bool
	spec      coordinationv1.LeaseSpec
	// delivered says that a watch showed it as it is here, or would have shown what changed since it was read. shownAt is when.
	delivered bool
	shownAt   time.Time
	// told counts what a watch said. readAt is when it was read, if a watch showed nothing since but newer versions; by then we had
	// written Leases that often.
	told   uint64
	readAt time.Time
	writes uint64
}

// standsFor says that what a watch delivered is so, or what was read beside it. One that does not exist is not made often.
func (r leaseRecord) standsFor(now time.Time) bool {
	most := mostSilence
	if !r.exists {
		most = kept.MostAge
	}
	return r.delivered && now.Sub(r.shownAt) < most
}

func (r leaseRecord) asSeen() observation.Observed[observation.Lease] {
	if !r.exists {
		return observation.Absent[observation.Lease]()
	}
	return observation.Known(observation.Lease{
		Ref:             r.ref,
		Holder:          ptr.Deref(r.spec.HolderIdentity, ""),
		DurationSeconds: ptr.Deref(r.spec.LeaseDurationSeconds, 0),
		AcquireTime:     ptr.Deref(r.spec.AcquireTime, metav1.MicroTime{}).Time,
		RenewTime:       ptr.Deref(r.spec.RenewTime, metav1.MicroTime{}).Time,
		ChangedAt:       r.changedAt,
		WatchedAt:       r.watchedAt,
		RenewedBy:       r.renewedBy,
		HeldSince:       r.heldSince,
		Version:         r.version,
	})
}

func newLeaseTracker(clk clock.Clock) *leaseTracker {
	return &leaseTracker{clock: clk, seen: map[types.NamespacedName]leaseRecord{}}
}

func (t *leaseTracker) get(key types.NamespacedName) leaseRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[key]
}

// deliver notes what a watch saw, unless it is older than what was read meanwhile.
func (t *leaseTracker) deliver(key types.NamespacedName, lease *coordinationv1.Lease) (holderChanged bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if older(lease.ResourceVersion, t.seen[key].version) {
		return false
	}
	before := t.seen[key]
	holderChanged = t.note(key, lease)
	if record := t.seen[key]; before.exists && older(before.version, lease.ResourceVersion) {
		record.readAt = before.readAt // It came after what was read.
		t.seen[key] = record
	}
	t.tell(key, true)
	return holderChanged
}

// deliverAbsent notes that a watch began without it.
func (t *leaseTracker) deliverAbsent(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(key, nil)
	t.tell(key, true)
}

// tell is called with the lock held, when a watch says something.
func (t *leaseTracker) tell(key types.NamespacedName, delivered bool) {
	record := t.seen[key]
	record.delivered, record.shownAt = delivered, t.clock.Now()
	record.told++
	t.seen[key] = record
}

// mustRead says that what is known of a Lease does not stand for it any more.
func (t *leaseTracker) mustRead(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(key, false)
}

// read notes what a look brought, nil: no Lease, and returns what is known now: the newer one that a watch delivered meanwhile,
// else a holder who is gone would count as one who renewed. A read that is older than what was known before it is believed: a
// user cluster that was restored from a backup counts from an earlier version again. When a watch said something meanwhile, no
// one knows which of the two came last, and it is read again the next time.
func (t *leaseTracker) read(key types.NamespacedName, look leaseLook, lease *coordinationv1.Lease) leaseRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	if lease != nil && older(lease.ResourceVersion, t.seen[key].version) && !older(lease.ResourceVersion, look.before.version) {
		return t.seen[key]
	}
	t.note(key, lease)
	if record := t.seen[key]; look.watched && record.told == look.before.told {
		record.delivered, record.shownAt, record.readAt, record.writes = true, look.at, look.at, look.writes
		t.seen[key] = record
	}
	return t.seen[key]
}

// older says that a version is older than another one, as far as they can be compared.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// note is called with the lock held; it says whether the holder changed.
func (t *leaseTracker) note(key types.NamespacedName, lease *coordinationv1.Lease) (holderChanged bool) {
	now := t.clock.Now()
	before, looked := t.seen[key]
	after := before
	after.noted, after.exists, after.spec, after.delivered = now, false, coordinationv1.LeaseSpec{}, false
	after.readAt = time.Time{} // What a watch shows was not read.
	if lease != nil {
		after.version, after.exists, after.spec = lease.ResourceVersion, true, lease.Spec
		after.ref = observation.Ref{Kind: "Lease", Namespace: key.Namespace, Name: key.Name, UID: string(lease.UID)}
	}
	if !looked {
		after.watchedAt = now
	}
	changed := !looked || after.exists != before.exists || !equality.Semantic.DeepEqual(after.spec, before.spec)
	if changed {
		after.changedAt, after.renewedBy = now, renewedBy(before, after, now)
	}
	holderChanged = ptr.Deref(after.spec.HolderIdentity, "") != ptr.Deref(before.spec.HolderIdentity, "")
	if looked && holderChanged {
		after.heldSince = now
	}
	t.seen[key] = after
	return !looked || holderChanged
}

// renewedBy is the latest moment, on our clock, of the last renewal: when we looked before it was no later than then, and since
// then the other clock went as far as the Lease says. Only its rate counts. A holder that is new, or a clock that was set back,
// says nothing.
func renewedBy(before, after leaseRecord, now time.Time) time.Time {
	was, is := ptr.Deref(before.spec.RenewTime, metav1.MicroTime{}), ptr.Deref(after.spec.RenewTime, metav1.MicroTime{})
	sameHolder := ptr.Deref(before.spec.HolderIdentity, "") == ptr.Deref(after.spec.HolderIdentity, "")
	if ptr.Deref(after.spec.HolderIdentity, "") == "" && !was.IsZero() && is.Equal(&was) {
		return before.renewedBy // Its holder was cleared, and no one renewed it.
	}
	if before.noted.IsZero() || was.IsZero() || !sameHolder || is.Before(&was) {
		return now
	}
	if latest := before.noted.Add(is.Sub(was.Time)); latest.Before(now) {
		return latest
	}
	return now
}

// leaseStore feeds the tracker from a watch, and wakes when the Lease got another holder. Renewals wake no one.
type leaseStore struct {
	key     types.NamespacedName
	tracker *leaseTracker
	wake    func()
}

// Add implements cache.ReflectorStore.
func (l *leaseStore) Add(object any) error { return l.Update(object) }

// Update implements cache.ReflectorStore.
func (l *leaseStore) Update(object any) error {
	if lease, ok := object.(*coordinationv1.Lease); ok && l.tracker.deliver(l.key, lease) {
		l.wake()
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (l *leaseStore) Delete(any) error {
	l.tracker.mustRead(l.key)
	l.wake()
	return nil
}

// Replace implements cache.ReflectorStore.
func (l *leaseStore) Replace(objects []any, _ string) error {
	l.tracker.mustRead(l.key)
	if len(objects) == 0 {
		l.tracker.deliverAbsent(l.key)
	}
	for _, object := range objects {
		if err := l.Update(object); err != nil {
			return err
		}
	}
	l.wake()
	return nil
}

// Resync implements cache.ReflectorStore.
func (l *leaseStore) Resync() error { return nil }
