package facts

import (
	"net/http"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Options of those who read.
type Options struct {
	// Client of the user cluster; Network is its API server itself, nil where there is none.
	Client  client.Client
	Network *Network
	Clock   clock.PassiveClock
	Log     logr.Logger
	Watches *watches.Watches
	Leases  *leases.Elections
	// Machines has the pools, and Rights are those that it needs.
	Machines machines.API
	Rights   []authorizationv1.ResourceAttributes
	// Expires is when our credentials run out; zero when they do not say.
	Expires time.Time
}

// Network is the way to an API server for what is no object.
type Network struct {
	HTTP  *http.Client
	Probe rest.Interface
}

// Reader of one user cluster. It remembers since when a Node is new, what was measured, and what of the baseline is gone, and
// keeps what it read of the resources that are watched.
type Reader struct {
	client  client.Client
	network *Network
	clock   clock.PassiveClock
	log     logr.Logger
	leases  *leases.Elections
	watches *watches.Watches

	nodes       kept.Value[[]observation.Node]
	registered  kept.Value[map[string][]string]
	balancers   kept.Value[[]observation.LoadBalancer]
	volumes     kept.Value[[]observation.Volume]
	attachments kept.Value[[]observation.Attachment]
	classes     kept.Value[[]observation.StorageClass]

	measured measurements
	kubelets kubeletMemory
	gone     goneMemory
}

// New has read nothing yet.
func New(options Options) *Reader {
	return &Reader{
		client: options.Client, network: options.Network, clock: options.Clock, log: options.Log, leases: options.Leases,
		watches: options.Watches,
	}
}

// Resources are those that are watched while a migration is: what is read of them is kept until one changes.
func Resources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{nodes(), csiNodes(), services(), volumes(), attachments(), storageClasses()}
}

func nodes() schema.GroupVersionResource { return corev1.SchemeGroupVersion.WithResource("nodes") }
func csiNodes() schema.GroupVersionResource {
	return storagev1.SchemeGroupVersion.WithResource("csinodes")
}
func services() schema.GroupVersionResource {
	return corev1.SchemeGroupVersion.WithResource("services")
}
func volumes() schema.GroupVersionResource {
	return corev1.SchemeGroupVersion.WithResource("persistentvolumes")
}
func attachments() schema.GroupVersionResource {
	return storagev1.SchemeGroupVersion.WithResource("volumeattachments")
}
func storageClasses() schema.GroupVersionResource {
	return storagev1.SchemeGroupVersion.WithResource("storageclasses")
}
