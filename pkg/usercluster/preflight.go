package usercluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
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

// PreflightInput says what to look for.
type PreflightInput struct {
	// Registries of the cloud, and the identity of its CCM.
	Registries observation.Registries
	Identity   provider.Identity
	// Generation of the Cluster: a person who changed it wants to know at once.
	Generation int64
	// Source names the Secret with our credentials.
	Source string
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

// Preflight reads what only preflight asks for: once, and again when it is old or the Cluster was changed.
func (s *Session) Preflight(ctx context.Context, in PreflightInput) preflight.Read {
	memory := s.preflight
	memory.mu.Lock()
	defer memory.mu.Unlock()
	age := s.clock.Now().Sub(memory.endedAt)
	fresh := age < preflightRetry || memory.lasting && age < preflightInterval
	if memory.generation != in.Generation || memory.read.At.IsZero() || !fresh {
		ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
		defer cancel()
		memory.read = s.readPreflight(ctx, in)
		memory.generation, memory.lasting, memory.endedAt = in.Generation, lasting(memory.read), s.clock.Now()
	}
	return memory.read
}

// ForgetPreflight is for when the migration has started.
func (s *Session) ForgetPreflight() {
	s.preflight.mu.Lock()
	defer s.preflight.mu.Unlock()
	s.preflight.read, s.preflight.generation = preflight.Read{}, 0
}

func (s *Session) readPreflight(ctx context.Context, in PreflightInput) preflight.Read {
	return preflight.Read{
		At:             s.clock.Now(),
		NodeDetails:    s.nodeDetails(ctx),
		Services:       s.loadBalancers(ctx),
		Volumes:        s.volumes(ctx),
		Attachments:    s.attachmentProblems(ctx),
		StorageClasses: s.StorageClasses(ctx),
		Pods:           s.podFacts(ctx, in.Registries),
		Budgets:        s.budgets(ctx),
		Pools:          s.Machines.Pools(ctx),
		Webhooks:       s.webhooks(ctx),
		Denied:         s.denied(ctx, in.Identity),
		Credentials:    s.Credentials(in.Source),
		Server:         s.server(ctx),
	}
}

// Credentials says when ours run out, from the kubeconfig that the session was made of: nothing is asked.
func (s *Session) Credentials(source string) observation.Observed[preflight.Credentials] {
	return observation.Known(preflight.Credentials{Expires: s.credentials.expires, Source: source})
}

// lasting says that nothing of it is about to change by itself.
func lasting(read preflight.Read) bool {
	return read.Complete() && !slices.ContainsFunc(read.Services.Value(), func(service preflight.Service) bool { return service.Deleting })
}
