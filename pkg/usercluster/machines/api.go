package machines

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// API is whoever makes Machines. What it observes is what its actions take: refs are of its own kinds.
type API interface {
	// Observe reads all Machines with their owners, and sees to it that the reconciler wakes when they change. They are
	// absent where nothing makes Machines.
	Observe(ctx context.Context) observation.Observed[observation.Machines]
	// Pools are the groups of Machines that are replaced together, as those who write them see them.
	Pools(ctx context.Context) observation.Observed[[]preflight.Pool]
	// Bootstraps says how the kubelets of new Machines start, by the UID of their group.
	Bootstraps(ctx context.Context, groups []observation.Ref) observation.Observed[map[string]observation.BootstrapData]
	// CreateCanary makes one extra Machine like those of the target, unless it is there, and says which taints its Node has.
	CreateCanary(ctx context.Context, target observation.Ref) ([]corev1.Taint, error)
	// Change does an action that is about Machines or their owners. Whatever it rests on is compared in the same request,
	// so that what was changed meanwhile is looked at again.
	Change(ctx context.Context, action outcome.Action) error
}
