package facts

import (
	"net/http"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// Reader of one user cluster. It remembers since when a Node is new, what was measured, and what of the baseline is gone.
type Reader struct {
	client  client.Client
	network *Network
	clock   clock.PassiveClock
	log     logr.Logger
	leases  *leases.Elections

	measured measurements
	kubelets kubeletMemory
	gone     goneMemory
}

// New has read nothing yet.
func New(options Options) *Reader {
	return &Reader{
		client: options.Client, network: options.Network, clock: options.Clock, log: options.Log, leases: options.Leases,
	}
}
