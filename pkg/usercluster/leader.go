package usercluster

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
func (s *Session) GuardLeader(namespace, name string) {
	s.leader.mu.Lock()
	defer s.leader.mu.Unlock()
	s.leader.lease = types.NamespacedName{Namespace: namespace, Name: name}
}

// lookAtLeader wakes when the leader stopped to renew its Lease, and when there is one again.
func (s *Session) lookAtLeader(ctx context.Context) {
	s.leader.mu.Lock()
	key := s.leader.lease
	s.leader.mu.Unlock()
	if key.Name == "" {
		return
	}
	seen := s.Lease(ctx, key.Namespace, key.Name)
	if seen.IsUnknown() {
		return
	}
	alive := seen.Value().Alive(s.clock.Now())
	s.leader.mu.Lock()
	changed := s.leader.alive != alive
	s.leader.alive = alive
	s.leader.mu.Unlock()
	if changed {
		s.watches.Wake()
	}
}
