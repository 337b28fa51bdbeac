package usercluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// managedLabels are on every addon object that we apply.
func managedLabels() map[string]string {
	return map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}
}

// setWatching starts or ends the watches of a migration. Neither waits.
func (s *Session) setWatching(on bool) {
	if !s.watches.Set(on) {
		return
	}
	s.watches.Resources(corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithResource("services"),
		storagev1.SchemeGroupVersion.WithResource("csinodes"))
	s.watchForManagers()
}

// watchWorkloads watches what we applied for as long as the session is there: a finished cluster is served by it.
func (s *Session) watchWorkloads() {
	newStore := func() cache.ReflectorStore {
		return &watches.SpecStore{Changed: s.addons.invalidate, Wake: s.watches.Wake, AtRest: s.watches.AtRest}
	}
	s.watches.Lasting(labels.Set(managedLabels()).String(), newStore,
		appsv1.SchemeGroupVersion.WithResource("deployments"), appsv1.SchemeGroupVersion.WithResource("daemonsets"))
}

// WatchPod wakes when a static pod of the control plane changes.
func (s *Session) WatchPod(key types.NamespacedName) { s.watches.Pod(key) }
