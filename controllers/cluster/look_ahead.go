package cluster

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// The defaults of LookAheadLimits.
const (
	DefaultLooksAtOnce       = 2
	DefaultLookAheadRequests = 10
)

// lookPatience is how long a look watches a Lease whose holder is not known.
const lookPatience = time.Minute

// LookAheadLimits bound the looks at clusters whose feature is off, over the whole fleet.
type LookAheadLimits struct {
	// AtOnce is how many user clusters are looked at at once.
	AtOnce int
	// Requests is how many requests a second all looks send on average: the next look waits until those of the last are paid for.
	Requests float64
}

func (l LookAheadLimits) orDefault() LookAheadLimits {
	if l.AtOnce <= 0 {
		l.AtOnce = DefaultLooksAtOnce
	}
	if l.Requests <= 0 {
		l.Requests = DefaultLookAheadRequests
	}
	return l
}

// looks are those that go on, and until when the requests of those that ended are paid for.
type looks struct {
	mu        sync.Mutex
	open      map[client.ObjectKey]*look
	paidUntil time.Time
}

// look is one at one user cluster. It belongs to the pass that is made for its Cluster.
type look struct {
	startedAt  time.Time
	session    *usercluster.Session
	connection observation.Connection
}

// begin goes on with the look at a Cluster, or takes a turn for one; nil: others have theirs.
// One that is urgent does not wait until those before it are paid for.
func (l *looks) begin(key client.ObjectKey, limits LookAheadLimits, now time.Time, urgent bool) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, goesOn := l.open[key]; goesOn {
		return one
	}
	if len(l.open) >= limits.AtOnce || now.Before(l.paidUntil) && !urgent {
		return nil
	}
	if l.open == nil {
		l.open = map[client.ObjectKey]*look{}
	}
	l.open[key] = &look{startedAt: now}
	return l.open[key]
}

// take the look at a Cluster, which ends; nil when there is none.
func (l *looks) take(key client.ObjectKey) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.open[key]
	delete(l.open, key)
	return one
}

// pay has the next look wait for as long as these requests may take.
func (l *looks) pay(requests int64, limits LookAheadLimits, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paidUntil.Before(now) {
		l.paidUntil = now
	}
	l.paidUntil = l.paidUntil.Add(time.Duration(float64(requests) / limits.Requests * float64(time.Second)))
}

// lookout looks ahead at clusters whose feature is off, or that wait for their turn.
type lookout struct {
	observer     *Observer
	userClusters *usercluster.Registry
	clock        clock.PassiveClock
	metrics      *Metrics
	limits       LookAheadLimits
	looks        *looks
}

// observe reads what preflight asks of a cluster whose feature is off, when that is due. It only reads; a
// SelfSubjectAccessReview and a SubjectAccessReview are created, which is how they are asked, and nothing of them is stored.
func (l lookout) observe(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.Cluster)
	if !s.needs().LookAhead && !migration.LooksNow(s.Observed, s.Now) {
		l.end(key)
		return
	}
	one := l.looks.begin(key, l.limits, s.Now, s.Observed.HourlyLooks)
	if one == nil {
		return
	}
	defer func() {
		if s.Observed.Look != observation.LookGoesOn {
			l.end(key)
		}
	}()
	if one.session == nil {
		one.session, one.connection = l.userClusters.Look(ctx, s.Cluster)
	}
	s.session, s.Observed.Connection = one.session, one.connection
	if l.observer.glimpse(ctx, s) {
		s.Observed.Look = observation.LookDone
		return
	}
	l.observer.observeManagement(ctx, s)
	l.observer.observeControlPlane(ctx, s)
	l.observer.userCluster.observeForLook(ctx, s)
	l.observer.observeMachineController(ctx, s)
	l.observer.userCluster.observeFindings(ctx, s, ucv1.Facts{Origin: ucv1.OriginMigrating})
	s.Observed.Look = observation.LookDone
	// Where there is no way in, no patience shows a leader, and others would wait for the turn.
	if s.session != nil && migration.AwaitsLeader(s.Observed, s.Now) && s.Now.Sub(one.startedAt) < lookPatience {
		s.Observed.Look = observation.LookGoesOn
	}
}

// glimpse is all that is looked at where a Cluster waits for its turn and there is no way into its user cluster: what caches
// show. Thousands may wait, and nothing rests on more. It says whether that was enough.
func (o *Observer) glimpse(ctx context.Context, s *scope) bool {
	if s.session != nil || !migration.Queues(s.Observed) {
		return false
	}
	if !s.Cluster.Spec.ControlPlane.Static() {
		plane, enough := o.controlPlane.Glimpse(ctx, o.management.client, s.Cluster)
		if !enough {
			return false
		}
		s.Observed.ControlPlane = plane
	}
	o.management.observeProvider(ctx, s)
	s.unreachable("the user cluster is not reachable: " + s.Observed.Connection.Message)
	return true
}

// observeForLook reads what the start of a migration rests on, and nothing of what comes after it.
func (u userClusterObserver) observeForLook(ctx context.Context, s *scope) {
	if s.session == nil {
		s.unreachable("the user cluster is not reachable: " + s.Observed.Connection.Message)
		return
	}
	s.Observed.Machines = s.session.Machines.Observe(ctx)
	s.Observed.Nodes = s.session.Facts.Nodes(ctx)
	s.Observed.CCMLease = s.session.Leases.Lease(ctx, s.identity.LeaseNamespace, s.identity.LeaseName)
	namespace, name := s.Observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	s.Observed.KCMLease = s.session.Leases.Lease(ctx, namespace, name)
	s.Observed.Fence = s.session.Leases.Fence(ctx, s.identity)
	s.Observed.Lock = u.observeLock(ctx, s)
	s.Observed.ForeignCCMs = u.observeOtherManagers(ctx, s)
}

// end lets go of the user cluster.
func (l lookout) end(key client.ObjectKey) {
	one := l.looks.take(key)
	if one == nil {
		return
	}
	requests := int64(0)
	if one.session != nil {
		requests = one.session.Close()
	}
	l.looks.pay(requests, l.limits, l.clock.Now())
	l.metrics.looked(requests)
}
