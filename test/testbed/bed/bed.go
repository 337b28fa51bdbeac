package bed

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/apiserver"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// ManagementName is the name of the management cluster.
const ManagementName = "management"

// Options of a Bed.
type Options struct {
	// Dir receives everything that is written: clusters, logs, raw results.
	Dir string
	// BinDir holds the binaries that 'make binaries-test' builds.
	BinDir string
	// ManagementBinDir holds those of the management cluster's control plane; BinDir does when it is empty.
	ManagementBinDir string
	// ReleasesDir holds a folder for each other release that a user cluster may have, such as 1.29.15; none when it is empty.
	ReleasesDir string
	// ConfigDir is the config/ folder of the project.
	ConfigDir string
	// Helm is the program that installs the manager from the project's chart; config/ is applied when it is empty.
	Helm string
	// LeaseDuration of the user clusters' controller managers.
	LeaseDuration time.Duration
	// SampleInterval is how often the loops of each manager are read; twice a second when it is zero.
	SampleInterval time.Duration
	// Waits are the manager's --unsafe-waits: shorter ones than the real ones where nothing has to happen; empty: none.
	Waits string
	// OutliveForceDelete says which pods' processes outlive their force-deleted pods.
	OutliveForceDelete func(*corev1.Pod) bool
	// Seed draws the bystanders of all user clusters; taken from the clock when it is zero.
	Seed uint64
	// Audited has the API servers of all clusters write down every request.
	Audited bool
	// Progress is told what is being done.
	Progress func(string)
	// Log of the parts that run inside the calling process.
	Log logr.Logger
}

// Bed is a running testbed.
type Bed struct {
	options    Options
	supervisor *process.Supervisor
	scheme     *runtime.Scheme
	Cloud      *simcloud.Server
	cloudURL   string
	Management *apiserver.Cluster
	// Client of the management cluster, with all rights.
	Client client.Client

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	files   []*os.File
	slot    int
	held    net.Listener

	mu       sync.Mutex
	clusters map[string]*UserCluster
	kubelets map[string]*kubelet.Kubelet
	// stops end a cluster's kubelet with everything that it runs.
	stops  map[string]func()
	failed error
}

