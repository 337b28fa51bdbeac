package usercluster

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// The defaults of Options.
const (
	DefaultConnectWorkers = 32
	DefaultConnectTimeout = 15 * time.Second
	DefaultProbeInterval  = 10 * time.Second
	DefaultQPS            = 50
	DefaultBurst          = 100
)

// Options of a Registry. SecretReader and Scheme are required.
type Options struct {
	// SecretReader reads the kubeconfig Secrets live; a cache of all Secrets is neither needed nor wanted.
	SecretReader client.Reader
	// Management is a client of the management cluster, for what is put beside a control plane there. It must not cache
	// Secrets or objects without a type.
	Management client.Client
	// Scheme of the clients.
	Scheme *runtime.Scheme
	// Clock of probes and leases; default is the real one. A stepped clock stops the probes between its steps.
	Clock clock.WithTicker
	// Allow is what kubeconfigs may use.
	Allow Allow
	// ManagementServer is never dialed for a user cluster; nil where there is none to protect.
	ManagementServer *ManagementServer
	// ConnectWorkers is how many API servers that failed lately are tried at once; as many workers again are kept for
	// those that did not.
	ConnectWorkers int
	// ConnectTimeout is the deadline of one attempt.
	ConnectTimeout time.Duration
	// ProbeInterval is the time between two probes of a cluster that migrates; idle ones are probed less often.
	ProbeInterval time.Duration
	// QPS and Burst limit the requests to one user cluster.
	QPS   float32
	Burst int
	// Kept bounds what a pass may use again that an earlier one read, while a watch would have shown that it changed; nil: nothing
	// is kept.
	Kept *kept.Total
	// Changes are those of the management cluster; nil where nothing of it is kept.
	Changes *controlplane.Changes
	Log     logr.Logger
}

func (o *Options) setDefaults() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.ConnectWorkers <= 0 {
		o.ConnectWorkers = DefaultConnectWorkers
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = DefaultConnectTimeout
	}
	if o.ProbeInterval <= 0 {
		o.ProbeInterval = DefaultProbeInterval
	}
	if o.QPS <= 0 {
		o.QPS = DefaultQPS
	}
	if o.Burst <= 0 {
		o.Burst = DefaultBurst
	}
}

// Registry holds the connections to all user clusters. None of its methods waits for a network.
type Registry struct {
	options Options
	mapper  meta.RESTMapper
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	waker   *waker
	// suspects bounds the attempts at clusters that failed lately, so that they never occupy all workers.
	suspects chan struct{}

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
	closing sync.WaitGroup
}

// NewRegistry returns a registry; it connects once it is started.
func NewRegistry(options Options) *Registry {
	options.setDefaults()
	return &Registry{
		options: options,
		mapper:  knownKinds(),
		queue: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Clock: options.Clock}),
		waker:    newWaker(options.Clock),
		suspects: make(chan struct{}, options.ConnectWorkers),
		entries:  map[types.NamespacedName]*entry{},
	}
}

// Start connects and probes until the context ends; then it closes all connections. It implements manager.Runnable.
func (r *Registry) Start(ctx context.Context) error {
	var workers sync.WaitGroup
	for range 2 * r.options.ConnectWorkers {
		workers.Go(func() { r.work(ctx) })
	}
	workers.Go(func() { r.waker.run(ctx) })
	<-ctx.Done()
	r.queue.ShutDown()
	workers.Wait()

	r.mu.Lock()
	for key := range r.entries {
		r.dropLocked(key)
	}
	r.mu.Unlock()
	r.closing.Wait()
	return nil
}

func (r *Registry) work(ctx context.Context) {
	for {
		key, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		r.attempt(ctx, key)
		r.queue.Done(key)
	}
}

// Events has an event for a cluster whenever its connection or something that is watched changed.
func (r *Registry) Events() <-chan event.GenericEvent {
	return r.waker.events
}

// Ensure makes the cluster wanted, and has its kubeconfig Secret read again soon.
func (r *Registry) Ensure(cluster *ucv1.Cluster) {
	key := client.ObjectKeyFromObject(cluster)
	source := sourceOf(cluster)
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.entries[key]
	if !ok {
		e = &entry{key: key, connection: neverTried(source), migrating: isUnderWay(cluster)}
		r.entries[key] = e
	}
	interval := rereadInterval
	if r.options.Kept != nil && e.connection.Reachable && e.source == source {
		interval = keptInterval
	}
	e.source, e.reread = source, true
	// Reconciles come in bursts; one read of them is enough, and none is lost.
	r.queue.AddAfter(key, e.readAt.Add(interval).Sub(r.options.Clock.Now()))
}

// isUnderWay is what the status says until a pass does: watches that begin before the first pass save it from reading twice.
func isUnderWay(cluster *ucv1.Cluster) bool {
	return cluster.ExternalCloudProvider() && cluster.Status.Step != ucv1.StepFinished && cluster.Status.Step != ucv1.StepRolledBack
}

// Forget closes the connection to a cluster.
func (r *Registry) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLocked(key)
}

func (r *Registry) dropLocked(key types.NamespacedName) {
	if e, ok := r.entries[key]; ok {
		delete(r.entries, key)
		r.closeLocked(e)
	}
}

func (r *Registry) closeLocked(e *entry) {
	if e.session != nil {
		r.closing.Go(e.session.close)
		e.session, e.digest = nil, ""
	}
}

// State says how the connection to a cluster stands.
func (r *Registry) State(key types.NamespacedName) observation.Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[key]; ok {
		return e.told()
	}
	return observation.Connection{Connecting: true, Reason: ucv1.UnreachableReason, Message: "The user cluster is not connected yet"}
}

// Session returns the connection to a cluster, if there is a usable kubeconfig. Whether the API server answers is what
// State says.
func (r *Registry) Session(key types.NamespacedName) (*Session, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[key]; ok && e.session != nil {
		return e.session, true
	}
	return nil, false
}

// SetMigrating says whether the cluster is watched and probed often.
func (r *Registry) SetMigrating(key types.NamespacedName, migrating bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.entries[key]
	if !ok || e.migrating == migrating {
		return
	}
	e.migrating = migrating
	if e.session != nil && (e.answered || !migrating) {
		e.session.setWatching(migrating)
	}
	if soon := r.options.Clock.Now().Add(r.options.ProbeInterval); migrating && e.probeAt.After(soon) {
		e.probeAt = soon
		r.queue.AddAfter(key, r.options.ProbeInterval)
	}
}
