package usercluster

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// setWatching starts or ends the watches of a migration. Neither waits.
func (s *Session) setWatching(on bool) {
	if !s.watches.Set(on) {
		return
	}
	s.watches.Resources(corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithResource("services"),
		storagev1.SchemeGroupVersion.WithResource("csinodes"))
	s.Others.Watch()
}

// WatchPod wakes when a static pod of the control plane changes.
func (s *Session) WatchPod(key types.NamespacedName) { s.watches.Pod(key) }