// Start brings up the cloud, the sampler and the management cluster; the manager is installed by InstallManager.
func Start(ctx context.Context, options Options) (*Bed, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, ucv1.AddToScheme, machines.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	if options.Seed == 0 {
		options.Seed = uint64(time.Now().UnixNano())
	}
	options.Progress(fmt.Sprintf("seed of what the user clusters run besides: %d", options.Seed))
	b := &Bed{
		options: options, supervisor: process.NewSupervisor(), scheme: scheme, clusters: map[string]*UserCluster{},
		kubelets: map[string]*kubelet.Kubelet{}, stops: map[string]func(){},
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
	if err := b.start(); err != nil {
		b.Stop()
		return nil, err
	}
	return b, nil
}

func (b *Bed) start() error {
	if err := os.MkdirAll(b.options.Dir, 0o755); err != nil {
		return err
	}
	var err error
	if b.slot, b.held, err = takeSlot(b.ctx); err != nil {
		return err
	}
	calls, err := b.create("simcloud.jsonl")
	if err != nil {
		return err
	}
	b.Cloud = simcloud.New(simcloud.Options{Log: calls, Disks: b.File("disks")})
	if b.cloudURL, err = b.Cloud.Start("127.0.0.1:0"); err != nil {
		return err
	}
	if err := b.startSampler(); err != nil {
		return err
	}
	b.options.Progress("starting the management cluster")
	b.Management, err = apiserver.Start(b.ctx, apiserver.Options{
		Name: ManagementName, Index: b.index(1), Dir: filepath.Join(b.options.Dir, ManagementName),
		BinDir:     cmp.Or(b.options.ManagementBinDir, b.options.BinDir),
		Supervisor: b.supervisor, WithScheduler: true, WithControllerManager: true, Audited: b.options.Audited,
	})
	if err != nil {
		return err
	}
	b.watchFailures(b.Management)
	if b.Client, err = b.client(b.Management.AdminConfig()); err != nil {
		return err
	}
	if err := b.startKubelet(ManagementName, b.index(1), b.Management.AdminConfig(), ""); err != nil {
		return err
	}
	return b.Client.Create(b.ctx, managementNode())
}

func (b *Bed) create(name string) (*os.File, error) {
	file, err := os.Create(filepath.Join(b.options.Dir, name))
	if err == nil {
		b.files = append(b.files, file)
	}
	return file, err
}

func (b *Bed) client(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 100, 200
	return client.New(config, client.Options{Scheme: b.scheme})
}

func (b *Bed) startSampler() error {
	samples, err := b.create("loops.jsonl")
	if err != nil {
		return err
	}
	reads, err := b.create("reads.jsonl")
	if err != nil {
		return err
	}
	sampler := loops.New(loops.Options{
		ProcessDir: filepath.Join(b.options.Dir, "processes"), Out: samples, Reads: reads, TLS: b.metricsTLS,
		Interval: b.options.SampleInterval,
	})
	b.goRun("sampler", sampler.Run)
	return nil
}

// metricsTLS is the client certificate for the managers of a user cluster.
func (b *Bed) metricsTLS(name string) *tls.Config {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cluster, found := b.clusters[name]; found {
		return cluster.metricsTLS
	}
	return nil
}

func (b *Bed) startKubelet(name string, index int, config *rest.Config, manifests string) error {
	// It writes what a kubelet of now does: API servers of older minors warn of the fields that they do not know.
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	k, err := kubelet.New(kubelet.Options{
		Cluster: name, Index: index, Config: config, RunDir: b.options.Dir, BinDir: b.options.BinDir, StaticPodDir: manifests,
		ReleasesDir: b.options.ReleasesDir, Supervisor: b.supervisor, OutliveForceDelete: b.options.OutliveForceDelete,
		Log: b.options.Log.WithName("kubelet-" + name),
	})
	if err != nil {
		return err
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	b.mu.Lock()
	b.kubelets[name] = k
	b.stops[name] = func() { close(stop); <-ended }
	b.mu.Unlock()
	b.goRun("kubelet of "+name, func(ctx context.Context) error {
		defer close(ended)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		return k.Run(ctx)
	})
	return nil
}

// Kubelet is the kubelet of a running cluster, for tests that disturb it.
func (b *Bed) Kubelet(cluster string) *kubelet.Kubelet {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kubelets[cluster]
}

// goRun runs a part of the testbed until the Bed ends; a part that fails before that fails the Bed.
func (b *Bed) goRun(name string, run func(context.Context) error) {
	b.running.Go(func() {
		if err := run(b.ctx); err != nil && b.ctx.Err() == nil {
			b.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

func (b *Bed) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = errors.Join(b.failed, err)
	b.cancel()
}

func (b *Bed) watchFailures(cluster *apiserver.Cluster) {
	b.goRun("control plane", func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case err := <-cluster.Failures():
			return err
		}
	})
}

// Done is closed when the Bed ended, by Stop or because a part of it failed; Err says why.
func (b *Bed) Done() <-chan struct{} { return b.ctx.Done() }

// Err is what failed, if anything did.
func (b *Bed) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// Stop ends everything; no process stays behind.
func (b *Bed) Stop() {
	b.cancel()
	b.running.Wait()
	b.supervisor.Close()
	if b.Cloud != nil {
		_ = b.Cloud.Stop()
	}
	for _, file := range b.files {
		_ = file.Close()
	}
	if b.held != nil {
		_ = b.held.Close()
	}
}

// index is the number of the testbed's nth cluster on this machine.
func (b *Bed) index(n int) int { return b.slot*slotSize + n }

// File is the path of a file in the Bed's folder.
func (b *Bed) File(elements ...string) string {
	return filepath.Join(append([]string{b.options.Dir}, elements...)...)
}

// Options that the Bed runs with.
func (b *Bed) Options() Options { return b.options }
