package manager

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/controllers/providerprofile"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/loadbalancers"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/webhooks"
)

// Command runs the controller.
func Command() *cobra.Command {
	options := &managerOptions{}
	command := &cobra.Command{
		Use:   "manager",
		Short: "Runs the controller in the management cluster.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := options.validate(); err != nil {
				return terminal.UsageError(err)
			}
			return runManager(ctrl.SetupSignalHandler(), options)
		},
	}
	options.bind(command.Flags())
	return command
}

func runManager(ctx context.Context, o *managerOptions) error {
	log := zap.New(zap.UseFlagOptions(&o.log))
	ctrl.SetLogger(log)
	klog.SetLogger(log) // What client-go says stands in the same log, in the same form.
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	catalogue := provider.New()
	if err := setupController(ctx, mgr, o, catalogue, log); err != nil {
		return err
	}
	profiles := &providerprofile.Reconciler{Client: mgr.GetClient(), Catalogue: catalogue, Clock: clock.RealClock{}}
	if err := profiles.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the provider profile controller: %w", err)
	}
	if err := setupWebhook(mgr, o, catalogue); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(config *rest.Config, o *managerOptions) (ctrl.Manager, error) {
	scheme, err := management.NewScheme()
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "ccm-migration-controller",
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		HealthProbeBindAddress:        o.healthAddress,
		Metrics: metricsserver.Options{
			BindAddress: o.metricsAddress, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: o.webhookHost, Port: o.webhookPort, CertDir: o.certificateDir,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS12 }},
		}),
		Cache: cache.Options{
			DefaultNamespaces: o.defaultNamespaces(),
			DefaultTransform:  cache.TransformStripManagedFields(),
			ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: controlplane.TransformPod}},
		},
		// Secrets and ConfigMaps are read by name; a cache would list those of the whole fleet.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
	})
}

// mostKept is what may be kept of all user clusters that migrate, in bytes: 600 of a usual size, or four of 5,000 Nodes.
const mostKept = 64 << 20

func setupController(
	ctx context.Context,
	mgr ctrl.Manager,
	o *managerOptions,
	catalogue *provider.Catalogue,
	log logr.Logger,
) error {
	server, err := protectManagementServer(ctx, mgr, o.ownAddresses, log.WithName("management"))
	if err != nil {
		return err
	}
	ledger, changes := controlplane.NewLedger(clock.RealClock{}), controlplane.NewChanges()
	registry := newRegistry(mgr, o, server, changes, log)
	if err := mgr.Add(registry); err != nil {
		return err
	}
	clusterMetrics, err := cluster.NewMetrics(metrics.Registry)
	if err != nil {
		return err
	}
	turns, err := setupFleet(mgr, o, catalogue, checkDefinition(ctx, mgr.GetAPIReader(), clusterMetrics, log), log)
	if err != nil {
		return err
	}
	deadlines, err := o.deadlines()
	if err != nil {
		return err
	}
	if len(o.waits) > 0 {
		log.Info("waits that prove something are shortened: this is for testbeds only", "waits", o.waits)
	}
	balancers := loadbalancers.Cloud{Dial: usercluster.Dialer(o.allow, server)}
	observer, err := cluster.NewObserver(cluster.ObserverOptions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Catalogue: catalogue,
		ControlPlane: &controlplane.Reader{
			Live: mgr.GetAPIReader(), Ledger: ledger, Clock: clock.RealClock{}, Deadlines: deadlines, Changes: changes,
		},
		KeepReads: true,
		Deadlines: deadlines, RequireCloudConfigLabel: o.requireCloudConfigLabel, LoadBalancers: balancers,
	})
	if err != nil {
		return err
	}
	reconciler := &cluster.Reconciler{
		Observer: observer, Client: mgr.GetClient(), UserClusters: registry,
		Planner:  cluster.NewPlanner(observer, mgr.GetClient(), registry, clock.RealClock{}),
		Recorder: mgr.GetEventRecorder(ucv1.FieldManager), Clock: clock.RealClock{}, Metrics: clusterMetrics,
		LoadBalancers: balancers, LookAhead: o.lookAhead, Turns: turns,
		Suspects: cluster.NewSuspects(o.stateDirectory, log.WithName("suspects")),
	}
	if err := reconciler.SetupWithManager(ctx, mgr, ledger, o.workers); err != nil {
		return fmt.Errorf("set up the cluster controller: %w", err)
	}
	return nil
}

func newRegistry(
	mgr ctrl.Manager,
	o *managerOptions,
	server *usercluster.ManagementServer,
	changes *controlplane.Changes,
	log logr.Logger,
) *usercluster.Registry {
	return usercluster.NewRegistry(usercluster.Options{
		SecretReader:     mgr.GetAPIReader(),
		Kept:             kept.NewTotal(mostKept),
		Changes:          changes,
		Management:       mgr.GetClient(),
		Scheme:           mgr.GetScheme(),
		Clock:            clock.RealClock{},
		Allow:            o.allow,
		ManagementServer: server,
		ConnectWorkers:   o.connectWorkers,
		Log:              log.WithName("usercluster"),
	})
}

// setupWebhook touches the webhook server only once its certificate is there: the manager starts it at that moment.
func setupWebhook(mgr ctrl.Manager, o *managerOptions, catalogue *provider.Catalogue) error {
	ready := make(chan struct{})
	switch o.webhookCertificates {
	case noCertificates:
		return nil
	case selfManagedCertificates:
		if err := rotateCertificates(mgr, o, ready); err != nil {
			return err
		}
	default:
		close(ready)
	}
	starter := &webhookStarter{ready: ready, serve: func() webhook.Server {
		webhooks.SetupWithManager(mgr, catalogue.CanMigrate, catalogue.Objections, cluster.Sharers(mgr.GetClient()))
		return mgr.GetWebhookServer()
	}}
	if err := mgr.AddReadyzCheck("webhook", starter.check); err != nil {
		return err
	}
	return mgr.Add(starter)
}
