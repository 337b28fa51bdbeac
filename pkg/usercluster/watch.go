package usercluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
)

// setWatching starts or ends the watches of a migration. Neither waits.
func (s *Session) setWatching(on bool) {
	if !s.watches.Set(on) {
		return
	}
	s.watches.Resources(facts.Resources()...)
	s.Others.Watch()
}

// AwaitWatches waits, once, until the watches of a migration show all there is.
func (s *Session) AwaitWatches(ctx context.Context) { s.watches.AwaitLists(ctx) }

// WatchPod wakes when a static pod of the control plane changes.
func (s *Session) WatchPod(key types.NamespacedName) {
	s.watches.Object(corev1.SchemeGroupVersion.WithResource("pods"), key)
}
