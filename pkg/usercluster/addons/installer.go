package addons

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Options of an Installer.
type Options struct {
	// Client of the user cluster, and what is beside its control plane.
	Client  client.Client
	Beside  Beside
	Clock   clock.PassiveClock
	Watches *watches.Watches
	Leases  *leases.Elections
	// Nodes reads the Nodes with the CSI drivers that are registered on them.
	Nodes func(context.Context) observation.Observed[[]observation.Node]
}

// Installer of the addons of one user cluster. It remembers comparisons that found nothing to do.
type Installer struct {
	*places

	clock   clock.PassiveClock
	watches *watches.Watches
	leases  *leases.Elections
	nodes   func(context.Context) observation.Observed[[]observation.Node]
	memory  *addonMemory
	tokens  tokens
	health  *health
}

// New has compared nothing yet.
func New(options Options) *Installer {
	where := &places{client: options.Client, beside: options.Beside}
	return &Installer{
		places: where, clock: options.Clock, watches: options.Watches, leases: options.Leases, nodes: options.Nodes,
		memory: &addonMemory{}, tokens: tokens{places: where, clock: options.Clock},
		health: &health{
			places: where, clock: options.Clock, watches: options.Watches, known: map[observation.Ref]*kept.Value[observation.Text]{},
		},
	}
}
