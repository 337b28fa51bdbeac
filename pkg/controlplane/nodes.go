package controlplane

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// forgetAfter bounds everything that is kept in memory.
const forgetAfter = time.Hour

// leaseWatch remembers when node Leases were seen to change, on our clock.
type leaseWatch struct {
	mu   sync.Mutex
	seen map[string]leaseSight
}

type leaseSight struct {
	renewTime time.Time
	lookedAt  time.Time
	renewed   time.Time
	since     time.Time
}

// nodeLeaseDuration is the kubelet's default; after a longer pause it may have been cut off, and what it was told to
// end meanwhile it has only begun to end.
const nodeLeaseDuration = 40 * time.Second

// look takes a look at a Lease that began at now, and returns since when the Lease is known to have been renewed: the
// beginning of the last look that found it as it was before. The renewal itself came after that, never earlier. since
// is the look that saw the first renewal of those that followed each other without a long pause, never earlier than it.
// The first look is no renewal; looks that overtook each other prove nothing.
func (w *leaseWatch) look(node string, renewTime, now time.Time) (renewed, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sight, again := w.seen[node]
	switch {
	case !again:
		w.forget(now)
		sight = leaseSight{renewTime: renewTime, lookedAt: now}
	case now.Before(sight.lookedAt):
		return sight.renewed, sight.since
	case !renewTime.Equal(sight.renewTime):
		since := sight.since
		if now.Sub(sight.renewed) > nodeLeaseDuration {
			since = now
		}
		sight = leaseSight{renewTime: renewTime, lookedAt: now, renewed: sight.lookedAt, since: since}
	default:
		sight.lookedAt = now
	}
	w.seen[node] = sight
	return sight.renewed, sight.since
}

// forget drops what no one has looked at for long.
func (w *leaseWatch) forget(now time.Time) {
	if w.seen == nil {
		w.seen = map[string]leaseSight{}
	}
	for node, sight := range w.seen {
		if now.Sub(sight.lookedAt) > forgetAfter {
			delete(w.seen, node)
		}
	}
}

// managementNodes reads the Nodes of recorded processes and of pods; Nodes that do not exist are left out. Only of a recorded
// process it is ever asked whether its kubelet outlived it, so that other Leases are not read.
func (r *Reader) managementNodes(
	ctx context.Context, recorded map[types.UID]ucv1.ManagerProcess, pods []observation.Process,
) (map[string]observation.ManagementNode, error) {
	nodes, outliving := map[string]observation.ManagementNode{}, nodeNames(recorded, nil)
	for _, name := range nodeNames(recorded, pods) {
		node := &corev1.Node{}
		err := r.Live.Get(ctx, client.ObjectKey{Name: name}, node)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read Node %s of the management cluster: %w", name, err)
		}
		seen := observation.ManagementNode{BootID: node.Status.NodeInfo.BootID}
		if slices.Contains(outliving, name) {
			if seen.LeaseRenewed, seen.RenewingSince, err = r.leaseRenewed(ctx, name); err != nil {
				return nil, err
			}
		}
		nodes[name] = seen
	}
	return nodes, nil
}

func (r *Reader) leaseRenewed(ctx context.Context, node string) (renewed, since time.Time, err error) {
	now, lease := r.now(), &coordinationv1.Lease{}
	err = r.Live.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: node}, lease)
	if apierrors.IsNotFound(err) || err == nil && lease.Spec.RenewTime == nil {
		return time.Time{}, time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf(
			"read Lease %s/%s of the management cluster: %w",
			corev1.NamespaceNodeLease,
			node,
			err,
		)
	}
	renewed, since = r.leases.look(node, lease.Spec.RenewTime.Time, now)
	return renewed, since, nil
}

// nodeNames are the nodes that processes run on which have not been seen to end.
func nodeNames(recorded map[types.UID]ucv1.ManagerProcess, pods []observation.Process) []string {
	var names []string
	for _, process := range recorded {
		if process.EndedAt == nil && process.NodeName != "" {
			names = append(names, process.NodeName)
		}
	}
	for _, pod := range pods {
		if pod.NodeName != "" {
			names = append(names, pod.NodeName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
