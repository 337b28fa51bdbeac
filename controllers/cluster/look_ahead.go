package cluster

import (
	"context"
	"sync"
	"time"

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
func (l *looks) begin(key client.ObjectKey, limits LookAheadLimits, now time.Time) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, goesOn := l.open[key]; goesOn {
		return one
	}
	if len(l.open) >= limits.AtOnce || now.Before(l.paidUntil) {
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

// lookAhead observes what preflight asks of a cluster whose feature is off, when that is due. It only reads; a
// SelfSubjectAccessReview and a SubjectAccessReview are created, which is how they are asked, and nothing of them is stored.
func (r *Reconciler) lookAhead(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.cluster)
	if !s.needs().LookAhead {
		r.endLook(key)
		return
	}
	one := r.looks.begin(key, r.LookAhead.orDefault(), s.now)
	if one == nil {
		return
	}
	defer func() {
		if s.observed.Look != observation.LookGoesOn {
			r.endLook(key)
		}
	}()
	if one.session == nil {
		one.session, one.connection = r.UserClusters.Look(ctx, s.cluster)
	}
	s.session, s.observed.Connection = one.session, one.connection
	r.Observer.observeManagement(ctx, s)
	r.Observer.observeControlPlane(ctx, s)
	r.Observer.observeForLook(ctx, s)
	r.Observer.observeMachineController(ctx, s)
	r.Observer.observeFindings(ctx, s, ucv1.Facts{Origin: ucv1.OriginMigrating})
	s.observed.Look = observation.LookDone
	if migration.AwaitsLeader(s.observed, s.now) && s.now.Sub(one.startedAt) < lookPatience {
		s.observed.Look = observation.LookGoesOn
	}
}

// observeForLook reads what the start of a migration rests on, and nothing of what comes after it.
func (o *Observer) observeForLook(ctx context.Context, s *scope) {
	if s.session == nil {
		s.unreachable("the user cluster is not reachable: " + s.observed.Connection.Message)
		return
	}
	s.observed.Machines = s.session.Machines.Observe(ctx)
	s.observed.Nodes = s.session.Facts.Nodes(ctx)
	s.observed.CCMLease = s.session.Leases.Lease(ctx, s.identity.LeaseNamespace, s.identity.LeaseName)
	namespace, name := s.observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	s.observed.KCMLease = s.session.Leases.Lease(ctx, namespace, name)
	s.observed.Fence = s.session.Leases.Fence(ctx, s.identity)
	s.observed.Lock = o.observeLock(ctx, s)
	s.observed.ForeignCCMs = o.observeOtherManagers(ctx, s)
}

// endLook lets go of the user cluster.
func (r *Reconciler) endLook(key client.ObjectKey) {
	one := r.looks.take(key)
	if one == nil {
		return
	}
	requests := int64(0)
	if one.session != nil {
		requests = one.session.Close()
	}
	r.looks.pay(requests, r.LookAhead.orDefault(), r.Clock.Now())
	r.Metrics.looked(requests)
}
