package leader

import (
	"flag"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// Options are the flags of an elected program.
type Options struct {
	name            string
	health, metrics string
	election        bool
	namespace       string
	leaseDuration   time.Duration
}

// Flags registers the flags; name is also the Lease's.
func Flags(flags *flag.FlagSet, name, healthAddress string) *Options {
	o := &Options{name: name}
	flags.StringVar(&o.health, "health-probe-address", healthAddress, "address of /healthz and /readyz")
	flags.StringVar(&o.metrics, "metrics-address", "0", "address of /metrics; 0 means none")
	flags.BoolVar(&o.election, "enable-leader-election", true, "run only while holding the Lease")
	flags.StringVar(&o.namespace, "leader-election-namespace", "kube-system", "namespace of the Lease")
	flags.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 15*time.Second, "duration of the Lease")
	return o
}

// New makes the manager. The Lease is given back on SIGTERM, so that the next
// process starts at once.
func (o *Options) New(restConfig *rest.Config) (ctrl.Manager, error) {
	types, err := Scheme()
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                        types,
		NewClient:                     liveClient,
		LeaderElection:                o.election,
		LeaderElectionID:              o.name,
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 new(o.leaseDuration),
		RenewDeadline:                 new(o.leaseDuration * 2 / 3),
		RetryPeriod:                   new(min(o.leaseDuration*2/15, time.Second)),
		HealthProbeBindAddress:        o.health,
		Metrics:                       metricsserver.Options{BindAddress: o.metrics},
		GracefulShutdownTimeout:       new(2 * time.Second),
		// Tests of the testbed run several managers in one process.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager of %s: %w", o.name, err)
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add /healthz: %w", err)
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add /readyz: %w", err)
	}
	return manager, nil
}

// Scheme knows the core, policy and machine types.
func Scheme() (*runtime.Scheme, error) {
	out := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, machines.AddToScheme} {
		if err := add(out); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	return out, nil
}

// liveClient reads from the API server and not from a cache: a stale list would
// make Machines twice, and a testbed has few of them.
func liveClient(restConfig *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(restConfig, options)
}
