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
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// resync is how often the caches of an elected program deliver everything again.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/cmd/machine-controller/main.go#L296
const resync = 5 * time.Minute

// Options are the flags of an elected program.
type Options struct {
	name            string
	health, metrics string
	election        bool
	namespace       string
}

// Flags registers the flags; name is also the Lease's.
func Flags(flags *flag.FlagSet, name, healthAddress string) *Options {
	o := &Options{name: name}
	flags.StringVar(&o.health, "health-probe-address", healthAddress, "address of /healthz and /readyz")
	flags.StringVar(&o.metrics, "metrics-address", "0", "address of /metrics; 0 means none")
	flags.BoolVar(&o.election, "enable-leader-election", true, "run only while holding the Lease")
	flags.StringVar(&o.namespace, "leader-election-namespace", "kube-system", "namespace of the Lease")
	return o
}

// New makes the manager.
func (o *Options) New(restConfig *rest.Config) (ctrl.Manager, error) {
	types, err := Scheme()
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(restConfig, o.managerOptions(types))
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

// managerOptions: with the usual Lease, which stays held when the process ends. The next one works only once it has expired, 15
// seconds after it was last renewed, and 2 more until it looks.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/cmd/machine-controller/main.go#L325-L335 (createManager)
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/cmd/osm-controller/main.go#L329 (createManager)
func (o *Options) managerOptions(types *runtime.Scheme) ctrl.Options {
	return ctrl.Options{
		Scheme:                  types,
		NewClient:               liveClient,
		Cache:                   cache.Options{SyncPeriod: new(resync)},
		LeaderElection:          o.election,
		LeaderElectionID:        o.name,
		LeaderElectionNamespace: o.namespace,
		HealthProbeBindAddress:  o.health,
		Metrics:                 metricsserver.Options{BindAddress: o.metrics},
		GracefulShutdownTimeout: new(2 * time.Second),
		// Tests of the testbed run several managers in one process.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
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
