package loops

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	defaultInterval = 500 * time.Millisecond
	// defaultTimeout is shorter than a hand-over's gap: a sample tells the time
	// when it was asked for, and is true at some moment until the timeout.
	defaultTimeout = 400 * time.Millisecond
)

// Options are a Sampler's surroundings.
type Options struct {
	// ProcessDir is the registry of processes that the kubelets keep.
	ProcessDir string
	// ManagementCluster is the cluster in whose namespaces user-<name> the
	// control planes of user clusters run; empty is "management".
	ManagementCluster string
	// TLS returns the client certificate that reads the metrics of a user
	// cluster's managers, or nil as long as there is none. The managers sign
	// their own serving certificates, so these are not verified.
	TLS func(cluster string) *tls.Config
	// Out gets the samples and Reads the attempts to take them, one JSON line each.
	Out, Reads io.Writer
	// Interval and Timeout are 500 and 400 milliseconds when zero.
	Interval, Timeout time.Duration
	// Clock is the real one when nil.
	Clock clock.WithTicker
}

// Sampler watches the controller managers.
type Sampler struct {
	options Options

	mu       sync.Mutex
	writeErr error
}

// New returns a Sampler that does nothing until it is run.
func New(options Options) *Sampler {
	if options.ManagementCluster == "" {
		options.ManagementCluster = "management"
	}
	if options.Interval == 0 {
		options.Interval = defaultInterval
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	if options.Reads == nil {
		options.Reads = io.Discard
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	return &Sampler{options: options}
}

// Run samples until the context ends. It returns an error when samples were
// lost, because a file with holes proves nothing.
func (s *Sampler) Run(ctx context.Context) error {
	watches := map[string]*watch{}
	var running sync.WaitGroup
	ticker := s.options.Clock.NewTicker(s.options.Interval)
	defer ticker.Stop()
	for {
		processes, err := readProcesses(s.options.ProcessDir)
		if err != nil {
			return err
		}
		s.update(ctx, &running, watches, processes)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			running.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.writeErr
		}
	}
}

// update starts a watch for each new process and ends those of ended ones.
func (s *Sampler) update(ctx context.Context, running *sync.WaitGroup, watches map[string]*watch, processes map[string]*process) {
	for file, w := range watches {
		if now, found := processes[file]; !found || (now != nil && now.PID != w.process.PID) {
			w.end()
			delete(watches, file)
		}
	}
	for file, p := range processes {
		if p == nil || p.component() == "" || watches[file] != nil {
			continue
		}
		alive, end := context.WithCancel(ctx)
		w := &watch{sampler: s, process: *p, cluster: p.worksFor(s.options.ManagementCluster), end: end}
		watches[file] = w
		running.Go(func() { w.run(ctx, alive) })
	}
}

func (s *Sampler) write(out io.Writer, record any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.NewEncoder(out).Encode(record); err != nil && s.writeErr == nil {
		s.writeErr = fmt.Errorf("write %+v: %w", record, err)
	}
}
