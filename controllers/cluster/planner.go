package cluster

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const (
	// planTimeout bounds the making of one plan, so that a user cluster that hangs does not keep others waiting for theirs. It is
	// well below the time for which an approved plan may start a migration.
	planTimeout = 15 * time.Second
	// planPause is between the question for a plan and its making: what changes together makes one plan.
	planPause = 2 * time.Second
	// maxPlanEvents bounds what waits to be heard. What does not fit is lost, and the next pass asks again.
	maxPlanEvents = 1024
	// planOutdated is why a pass knows no plan.
	planOutdated = "the plan is being made of what both clusters are like now"
)

// Planner makes the plans that persons approve, one at a time and beside the passes: a plan of many MachineDeployments costs
// seconds of CPU, and dry runs of all that would be applied.
//
//	a pass ── asks ──► Planner, one worker: observes both clusters, simulates
//	    ▲                    │
//	    └─── reads it ◄──────┘ has a pass made
type Planner struct {
	observer     *Observer
	client       client.Reader
	userClusters *usercluster.Registry
	clock        clock.PassiveClock
	// asked wakes the worker, made wakes the passes.
	asked, made chan event.GenericEvent

	mu sync.Mutex
	// plans has one for each Cluster that wants one.
	plans map[client.ObjectKey]*planned
}

// planned is what is known of the plan of a Cluster.
type planned struct {
	// wanted says that a pass asked for a new one.
	wanted bool
	// basis is what the plan was made of; empty: there is none.
	basis string
	plan  observation.ForeseenPlan
	// problem is why there is none although one was to be made.
	problem string
}

// NewPlanner makes no plan before a pass asks for it.
func NewPlanner(observer *Observer, c client.Reader, userClusters *usercluster.Registry, clk clock.PassiveClock) *Planner {
	return &Planner{
		observer: observer, client: c, userClusters: userClusters, clock: clk,
		asked: make(chan event.GenericEvent, maxPlanEvents), made: make(chan event.GenericEvent, maxPlanEvents),
		plans: map[client.ObjectKey]*planned{},
	}
}

func (p *Planner) setupWithManager(mgr ctrl.Manager) error {
	later := handler.Funcs{GenericFunc: func(
		_ context.Context, asks event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	) {
		queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(asks.Object)}, planPause)
	}}
	return ctrl.NewControllerManagedBy(mgr).Named("plan").
		WatchesRawSource(source.Channel(p.asked, later)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, LogConstructor: logOf(mgr)}).
		Complete(p)
}

// Reconcile makes the plan of a Cluster when a pass asked for it, and has a pass read it.
func (p *Planner) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p.mu.Lock()
	before := p.plans[req.NamespacedName]
	wanted := before != nil && before.wanted
	p.mu.Unlock()
	if !wanted {
		return ctrl.Result{}, nil
	}
	made := p.makeGuarded(ctx, req.NamespacedName)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans[req.NamespacedName] == before { // Otherwise it was forgotten meanwhile.
		p.plans[req.NamespacedName] = made
		wake(p.made, req.NamespacedName)
	}
	return ctrl.Result{}, nil
}

// makeGuarded says it when the making panics. Like a pass, it says nothing of the cause, which may quote what was read.
func (p *Planner) makeGuarded(ctx context.Context, key client.ObjectKey) (made *planned) {
	readAt := p.clock.Now()
	defer func() {
		if cause := recover(); cause != nil {
			log.FromContext(ctx).Error(kindOf(cause), "The making of a plan panicked", "stack", string(debug.Stack()))
			made = &planned{problem: "the controller has a fault that this cluster brings out; report the stack in the controller's log"}
		}
		made.plan.MadeAt = readAt
	}()
	ctx, cancel := context.WithTimeout(reads.WithBudget(ctx), planTimeout)
	defer cancel()
	cluster := &ucv1.Cluster{}
	if err := p.client.Get(ctx, key, cluster); err != nil {
		return &planned{problem: err.Error()}
	}
	session, connected := p.userClusters.Session(key)
	if !connected {
		return &planned{problem: "the user cluster was not reachable"}
	}
	input, basis, err := p.observer.planInput(ctx, cluster, session, readAt)
	if err != nil {
		return &planned{problem: err.Error()}
	}
	readAt = p.clock.Now() // A large plan takes longer to make than a migration may start with what was read.
	foreseen := plan.Make(input)
	return &planned{basis: basis, plan: observation.ForeseenPlan{Digest: foreseen.Digest, Summary: foreseen.Summary}}
}

// observe is what a pass knows of the plan of its Cluster. One is known only while it was made of what the pass itself sees. The
// approved one has to be a new one, too, because a migration starts with it.
func (p *Planner) observe(s *scope) observation.Observed[observation.ForeseenPlan] {
	basis := basisOf(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := client.ObjectKeyFromObject(s.Cluster)
	one := p.plans[key]
	if one == nil {
		one = &planned{}
		p.plans[key] = one
	}
	current := one.basis == basis || one.problem != ""
	lasts := current && start.PlanLasts(one.plan, s.Cluster, s.Now)
	if !lasts && !one.wanted {
		one.wanted = wake(p.asked, key)
	}
	switch {
	case !current:
		return observation.Unknown[observation.ForeseenPlan](planOutdated)
	case one.problem != "":
		return observation.Unknown[observation.ForeseenPlan](one.problem)
	case !lasts && one.plan.Digest == s.Cluster.Spec.Approval.PlanDigest:
		return observation.Unknown[observation.ForeseenPlan](planOutdated)
	}
	return observation.Known(one.plan)
}

// forget the plan of a Cluster that is gone, or wants none any more.
func (p *Planner) forget(key client.ObjectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.plans, key)
}

// wake does not wait for a slow reader.
func wake(events chan event.GenericEvent, key client.ObjectKey) bool {
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	select {
	case events <- event.GenericEvent{Object: cluster}:
		return true
	default:
		return false
	}
}
