package simcloud

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// headerTimeout frees connections of callers that send nothing.
const headerTimeout = 10 * time.Second

// Options are the server's surroundings.
type Options struct {
	// Log gets one JSON line a call; nil drops them.
	Log io.Writer
	// Clock stamps calls and times latency; nil is the real one.
	Clock clock.Clock
	// Disks is a folder for what is written to volumes; without it they hold nothing.
	Disks string
}

// Server is the simulated cloud. What it holds outlives Stop, so that an
// outage can be staged by Stop and Start.
type Server struct {
	clock   clock.Clock
	disks   disks
	handler http.Handler

	logMu sync.Mutex
	log   io.Writer

	mu      sync.Mutex
	tenants map[string]*tenant
	faults  []*Fault
	serial  int
	http    *http.Server
	done    chan struct{}
}

// New returns a server without clusters.
func New(options Options) *Server {
	s := &Server{clock: options.Clock, log: options.Log, disks: disks{root: options.Disks}, tenants: map[string]*tenant{}}
	if s.clock == nil {
		s.clock = clock.RealClock{}
	}
	if s.log == nil {
		s.log = io.Discard
	}
	s.handler = s.routes()
	return s
}

// Start listens on the address, for example 127.0.0.1:0, and returns the URL
// that clients need.
func (s *Server) Start(addr string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		return "", errors.New("simcloud runs already: stop it first")
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen for simcloud on %s: %w", addr, err)
	}
	server, done := &http.Server{Handler: s.handler, ReadHeaderTimeout: headerTimeout}, make(chan struct{})
	s.http, s.done = server, done
	go func() {
		defer close(done)
		// It returns when Stop closes the server; there is no one to tell.
		_ = server.Serve(listener)
	}()
	return "http://" + listener.Addr().String(), nil
}

// Stop cuts all connections, as an outage does. It may be called twice.
func (s *Server) Stop() error {
	s.mu.Lock()
	server, done := s.http, s.done
	s.http = nil
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	if err := server.Close(); err != nil {
		return fmt.Errorf("stop simcloud: %w", err)
	}
	<-done
	return nil
}

// AddCluster makes a tenant, or gives an existing one a new token.
func (s *Server) AddCluster(cluster, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if existing, found := s.tenants[cluster]; found {
		existing.token = token
		return
	}
	s.tenants[cluster] = newTenant(token)
}

// SetProviderID has the instances of a cluster called by what another cloud calls them.
func (s *Server) SetProviderID(cluster string, providerID func(Instance) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenants[cluster].providerID = providerID
}

// Snapshot returns what the cluster has; empty for an unknown one.
func (s *Server) Snapshot(cluster string) Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.tenants[cluster]
	if !found {
		return Snapshot{}
	}
	return Snapshot{
		Instances:     sorted(t.instances),
		LoadBalancers: sorted(t.loadBalancers),
		Routes:        sorted(t.routes),
		Volumes:       sorted(t.volumes),
	}
}

// tenantOf is called with the server locked.
func (s *Server) tenantOf(cluster string) (*tenant, error) {
	if t, found := s.tenants[cluster]; found {
		return t, nil
	}
	return nil, fmt.Errorf("cluster %q is not known to simcloud: add it first", cluster)
}

// SetInstanceState starts or stops an instance behind the back of everybody.
func (s *Server) SetInstanceState(cluster, name string, state InstanceState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tenantOf(cluster)
	if err != nil {
		return err
	}
	instance, found := t.instances[name]
	if !found {
		return fmt.Errorf("cluster %q has no instance %q: create it first", cluster, name)
	}
	instance.State = state
	t.instances[name] = instance
	return nil
}

// LoseVolume takes a volume away, attached or not, behind the back of everybody.
func (s *Server) LoseVolume(cluster, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tenantOf(cluster)
	if err != nil {
		return err
	}
	volume, found := t.volumes[name]
	if !found {
		return fmt.Errorf("cluster %q has no volume %q: create it first", cluster, name)
	}
	delete(t.volumes, name)
	return s.disks.remove(cluster, volume)
}

// AddRoute makes a route that no cluster asked for.
func (s *Server) AddRoute(cluster string, route Route) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tenantOf(cluster)
	if err != nil {
		return err
	}
	t.routes[route.Name] = route
	return nil
}

// AddFault makes things go wrong from now on.
func (s *Server) AddFault(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault.InstanceMissing = slices.Clone(fault.InstanceMissing)
	s.faults = append(s.faults, &fault)
}

// ClearFaultsOf ends the faults of one cluster.
func (s *Server) ClearFaultsOf(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.DeleteFunc(s.faults, func(fault *Fault) bool { return fault.Cluster == cluster })
}

// ClearFaults ends all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}
