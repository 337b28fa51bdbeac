package addons

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// managedLabels are on every addon object that we apply.
func managedLabels() map[string]string {
	return map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}
}

// Watch watches what we applied for as long as the session is there: a finished cluster is served by it.
func (in *Installer) Watch() {
	newStore := func() cache.ReflectorStore {
		return &watches.SpecStore{Changed: in.memory.changed, Wake: in.watches.Wake, AtRest: in.watches.AtRest}
	}
	in.watches.Lasting(labels.Set(managedLabels()).String(), newStore, workloadResources()...)
}

func workloadResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		appsv1.SchemeGroupVersion.WithResource("deployments"), appsv1.SchemeGroupVersion.WithResource("daemonsets"),
	}
}
