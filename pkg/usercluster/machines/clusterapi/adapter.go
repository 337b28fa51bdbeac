package clusterapi

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// errNotBuilt answers whatever changes something.
var errNotBuilt = errors.New("there is no adapter for Machines of Cluster API yet: use the machine-controller")

// Adapter implements machines.API.
type Adapter struct{}

// Observe implements machines.API.
func (Adapter) Observe(context.Context) observation.Observed[observation.Machines] {
	return observation.Unknown[observation.Machines](errNotBuilt.Error())
}

// Pools implements machines.API.
func (Adapter) Pools(context.Context) observation.Observed[[]preflight.Pool] {
	return observation.Unknown[[]preflight.Pool](errNotBuilt.Error())
}

// Bootstraps implements machines.API.
func (Adapter) Bootstraps(context.Context, []observation.Ref) observation.Observed[map[string]observation.BootstrapData] {
	return observation.Unknown[map[string]observation.BootstrapData](errNotBuilt.Error())
}

// CreateCanary implements machines.API.
func (Adapter) CreateCanary(context.Context, observation.Ref) ([]corev1.Taint, error) {
	return nil, errNotBuilt
}

// Change implements machines.API.
func (Adapter) Change(context.Context, outcome.Action) error { return errNotBuilt }
