package leases

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Options of Elections.
type Options struct {
	// Client of the user cluster, and a reader of the management cluster for pods beside the control plane.
	Client     client.Client
	Management client.Reader
	Clock      clock.Clock
	Watches    *watches.Watches
	// User is who our credentials say that we are; empty when they do not.
	User string
}

// Elections of one user cluster.
type Elections struct {
	client     client.Client
	management client.Reader
	clock      clock.Clock
	watches    *watches.Watches
	user       string
	tracker    *leaseTracker
	leader     leaderMemory
	// former are the processes of the CCM.
	former *controlplane.Former

	// What was read: the fence of an identity, our right to a Lease, where the leader runs, and the processes of the CCM.
	fence       *kept.Value[observation.Fence]
	fenced      manifest.Identity
	right       *kept.Value[observation.LeaseRight]
	rightTo     observation.Ref
	leaderPlace kept.Value[leaderPlace]
	listed      *kept.Value[[]observation.Process]
	listedOf    types.NamespacedName
}

// New has seen no Lease yet.
func New(options Options) *Elections {
	return &Elections{
		client: options.Client, management: options.Management, clock: options.Clock, watches: options.Watches,
		user: options.User, tracker: newLeaseTracker(options.Clock), former: controlplane.NewFormer(options.Clock),
		fence: &kept.Value[observation.Fence]{}, right: &kept.Value[observation.LeaseRight]{},
		listed: &kept.Value[[]observation.Process]{},
	}
}

// Remember what others saw of the same user cluster: when Leases changed.
func (e *Elections) Remember(others *Elections) { e.tracker = others.tracker }
