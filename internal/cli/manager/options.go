package manager

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// The ways to the webhook's serving certificate.
const (
	mountedCertificates     = "mounted"
	selfManagedCertificates = "self-managed"
	noCertificates          = "none"
)

// managerOptions are the flags of the manager.
type managerOptions struct {
	namespace      string
	namespaces     []string
	leaderElect    bool
	healthAddress  string
	metricsAddress string

	webhookCertificates string
	webhookHost         string
	webhookPort         int
	certificateDir      string

	workers        int
	connectWorkers int
	lookAhead      cluster.LookAheadLimits
	allow          usercluster.Allow
	ownAddresses   []string
	stateDirectory string

	requireCloudConfigLabel bool

	fleetAdmission     string
	maxUnmanagedStarts int

	log zap.Options
	// waits are hidden: they are for testbeds.
	waits map[string]string
}

func (o *managerOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.namespace, "namespace", "ccm-migration-system", "Namespace of the manager: its Lease and its webhook "+
		"certificate are there.")
	flags.StringSliceVar(&o.namespaces, "namespaces", nil, "Namespaces whose Clusters are looked at; default is all. With it, "+
		"the manager needs no right elsewhere but for Nodes, by name, and ProviderProfiles.")
	flags.BoolVar(&o.leaderElect, "leader-elect", true, "Let only one of several managers work; otherwise each does everything.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz.")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "Address of /metrics: HTTPS, authenticated and "+
		"authorized by the management cluster. 0 switches it off.")

	flags.StringVar(&o.webhookCertificates, "webhook-certificates", mountedCertificates, "Where the webhook's certificate comes "+
		"from: mounted (such as by cert-manager), self-managed, or none: no webhook is served, and the controller adds the "+
		"annotations.")
	flags.StringVar(&o.webhookHost, "webhook-host", "", "Address the webhook listens on; default is all.")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "Port of the webhook.")
	flags.StringVar(&o.certificateDir, "webhook-certificate-dir", "/tmp/k8s-webhook-server/serving-certs", "Directory with "+
		"tls.crt and tls.key of the webhook.")

	flags.IntVar(&o.workers, "workers", 10, "How many Clusters are looked at at once.")
	flags.IntVar(&o.connectWorkers, "connect-workers", usercluster.DefaultConnectWorkers, "How many user clusters that failed "+
		"lately are tried at once.")
	flags.IntVar(&o.lookAhead.AtOnce, "look-ahead-concurrency", cluster.DefaultLooksAtOnce, "How many user clusters whose "+
		"feature is off are looked at at once.")
	flags.Float64Var(&o.lookAhead.Requests, "look-ahead-qps", cluster.DefaultLookAheadRequests, "How many requests a second all "+
		"these looks send to user clusters, on average over the fleet.")
	flags.StringVar(&o.fleetAdmission, "fleet-admission", string(fleet.Optional), "Whether a Cluster that no FleetMigration "+
		"selects may start to migrate: Optional, it may, or Required, it waits until one does. Required is for fleets.")
	flags.IntVar(&o.maxUnmanagedStarts, "max-unmanaged-starts", defaultUnmanagedStarts, "How many Clusters that no FleetMigration "+
		"selects may start to migrate within an hour. 0 lets none start.")
	flags.StringVar(&o.stateDirectory, "state-dir", "", "Directory for a small file while a Cluster is looked at. Those that are "+
		"there at the start name the Clusters on which "+
		"the manager may have died; they are looked at last and alone. Default is none.")
	management.BindAllow(flags, &o.allow)
	flags.StringSliceVar(&o.ownAddresses, managementServerAddresses, nil, "Further addresses, such as seed.example.com:6443, of "+
		"the management "+
		"cluster's own API server, which no kubeconfig of a user cluster may name. The one that the manager uses and those of "+
		"EndpointSlice default/kubernetes are known.")
	flags.BoolVar(&o.requireCloudConfigLabel, "require-cloud-config-label", false, "Take only Secrets for cloud configurations "+
		"that say so by label "+
		ucv1.CloudConfigLabel+"=true, or by that type: without it, whoever writes a Cluster has any fitting Secret of its namespace "+
		"copied into a user cluster.")
	o.log.TimeEncoder = zapcore.RFC3339TimeEncoder
	known := flag.NewFlagSet("log", flag.ContinueOnError)
	o.log.BindFlags(known)
	flags.AddGoFlagSet(known)
	flags.StringToStringVar(&o.waits, unsafeWaits, nil, "Shorten waits that prove something, in testbeds only: with another "+
		"cluster a loop may run twice.")
	_ = flags.MarkHidden(unsafeWaits)
}

const (
	// defaultUnmanagedStarts is for a hand that moves clusters one by one, and not for a commit that flips hundreds.
	defaultUnmanagedStarts = 5

	unsafeWaits               = "unsafe-waits"
	managementServerAddresses = "management-api-server-addresses"
)

// deadlines are the real ones, but for waits that a testbed shortens.
func (o *managerOptions) deadlines() (observation.Deadlines, error) {
	deadlines := observation.RealDeadlines()
	for name, text := range o.waits {
		to, err := time.ParseDuration(text)
		if err != nil || !deadlines.ShortenWait(name, to) {
			return deadlines, fmt.Errorf(
				"--%s %s=%s: it is no wait that can be shortened, or %s is not shorter",
				unsafeWaits,
				name,
				text,
				text,
			)
		}
	}
	return deadlines, nil
}

// defaultNamespaces of the cache: none stands for all.
func (o *managerOptions) defaultNamespaces() map[string]cache.Config {
	var some map[string]cache.Config
	for _, namespace := range o.namespaces {
		if some == nil {
			some = map[string]cache.Config{}
		}
		some[namespace] = cache.Config{}
	}
	return some
}

func (o *managerOptions) validate() error {
	var errs []error
	for _, namespace := range o.namespaces {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("--namespaces has %q, which is no name of a namespace: %s", namespace, problems[0]))
		}
	}
	if known := []string{
		mountedCertificates,
		selfManagedCertificates,
		noCertificates,
	}; !slices.Contains(
		known,
		o.webhookCertificates,
	) {
		errs = append(
			errs,
			fmt.Errorf("--webhook-certificates is %q; it is one of %s", o.webhookCertificates, strings.Join(known, ", ")),
		)
	}
	errs = append(errs, validateServerAddresses(o.ownAddresses))
	if o.namespace == "" {
		errs = append(errs, errors.New("--namespace is empty"))
	}
	if o.workers < 1 || o.connectWorkers < 1 {
		errs = append(errs, errors.New("--workers and --connect-workers are at least 1"))
	}
	if o.lookAhead.AtOnce < 1 || o.lookAhead.Requests <= 0 {
		errs = append(errs, errors.New("--look-ahead-concurrency is at least 1, and --look-ahead-qps more than 0; "+
			"spec.preflight.lookAhead: Never switches the looks off"))
	}
	errs = append(errs, o.validateFleet())
	if _, err := o.deadlines(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *managerOptions) validateFleet() error {
	policy := fleet.Policy(o.fleetAdmission)
	switch {
	case policy != fleet.Optional && policy != fleet.Required:
		return fmt.Errorf("--fleet-admission is %q; it is one of %s, %s", policy, fleet.Optional, fleet.Required)
	case o.maxUnmanagedStarts < 0:
		return errors.New("--max-unmanaged-starts is at least 0")
	}
	return nil
}
