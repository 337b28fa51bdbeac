package cluster

import (
	"context"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// LoadBalancerReader looks at load balancers in a cloud, with the cloud configuration of a Cluster.
type LoadBalancerReader interface {
	// Old fills in what the cloud says of those that are asked for, and leaves out those that it does not have.
	Old(ctx context.Context, config map[string][]byte, asked []observation.OldLoadBalancer,
	) observation.Observed[[]observation.OldLoadBalancer]
}

// LoadBalancerRenamer renames them. An error says that no one knows how many have their new name.
type LoadBalancerRenamer interface {
	Rename(ctx context.Context, config map[string][]byte, renames []outcome.Rename) error
}

// observeLoadBalancers asks the cloud, in the passes in which something is to be renamed there.
func (u userClusterObserver) observeLoadBalancers(ctx context.Context, s *scope) {
	if !s.needs().OldLoadBalancers {
		return
	}
	problem := s.cloudConfigProblem()
	asked, known := migration.OldLoadBalancersOf(s.Observed).Get()
	switch {
	case u.loadBalancers == nil:
		s.Observed.OldLoadBalancers = observation.Unknown[[]observation.OldLoadBalancer]("this program asks no cloud")
	case problem != "":
		s.Observed.OldLoadBalancers = observation.Unknown[[]observation.OldLoadBalancer](problem)
	case !known:
		s.Observed.OldLoadBalancers = observation.Unknown[[]observation.OldLoadBalancer](migration.OldLoadBalancersOf(s.Observed).Why())
	default:
		s.Observed.OldLoadBalancers = u.loadBalancers.Old(ctx, s.cloudConfig, asked)
	}
}
