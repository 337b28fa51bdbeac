package leases

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// leaderMemory is the Lease that is looked at with every probe of the API server, and how it stood then. A watch on a Lease would
// tell of every renewal, for ever and in every cluster, and of none that does not come.
type leaderMemory struct {
	mu    sync.Mutex
	lease types.NamespacedName
	alive bool
}

// GuardLeader names the Lease whose renewals are looked at from now on: about once a minute while nothing is watched.
func (e *Elections) GuardLeader(namespace, name string) {
	e.leader.mu.Lock()
	defer e.leader.mu.Unlock()
	e.leader.lease = types.NamespacedName{Namespace: namespace, Name: name}
}

// LookAtLeader wakes when the leader stopped to renew its Lease, and when there is one again.
func (e *Elections) LookAtLeader(ctx context.Context) {
	e.leader.mu.Lock()
	key := e.leader.lease
	e.leader.mu.Unlock()
	if key.Name == "" {
		return
	}
	seen := e.Lease(ctx, key.Namespace, key.Name)
	if seen.IsUnknown() {
		return
	}
	alive := seen.Value().Alive(e.clock.Now())
	e.leader.mu.Lock()
	changed := e.leader.alive != alive
	e.leader.alive = alive
	e.leader.mu.Unlock()
	if changed {
		e.watches.Wake()
	}
}
