package apiserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const (
	// defaultTimeout of a start is far above the usual few seconds, for busy machines.
	defaultTimeout = 90 * time.Second
	pollInterval   = 100 * time.Millisecond
	// stopGrace is how long an API server may finish its requests; its watches would
	// hold it up much longer.
	stopGrace = time.Second
	// failureBacklog is more than there are processes that can fail.
	failureBacklog = 8
)

// Options describe one control plane.
type Options struct {
	// Name of the cluster, for kubeconfigs and errors.
	Name string
	// Index tells the clusters of a testbed apart (management is 1); Service
	// addresses are taken from 10.(100+Index).0.0/16.
	Index int
	// Dir holds certificates, kubeconfigs, etcd's data and logs.
	Dir string
	// BinDir holds etcd, kube-apiserver, kube-scheduler and kube-controller-manager.
	BinDir string
	// Supervisor starts the processes.
	Supervisor *process.Supervisor
	// WithScheduler and WithControllerManager also run these components; the
	// controller manager has no cloud provider.
	WithScheduler, WithControllerManager bool
	// APIServerArgs and ControllerManagerArgs are added to, and win over, the defaults.
	APIServerArgs, ControllerManagerArgs []string
	// Timeout bounds the start; 90 seconds by default.
	Timeout time.Duration
	// Audited has every request written down; see AuditLog.
	Audited bool
}

// Cluster is a running control plane.
type Cluster struct {
	options  Options
	files    Files
	ca       *authority
	admin    *rest.Config
	ports    ports
	audit    audit.Log
	failures chan error

	mu        sync.Mutex
	apiserver *process.Process
	others    []*process.Process
}

// Start starts a control plane and returns when its API server is ready. After a
// failure nothing runs.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if options.Supervisor == nil {
		return nil, fmt.Errorf("start cluster %s: no process supervisor given", options.Name)
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	c := &Cluster{
		options:  options,
		files:    filesIn(filepath.Join(options.Dir, "pki")),
		failures: make(chan error, failureBacklog),
	}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, fmt.Errorf("start cluster %s: %w", options.Name, err)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.ca, err = writePKI(c.files); err != nil {
		return err
	}
	if c.options.Audited {
		if c.audit, err = audit.New(filepath.Join(c.options.Dir, "logs")); err != nil {
			return err
		}
	}
	if c.ports, err = reservePorts(); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	if err := c.run("etcd", c.etcdArgs()); err != nil {
		return err
	}
	// The API server retries etcd, so the two start side by side.
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if c.options.WithScheduler {
		if err := c.run("kube-scheduler", c.schedulerArgs()); err != nil {
			return err
		}
	}
	if c.options.WithControllerManager {
		return c.run("kube-controller-manager", c.controllerManagerArgs())
	}
	return nil
}

// run starts a component that lives as long as the cluster.
func (c *Cluster) run(component string, args []string) error {
	p, err := c.spawn(component, args)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = append(c.others, p)
	return nil
}

func (c *Cluster) spawn(component string, args []string) (*process.Process, error) {
	p, err := c.options.Supervisor.Start(process.Options{
		Name:    component + " of cluster " + c.options.Name,
		Command: filepath.Join(c.options.BinDir, component),
		Args:    args,
		LogFile: c.LogFile(component),
	})
	if err != nil {
		return nil, err
	}
	go func() {
		<-p.Done()
		if !p.Stopping() {
			c.failures <- p.Failure()
		}
	}()
	return p, nil
}

// StartAPIServer starts the API server, on the same port as ever, and waits until
// it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	running := c.apiserver != nil
	c.mu.Unlock()
	if running {
		return errors.New("the API server already runs; stop it first")
	}
	p, err := c.spawn("kube-apiserver", c.apiserverArgs())
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.apiserver = p
	c.mu.Unlock()
	return c.awaitReady(ctx, p)
}

// StopAPIServer ends the API server; everything else keeps running.
func (c *Cluster) StopAPIServer(ctx context.Context) error {
	c.mu.Lock()
	p := c.apiserver
	c.apiserver = nil
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Stop(ctx, stopGrace)
}

func (c *Cluster) awaitReady(ctx context.Context, p *process.Process) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("client of the API server: %w", err)
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollInterval, c.options.Timeout, true, func(ctx context.Context) (bool, error) {
		// Without etcd the API server would only wait; a dead one of either says why.
		select {
		case err := <-c.failures:
			return false, err
		case <-p.Done():
			return false, p.Failure()
		default:
		}
		last = client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil, nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("the API server is not ready after %s (%w); read its log %s", c.options.Timeout, last, p.LogFile())
	}
	return err
}

// Failures reports every component that ended although no one asked it to.
func (c *Cluster) Failures() <-chan error { return c.failures }

// Files are the paths of the cluster's keys, certificates and kubeconfigs.
func (c *Cluster) Files() Files { return c.files }

// CA is the certificate, in PEM, that vouches for the API server.
func (c *Cluster) CA() []byte { return c.ca.pem }

// AuditLog has what was asked of the API server, of an audited cluster.
func (c *Cluster) AuditLog() audit.Log { return c.audit }

// LogFile is the path of a component's log.
func (c *Cluster) LogFile(component string) string {
	return filepath.Join(c.options.Dir, "logs", component+".log")
}

// Stop kills the control plane; its data is of no further use.
func (c *Cluster) Stop() {
	c.mu.Lock()
	processes := c.others
	if c.apiserver != nil {
		processes = append(processes, c.apiserver)
	}
	c.others, c.apiserver = nil, nil
	c.mu.Unlock()
	for _, p := range processes {
		p.Kill()
	}
	for _, p := range processes {
		<-p.Done()
	}
	c.ports.release()
	c.ports.etcd.socket, c.ports.apiserver.socket = 0, 0
}
