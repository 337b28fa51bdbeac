package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// lookEvery is how often the API server is asked whether it is there. A watch over a dead connection says nothing of that.
const lookEvery = 5 * time.Second

// The resources that are read, and the path by which the API server is asked whether it is there.
const (
	clusters        = "clusters"
	fleetMigrations = "fleetmigrations"
	namespaces      = "namespaces"
	probed          = "version"
)

// source keeps what is in the management cluster, by watches, and knows which of it could not be looked at.
type source struct {
	host, namespace string
	now             func() time.Time
	client          *http.Client
	discovery       *discovery.DiscoveryClient
	cache           cache.Cache
	changed         chan struct{}

	mu      sync.Mutex
	kinds   map[string]*looked
	version uint64
}

// looked is how the reads of a resource stand.
type looked struct {
	informer cache.Informer
	// synced says that it was read whole once.
	synced bool
	open   bool
	// err is why it can not be seen since at; nil while it can.
	err error
	at  time.Time
}

// seen is what there is, as far as it could be read.
type seen struct {
	host, namespace string
	version         uint64
	clusters        []ucv1.Cluster
	migrations      []*ucv1.FleetMigration
	namespaces      map[string]labels.Set
	kinds           map[string]looked
}

func newSource(config *rest.Config, namespace string, now func() time.Time) (*source, error) {
	s := &source{
		host: config.Host, namespace: namespace, now: now, changed: make(chan struct{}, 1),
		kinds: map[string]*looked{clusters: {}, fleetMigrations: {}, namespaces: {}, probed: {}},
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &streams{next: next, source: s} })
	scheme, err := management.NewScheme()
	if err != nil {
		return nil, err
	}
	if s.client, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("connect to the management cluster: %w", err)
	}
	if s.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, s.client); err != nil {
		return nil, fmt.Errorf("connect to the management cluster: %w", err)
	}
	options := cache.Options{
		HTTPClient: s.client, Scheme: scheme, DefaultTransform: cache.TransformStripManagedFields(),
		DefaultUnsafeDisableDeepCopy: new(true), DefaultWatchErrorHandler: s.refused,
	}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	if s.cache, err = cache.New(config, options); err != nil {
		return nil, fmt.Errorf("connect to the management cluster: %w", err)
	}
	return s, nil
}

// run until the context ends.
func (s *source) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.cache.Start(ctx) })
	group.Go(func() error {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			s.probe(ctx)
			s.follow(ctx)
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	})
	return group.Wait()
}

// showFirstRead on the terminal, which takes a while where there are thousands. What cannot be read is said by the page.
func (s *source) showFirstRead(ctx context.Context, progress *terminal.Progress) {
	defer progress.End()
	for _, resource := range []string{clusters, fleetMigrations} {
		progress.Step("Reading the " + resource)
		toolscache.WaitForCacheSync(ctx.Done(), func() bool {
			look := s.standing().kinds[resource]
			return look.synced || look.err != nil || resource == fleetMigrations && s.namespace != ""
		})
	}
}

// probe whether the API server is there. One that refuses to say its version is.
func (s *source) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	err := s.discovery.RESTClient().Get().AbsPath("/" + probed).Do(ctx).Error()
	if err == nil || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		s.opened(probed)
		return
	}
	s.failed(probed, err)
}

// follow what is not followed yet: a kind may be installed later.
func (s *source) follow(ctx context.Context) {
	for resource, object := range s.wanted(ctx) {
		if s.kind(resource).informer != nil {
			continue
		}
		informer, err := s.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { s.change() }, UpdateFunc: func(any, any) { s.change() }, DeleteFunc: func(any) { s.change() },
			})
		}
		if err != nil {
			s.failed(resource, err)
			continue
		}
		s.mu.Lock()
		s.kinds[resource].informer = informer
		s.mu.Unlock()
	}
}

// wanted are the kinds that the page needs. A FleetMigration counts the Clusters of all namespaces.
func (s *source) wanted(ctx context.Context) map[string]client.Object {
	wanted := map[string]client.Object{clusters: &ucv1.Cluster{}}
	if s.namespace == "" {
		wanted[fleetMigrations] = &ucv1.FleetMigration{}
	}
	if seen := s.read(ctx); seen.byNamespace() {
		wanted[namespaces] = &corev1.Namespace{}
	}
	return wanted
}

// read what there is. Nothing of it may be changed: it is that of the cache.
func (s *source) read(ctx context.Context) *seen {
	read := s.standing()
	lists := map[string]client.ObjectList{
		clusters: &ucv1.ClusterList{}, fleetMigrations: &ucv1.FleetMigrationList{}, namespaces: &corev1.NamespaceList{},
	}
	for resource, list := range lists {
		if !read.kinds[resource].synced {
			continue
		}
		if err := s.cache.List(ctx, list); err != nil {
			look := read.kinds[resource]
			look.synced, look.err = false, err
			read.kinds[resource] = look
		}
	}
	read.clusters = lists[clusters].(*ucv1.ClusterList).Items
	migrations := lists[fleetMigrations].(*ucv1.FleetMigrationList).Items
	for i := range migrations {
		read.migrations = append(read.migrations, &migrations[i])
	}
	for _, namespace := range lists[namespaces].(*corev1.NamespaceList).Items {
		read.namespaces[namespace.Name] = namespace.Labels
	}
	return read
}

// standing says how the reads of each kind stand.
func (s *source) standing() *seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := &seen{
		host: s.host, namespace: s.namespace, version: s.version, namespaces: map[string]labels.Set{}, kinds: map[string]looked{},
	}
	for resource, look := range s.kinds {
		now := *look
		now.synced = now.informer != nil && now.informer.HasSynced()
		read.kinds[resource] = now
	}
	return read
}

func (s *source) kind(resource string) looked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.kinds[resource]
}

// change wakes who waits for one.
func (s *source) change() {
	s.mu.Lock()
	s.version++
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// opened says that a resource is seen. When the API server answers, all that has a watch is seen until now.
func (s *source) opened(resource string) {
	s.note(resource, func(look *looked) {
		look.open, look.err = true, nil
		for of := range maps.Values(s.kinds) {
			if of == look || resource == probed && of.open && of.err == nil {
				of.at = s.now()
			}
		}
	})
}

func (s *source) ended(resource string) { s.note(resource, func(look *looked) { look.open = false }) }

// failed says why a resource is not seen now.
func (s *source) failed(resource string, err error) {
	s.note(resource, func(look *looked) { look.err, look.open = err, false })
}

// note how a look at a resource ended. It is a change when it went wrong, or is well again.
func (s *source) note(resource string, what func(*looked)) {
	s.mu.Lock()
	look, known := s.kinds[resource]
	if !known {
		s.mu.Unlock()
		return
	}
	before := look.err
	what(look)
	news := (before == nil) != (look.err == nil)
	s.mu.Unlock()
	if news {
		s.change()
	}
}

// refused is what an informer could not list or watch. A watch that ended, or was too old, is begun again at once.
func (s *source) refused(_ context.Context, reflector *toolscache.Reflector, err error) {
	if errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	for resource, object := range map[string]client.Object{
		clusters: &ucv1.Cluster{}, fleetMigrations: &ucv1.FleetMigration{}, namespaces: &corev1.Namespace{},
	} {
		if fmt.Sprintf("%T", object) == reflector.TypeDescription() {
			s.failed(resource, err)
		}
	}
}
