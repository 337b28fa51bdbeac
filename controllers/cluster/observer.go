package cluster

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// Observer reads both clusters and renders what is compared with them. It changes nothing and has no way to: commands use it,
// too.
type Observer struct {
	management   managementObserver
	userCluster  userClusterObserver
	renderer     renderer
	controlPlane *controlplane.Reader
	deadlines    observation.Deadlines
}

// ObserverOptions are what an Observer needs.
type ObserverOptions struct {
	// Client may read from a cache; Live reads past it: proofs and Secrets.
	Client client.Reader
	Live   client.Reader
	// ControlPlane observes the Deployments of the management cluster.
	ControlPlane *controlplane.Reader
	// Catalogue of providers.
	Catalogue *provider.Catalogue
	// Deadlines are the real ones when they are left out.
	Deadlines observation.Deadlines
	// LoadBalancers of clouds; nil where no one renames any.
	LoadBalancers LoadBalancerReader
	// RequireCloudConfigLabel takes no Secret for a cloud configuration that does not say so itself.
	RequireCloudConfigLabel bool
	// KeepReads lets a pass use again what an earlier one read of what only we write.
	KeepReads bool
}

// NewObserver fails on what is missing: a pass would panic only when it needs that.
func NewObserver(options ObserverOptions) (*Observer, error) {
	switch {
	case options.Client == nil:
		return nil, errors.New("an observer needs a client")
	case options.Live == nil:
		return nil, errors.New("an observer needs a reader that has no cache")
	case options.ControlPlane == nil || options.ControlPlane.Ledger == nil:
		return nil, errors.New("an observer needs a reader of control planes that has a ledger")
	case options.Catalogue == nil:
		return nil, errors.New("an observer needs the catalogue of providers")
	}
	o := &Observer{
		management: managementObserver{
			client: options.Client, live: options.Live, catalogue: options.Catalogue,
			requireCloudConfigLabel: options.RequireCloudConfigLabel, own: ownObjects{keeps: options.KeepReads},
		},
		renderer: renderer{catalogue: options.Catalogue}, controlPlane: options.ControlPlane, deadlines: options.Deadlines,
	}
	o.userCluster = userClusterObserver{
		management: &o.management, ledger: options.ControlPlane.Ledger, deadlines: options.Deadlines,
		loadBalancers: options.LoadBalancers,
	}
	return o, nil
}

// forget what was read for a Cluster.
func (o *Observer) forget(key client.ObjectKey) {
	o.management.own.forget(key)
	o.controlPlane.Forget(key)
}

// gone forgets what is remembered beside what was read, too.
func (o *Observer) gone(key client.ObjectKey) {
	o.forget(key)
	o.controlPlane.Gone(key)
}
