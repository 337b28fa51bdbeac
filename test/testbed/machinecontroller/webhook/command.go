package webhook

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/program"
)

// registerEvery repairs a registration that someone deleted, and retries one
// that failed.
const registerEvery = 2 * time.Second

type options struct {
	kubeconfig, workerKubeconfig string
	listen, health               string
	certPath, keyPath            string
	cloudConfig                  string
	keep                         time.Duration
	external                     bool
}

// Command is the program machine-controller-webhook.
func Command() *cobra.Command {
	return program.Command("machine-controller-webhook", "Stand-in of the machine-controller's webhook.", setup)
}

func setup(flags *flag.FlagSet) program.Run {
	o := &options{}
	flags.StringVar(&o.workerKubeconfig, "worker-cluster-kubeconfig", "", "kubeconfig of the user cluster")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the same, if -worker-cluster-kubeconfig is not given; neither means "+
		"in-cluster")
	flags.StringVar(&o.listen, "listen-address", ":9876", "TLS address of the webhooks, /healthz and /readyz")
	flags.StringVar(&o.health, "health-probe-address", "", "address of /healthz and /readyz without TLS; empty means none")
	flags.StringVar(&o.certPath, "tls-cert-path", "", "certificate file; empty means a certificate made in memory")
	flags.StringVar(&o.keyPath, "tls-key-path", "", "key file of the certificate")
	flags.StringVar(&o.cloudConfig, "cloud-config", "", "simcloud's cloud.conf, to ask the cloud about what is written; empty: "+
		"it is not asked")
	flags.DurationVar(&o.keep, "keeps-answers", 5*time.Minute, "how long an answer of the cloud is kept; the real one has no such "+
		"flag")
	flags.BoolVar(&o.external, "node-external-cloud-provider", false, "stamp new Machines as external")
	program.Ignore(flags, "namespace", "ca-bundle", "log-format", "node-kubelet-feature-gates", "kubernetes-version-constraints")
	program.IgnoreBool(flags, "log-debug")
	return o.run
}

func (o *options) run(ctx context.Context) error {
	startedAt := time.Now()
	c, err := o.client()
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.listen, err)
	}
	address, err := advertised(listener.Addr())
	if err != nil {
		return err
	}
	identity, err := o.identity(address, startedAt)
	if err != nil {
		return err
	}
	ask, err := o.asker()
	if err != nil {
		return err
	}
	registered := &atomic.Bool{}
	mux := http.NewServeMux()
	addHandlers(mux, o.external, ask)
	program.Handle(mux, registered.Load)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{identity.certificate},
	}}
	own := &registration{baseURL: "https://" + address, bundle: identity.bundle, startedAt: startedAt}
	ctrl.Log.Info("machine-controller-webhook starts", "node-external-cloud-provider", o.external, "url", own.baseURL)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return program.Serve(ctx, server, listener) })
	group.Go(func() error { return program.ServeHealth(ctx, o.health, registered.Load) })
	group.Go(func() error {
		// The listener is open, so who calls now is answered.
		wait.UntilWithContext(ctx, func(ctx context.Context) { own.keep(ctx, c, registered) }, registerEvery)
		return nil
	})
	return group.Wait()
}

// keep registers and turns ready once that worked: a rolling update must not
// take the old process away before the new one is called.
func (r *registration) keep(ctx context.Context, c client.Client, registered *atomic.Bool) {
	if err := r.register(ctx, c); err != nil {
		ctrl.Log.Error(err, "not registered, trying again")
		return
	}
	registered.Store(true)
}

// asker of the cloud; the real one finds its credentials in the object that is written.
func (o *options) asker() (asker, error) {
	if o.cloudConfig == "" {
		return func(context.Context, string) error { return nil }, nil
	}
	instances, err := cloud.Open(o.cloudConfig)
	if err != nil {
		return nil, err
	}
	ask := func(ctx context.Context, providerSpec string) error { return instances.Ask(ctx, []byte(providerSpec)) }
	return (&answers{ask: ask, keep: o.keep, clock: clock.RealClock{}}).of, nil
}

func (o *options) client() (client.Client, error) {
	path := o.workerKubeconfig
	if path == "" {
		path = o.kubeconfig
	}
	restConfig, err := program.RESTConfig(path)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register types: %w", err)
	}
	c, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the user cluster: %w", err)
	}
	return c, nil
}

func (o *options) identity(address string, now time.Time) (*identity, error) {
	if o.certPath != "" {
		return fromFiles(o.certPath, o.keyPath)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split address %s: %w", address, err)
	}
	return selfSigned(host, now)
}

// advertised is where the API server reaches the listener: its own address, or
// the Pod's if it listens on all.
func advertised(address net.Addr) (string, error) {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return "", fmt.Errorf("split address %s: %w", address, err)
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return address.String(), nil
	}
	host = os.Getenv("POD_IP")
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
