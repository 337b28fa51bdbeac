package facts

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// measurements are what a session remembers of its looks at Nodes and at events of Services.
type measurements struct {
	mu      sync.Mutex
	watcher slo.Watcher
	ccm     ccmMetrics
	// services are those of the last look.
	services kept.Value[[]slo.ServiceState]
}

// Measure takes a look at the Nodes and load balancers that were just read, and says what the looks brought so far. A change of
// them wakes us, so that looks are close together when it counts.
func (r *Reader) Measure(
	ctx context.Context,
	nodes observation.Observed[[]observation.Node],
	inventory observation.Observed[observation.Inventory],
) observation.Observed[slo.Seen] {
	seen, known := nodes.Get()
	switch {
	case !known:
		return observation.Unknown[slo.Seen](nodes.Why())
	case !inventory.IsKnown():
		return observation.Unknown[slo.Seen](inventory.Why())
	}
	r.measured.mu.Lock()
	defer r.measured.mu.Unlock()
	watcher, now := &r.measured.watcher, r.clock.Now()
	watcher.Nodes(now, nodeStates(seen))
	balancers := inventory.Value().LoadBalancers
	if len(balancers) == 0 {
		watcher.Services(now, nil)
		return observation.Known(watcher.Seen())
	}
	if watcher.Waits(now) {
		r.measureServices(ctx, balancers)
	}
	measured := watcher.Seen()
	measured.LoadBalancers = len(balancers)
	return observation.Known(measured)
}

// measureServices looks at the events of Services, which may not be watched: seldom enough for a pass after each change.
func (r *Reader) measureServices(ctx context.Context, balancers []observation.LoadBalancer) {
	now, looked := r.clock.Now(), false
	mark := r.watches.MarkOfUnwatched()
	mark.Most = betweenEvents
	states := r.measured.services.Read(ctx, now, mark, func() observation.Observed[[]slo.ServiceState] {
		looked = true
		found, err := r.serviceStates(ctx, balancers)
		if err != nil {
			return observation.Unknown[[]slo.ServiceState](err.Error())
		}
		return observation.Known(found)
	})
	switch {
	case states.IsUnknown():
		r.measured.watcher.CannotLook()
	case looked:
		r.measured.watcher.Services(now, states.Value())
	}
}

// betweenEvents is the least time between two looks at the same events.
const betweenEvents = 2 * time.Second

func nodeStates(nodes []observation.Node) []slo.NodeState {
	states := make([]slo.NodeState, 0, len(nodes))
	for _, node := range nodes {
		states = append(states, slo.NodeState{Name: node.Name, UID: node.UID, MadeAt: node.CreatedAt, Tainted: node.Uninitialized,
			Synced: node.ProviderID != "" && len(node.Addresses) > 0})
	}
	return states
}

// The events by which the service loop says that the hosts of a load balancer were updated, or could not be;
// LoadBalancerUpdateFailed is what releases before 1.16 said.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/service/controller.go (lockedUpdateLoadBalancerHosts)
const updatedEvent = "UpdatedLoadBalancer"

func failedEvents() []string {
	return []string{"UpdateLoadBalancerFailed", "LoadBalancerUpdateFailed"}
}

// serviceStates counts the events of each load balancer. Events go after an hour, so that a count may also fall.
func (r *Reader) serviceStates(ctx context.Context, balancers []observation.LoadBalancer) ([]slo.ServiceState, error) {
	updates, failures := map[string]int{}, map[string]int{}
	for _, balancer := range balancers {
		updates[balancer.UID] = 0
	}
	err := reads.Pages(
		ctx,
		r.client,
		"events of Services",
		func() *corev1.EventList { return &corev1.EventList{} },
		func(list *corev1.EventList) {
			for i := range list.Items {
				event := &list.Items[i]
				uid := string(event.InvolvedObject.UID)
				_, counted := updates[uid]
				switch {
				case !counted:
				case event.Reason == updatedEvent:
					updates[uid] += times(event)
				case slices.Contains(failedEvents(), event.Reason):
					failures[uid] += times(event)
				}
			}
		},
		client.MatchingFields{"involvedObject.kind": "Service"},
	)
	if err != nil {
		return nil, err
	}
	states := make([]slo.ServiceState, 0, len(balancers))
	for _, balancer := range balancers {
		states = append(states, slo.ServiceState{Namespace: balancer.Namespace, Name: balancer.Name, UID: balancer.UID,
			Updates: updates[balancer.UID], Failures: failures[balancer.UID]})
	}
	return states, nil
}

func times(event *corev1.Event) int {
	if event.Series != nil {
		return int(event.Series.Count)
	}
	return max(int(event.Count), 1)
}
