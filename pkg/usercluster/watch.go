package usercluster

import (
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

// WatchPod wakes when a static pod of the control plane changes.
func (s *Session) WatchPod(key types.NamespacedName) {
	s.watches.Object(corev1.SchemeGroupVersion.WithResource("pods"), key)
}
