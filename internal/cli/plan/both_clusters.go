package plan

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	controller "github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// bothClusters is the way of a command that observes as a pass does.
type bothClusters struct {
	management.Access
	allow usercluster.Allow
}

func (b *bothClusters) bind(flags *pflag.FlagSet) {
	b.Bind(flags)
	management.BindAllow(flags, &b.allow, management.Loopback()...)
}

// opened is a Cluster with what observes it.
type opened struct {
	cluster    *ucv1.Cluster
	management client.Client
	session    *usercluster.Session
	observer   *controller.Observer
}

func (b *bothClusters) open(ctx context.Context, name string) (opened, error) {
	cluster, c, err := b.Cluster(ctx, name)
	if err != nil {
		return opened{}, err
	}
	session, err := usercluster.Dial(
		ctx,
		cluster,
		usercluster.Options{SecretReader: c, Management: c, Scheme: c.Scheme(), Allow: b.allow},
	)
	if err != nil {
		return opened{}, fmt.Errorf("cluster %s: %w", client.ObjectKeyFromObject(cluster), err)
	}
	observer, err := controller.NewObserver(controller.ObserverOptions{
		Client: c, Live: c, Catalogue: provider.New(),
		ControlPlane: &controlplane.Reader{Live: c, Ledger: controlplane.NewLedger(clock.RealClock{}), Clock: clock.RealClock{}},
	})
	return opened{cluster: cluster, management: c, session: session, observer: observer}, err
}
