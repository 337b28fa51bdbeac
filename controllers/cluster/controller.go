package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// The bounds of one pass, so that a user cluster whose API server hangs cannot hold a worker for long. Reading leaves time to
// act, and neither takes the status the time to say what could not be read.
const (
	readTimeout   = 20 * time.Second
	passTimeout   = 30 * time.Second
	reportTimeout = 10 * time.Second
)

// Reconciler moves user clusters from the in-tree cloud provider to the external one.
type Reconciler struct {
	// Observer reads both clusters; Client finds the Cluster in the cache, and writes.
	Observer *Observer
	Client   client.Client
	// Planner makes plans beside the passes.
	Planner *Planner
	// UserClusters is the way into user clusters.
	UserClusters *usercluster.Registry
	Recorder     events.EventRecorder
	Clock        clock.PassiveClock
	Metrics      *Metrics
	// LookAhead bounds the looks at clusters whose feature is off; the defaults when it is left out.
	LookAhead LookAheadLimits
	// LoadBalancers of clouds are renamed by it, where the Observer can look at them.
	LoadBalancers LoadBalancerRenamer
	// Turns say which Clusters may start; all may when it is left out.
	Turns Turns
	// Suspects are read last and alone; none when it is left out.
	Suspects *Suspects

	pendingTimeline pendingTimeline
	panics          panics
	looks           looks
}

// Turns say which Clusters may start.
type Turns interface {
	// Turn of a Cluster that has not started; absent: it may.
	Turn(ctx context.Context, cluster *ucv1.Cluster, now time.Time) observation.Observed[observation.Turn]
	// Soon says that the turn of a Cluster comes soon, so that it is looked at more often.
	Soon(uid types.UID) bool
	// Wakes are Clusters for which one of these is new.
	Wakes() <-chan event.GenericEvent
}

// The parts of a Reconciler share what it has.

func (r *Reconciler) writer() writer {
	return writer{client: r.Client, own: &r.Observer.management.own}
}

func (r *Reconciler) actor() actor {
	return actor{writer: r.writer(), observer: r.Observer, metrics: r.Metrics, loadBalancers: r.LoadBalancers}
}

func (r *Reconciler) reporter() reporter {
	return reporter{writer: r.writer(), recorder: r.Recorder, metrics: r.Metrics, pending: &r.pendingTimeline}
}

func (r *Reconciler) lookout() lookout {
	return lookout{
		observer: r.Observer, userClusters: r.UserClusters, clock: r.Clock, metrics: r.Metrics,
		limits: r.LookAhead.orDefault(), looks: &r.looks,
	}
}

func (r *Reconciler) wakes() wakes {
	return wakes{client: r.Client, changes: r.Observer.controlPlane.Changes}
}

// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=clusters,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=clusters/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=usercluster.k8c.io,resources=clusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile is one pass: the controller reads the world, a pure function names the one next thing, the controller does
// that one thing, and the status says so.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cluster := &ucv1.Cluster{}
	if err := r.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if wantsFinalizer(cluster) {
		return retryOnConflict(r.writer().addFinalizer(ctx, cluster))
	}
	if !cluster.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(cluster, ucv1.ClusterFinalizer) {
		return ctrl.Result{}, nil
	}

	s := &scope{Pass: status.Pass{Cluster: cluster, Now: r.Clock.Now()}}
	if wait := r.panics.wait(s); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return r.passInTurn(ctx, s)
}

func (r *Reconciler) pass(ctx context.Context, s *scope) (ctrl.Result, error) {
	inTime, cancel := context.WithTimeout(reads.WithBudget(ctx), passTimeout)
	defer cancel()
	r.observeInTime(inTime, s)
	if s.connecting() {
		return ctrl.Result{RequeueAfter: connecting}, nil
	}
	r.decide(inTime, s)
	s.Shown = migration.ShownOf(s.Observed, s.Decision.Rows, s.Now)
	if s.Cluster.ExternalCloudProvider() && !migration.Queues(s.Observed) {
		r.UserClusters.SetMigrating(client.ObjectKeyFromObject(s.Cluster), !s.settled())
		if s.settled() {
			r.Observer.forget(client.ObjectKeyFromObject(s.Cluster))
		}
	}
	s.ActErr = r.actor().act(inTime, s)
	if err := r.reporter().report(ctx, s); err != nil {
		return retryOnConflict(err)
	}
	return result(s)
}

