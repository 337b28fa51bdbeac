package facts

import (
	"context"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

const (
	// preflightInterval is how old what preflight reads may be: it is much in a large cluster, and nothing rests on it but the
	// start.
	preflightInterval = 10 * time.Minute
	// preflightRetry is when a look that failed is tried again, and one that saw a Service being deleted: its load balancer
	// takes seconds to go, and it blocks the start.
	preflightRetry = 30 * time.Second
	// preflightTimeout leaves time of a pass for its status, which says what could not be read.
	preflightTimeout = 15 * time.Second
)

// Input says what to look for.
type Input struct {
	// Registries of the cloud, and the identity of its CCM.
	Registries observation.Registries
	Identity   manifest.Identity
	// Generation of the Cluster: a person who changed it wants to know at once.
	Generation int64
	// Source names the Secret with our credentials.
	Source observation.Ref
}

// preflightMemory keeps what was read until the migration starts.
type preflightMemory struct {
	mu         sync.Mutex
	generation int64
	lasting    bool
	read       preflight.Read
	// endedAt is when reading ended, read.At when it began.
	endedAt time.Time
}

// Preflight reads for the checks of that name.
type Preflight struct {
	client   client.Client
	network  *Network
	clock    clock.PassiveClock
	reader   *Reader
	machines machines.API
	rights   []authorizationv1.ResourceAttributes
	expires  time.Time
	memory   *preflightMemory
	watches  *watches.Watches
	cloud    kept.Value[preflight.Cloud]
}

// NewPreflight has read nothing yet.
func NewPreflight(options Options, reader *Reader) *Preflight {
	return &Preflight{
		client: options.Client, network: options.Network, clock: options.Clock, reader: reader,
		machines: options.Machines, rights: options.Rights, expires: options.Expires, memory: &preflightMemory{},
		watches: options.Watches,
	}
}

// Remember what others read of the same user cluster.
func (p *Preflight) Remember(others *Preflight) { p.memory = others.memory }

// Read reads what only preflight asks for: once, and again when it is old or the Cluster was changed.
func (p *Preflight) Read(ctx context.Context, in Input) preflight.Read {
	memory := p.memory
	memory.mu.Lock()
	defer memory.mu.Unlock()
	age := p.clock.Now().Sub(memory.endedAt)
	fresh := age < preflightRetry || memory.lasting && age < preflightInterval
	if memory.generation != in.Generation || memory.read.At.IsZero() || !fresh {
		ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
		defer cancel()
		memory.read = p.read(ctx, in)
		memory.generation, memory.lasting, memory.endedAt = in.Generation, lasting(memory.read), p.clock.Now()
	}
	return memory.read
}

// Forget is for when the migration has started.
func (p *Preflight) Forget() {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	p.memory.read, p.memory.generation = preflight.Read{}, 0
}

func (p *Preflight) read(ctx context.Context, in Input) preflight.Read {
	return preflight.Read{
		At:             p.clock.Now(),
		NodeDetails:    p.NodeDetails(ctx),
		Services:       p.loadBalancers(ctx),
		Volumes:        p.volumes(ctx),
		Attachments:    p.attachmentProblems(ctx),
		StorageClasses: p.reader.StorageClasses(ctx),
		Pods:           p.Pods(ctx, in.Registries),
		Budgets:        p.budgets(ctx),
		Pools:          p.machines.Pools(ctx),
		Webhooks:       p.webhooks(ctx),
		Denied:         p.denied(ctx, in.Identity),
		Credentials:    p.Credentials(in.Source),
		Server:         p.server(ctx),
	}
}

// Credentials says when ours run out, from the kubeconfig that the session was made of: nothing is asked.
func (p *Preflight) Credentials(source observation.Ref) observation.Observed[preflight.Credentials] {
	return observation.Known(preflight.Credentials{Expires: p.expires, Source: source})
}

// lasting says that nothing of it is about to change by itself.
func lasting(read preflight.Read) bool {
	return read.Complete() &&
		!slices.ContainsFunc(read.Services.Value(), func(service preflight.Service) bool { return service.Deleting }) &&
		!slices.ContainsFunc(read.Pools.Value(), func(pool preflight.Pool) bool { return pool.Write.IsUnknown() })
}
