package machinecontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// Adapter implements machines.API. It remembers since when each MachineDeployment has had its newest revision, and which may not
// be changed.
type Adapter struct {
	client    client.Client
	clock     clock.PassiveClock
	watches   *watches.Watches
	revisions revisionMemory
	refusals  refusals
	seen      *seenKinds

	mu         sync.Mutex
	bootstraps map[observation.Ref]*kept.Value[observation.BootstrapData]
}

// New is an adapter with a client of the user cluster.
func New(c client.Client, clk clock.PassiveClock, watching *watches.Watches) *Adapter {
	return &Adapter{client: c, clock: clk, watches: watching, seen: newSeenKinds()}
}

// Change implements machines.API.
func (a *Adapter) Change(ctx context.Context, action outcome.Action) error {
	switch action.Kind {
	case outcome.ActionRollMachineDeployment, outcome.ActionReturnMinReady:
		return each(action.Objects, func(ref observation.Ref) error { return a.roll(ctx, ref, action) })
	case outcome.ActionMarkMachines:
		return a.mark(ctx, action)
	case outcome.ActionStepMachineSet:
		return a.step(ctx, action)
	case outcome.ActionRemoveCanary:
		return each(action.Objects, func(ref observation.Ref) error {
			return machines.DeleteSeen(ctx, a.client, machineGroupVersion().WithKind(ref.Kind), ref)
		})
	default:
		return fmt.Errorf("action %s is not about Machines", action.Kind)
	}
}

// each is changed: one that is refused keeps no other from it.
func each(objects []observation.Ref, change func(observation.Ref) error) error {
	failed := make([]error, 0, len(objects))
	for _, ref := range objects {
		failed = append(failed, change(ref))
	}
	return errors.Join(failed...)
}