// decide names the next thing, again when it rests on what an earlier pass read: of what is read for it.
func (r *Reconciler) decide(ctx context.Context, s *scope) {
	for read := (migration.Confirmation{}); ; {
		s.Decision = migration.Decide(s.Observed, s.Now)
		needed := migration.ConfirmationOf(s.Cluster, s.needs(), s.Decision)
		if !r.Observer.management.own.keeps || read.Covers(needed) {
			return
		}
		read = read.And(needed)
		r.observeAgainInTime(ctx, s, read)
	}
}

// observeAgainInTime may keep as much as the first look: what that brought is thrown away.
func (r *Reconciler) observeAgainInTime(ctx context.Context, s *scope, what migration.Confirmation) {
	ctx, cancel := context.WithTimeout(reads.WithBudget(ctx), readTimeout)
	defer cancel()
	r.Observer.observeAgain(ctx, s, what)
}

func (r *Reconciler) observeInTime(ctx context.Context, s *scope) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	r.observe(ctx, s)
}

// retryOnConflict: what was computed from an old version is computed again, and no one is told of an error.
func retryOnConflict(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: afterVerb}, nil
	}
	return ctrl.Result{}, err
}

// wantsFinalizer: a Cluster that never was told to migrate needs no goodbye.
func wantsFinalizer(cluster *ucv1.Cluster) bool {
	return cluster.ExternalCloudProvider() && cluster.DeletionTimestamp.IsZero() &&
		!controllerutil.ContainsFinalizer(cluster, ucv1.ClusterFinalizer)
}

func (r *Reconciler) forget(key client.ObjectKey) {
	r.pendingTimeline.take(key)
	r.panics.forget(key)
	r.Suspects.forget(key)
	r.Metrics.standing.gone(key)
	r.lookout().end(key)
	r.Planner.forget(key)
	r.Observer.gone(key)
	r.UserClusters.Forget(key)
}

// The safety nets behind the watches; jitter keeps a fleet from coming back at once.
const (
	firstRetry = 5 * time.Millisecond // as controller-runtime does
	afterVerb  = 500 * time.Millisecond
	connecting = 5 * time.Second
	measuring  = 5 * time.Second // no watch tells of the events of Services
	working    = time.Minute
	resting    = 10 * time.Minute
	queuing    = 30 * time.Minute // its turn wakes it
)

// result is the only place where a pass turns into a ctrl.Result.
func result(s *scope) (ctrl.Result, error) {
	next, err := defaultRequeue(s)
	if late := s.Decision.LookAfter; err == nil && late > 0 && (next.RequeueAfter == 0 || late < next.RequeueAfter) {
		next.RequeueAfter = late
	}
	return next, err
}

func defaultRequeue(s *scope) (ctrl.Result, error) {
	switch {
	case s.ActErr != nil:
		return retryOnConflict(s.ActErr)
	case s.Decision.Next() != nil && s.Decision.Next().Kind != outcome.ActionRestoreAnnotations:
		return ctrl.Result{RequeueAfter: afterVerb}, nil
	case s.Decision.Step == ucv1.StepInTree && s.Decision.Wait == nil:
		return ctrl.Result{}, nil
	case s.Decision.Queued && s.Decision.Wait.After == 0:
		return ctrl.Result{RequeueAfter: jitter(queuing)}, nil
	case s.Decision.Wait != nil || s.Decision.Calls() != nil || s.Observed.Measured.Value().Waits:
		return ctrl.Result{RequeueAfter: requeueWhileWaiting(s)}, nil
	}
	return ctrl.Result{RequeueAfter: jitter(resting)}, nil
}

// requeueWhileWaiting is the soonest of what no watch tells of.
func requeueWhileWaiting(s *scope) time.Duration {
	after := jitter(working)
	if s.Observed.Measured.Value().Waits {
		after = measuring
	}
	if wait := s.Decision.Wait; wait != nil && wait.After > 0 {
		after = min(after, wait.After)
	}
	return after
}

func jitter(d time.Duration) time.Duration {
	return d + rand.N(d/5)
}
