package integration_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kindsOf names kinds of an API group.
func kindsOf(group, version string, names ...string) []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(names))
	for _, name := range names {
		kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: name})
	}
	return kinds
}

// snapshot is every object of the control plane's namespace that the controller might write to, with its version. The
// Cluster itself is not in it.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	return versions(w.t, suite.client, slices.Concat(
		kindsOf(
			"",
			"v1",
			"ConfigMap",
			"Secret",
			"Pod",
		),
		kindsOf("apps", "v1", "Deployment", "ReplicaSet"),
	), client.InNamespace(w.namespace))
}

// touched is the same without the record of a Cluster that wants to migrate, which is written before anything is decided.
func (w *world) touched() map[string]string {
	w.t.Helper()
	found := w.snapshot()
	delete(found, "Secret "+w.namespace+"/"+alpha+"-ccm-migration-record")
	return found
}

// userSnapshot is the same of the user cluster. Leases are not in it: their holders renew them.
func (w *world) userSnapshot() map[string]string {
	w.t.Helper()
	return versions(w.t, w.user.client, slices.Concat(
		kindsOf("", "v1", "ConfigMap", "Secret", "ServiceAccount", "Node"), kindsOf("apps", "v1", "Deployment", "DaemonSet"),
		kindsOf("rbac.authorization.k8s.io", "v1", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
		kindsOf("storage.k8s.io", "v1", "CSIDriver", "StorageClass"),
		kindsOf("cluster.k8s.io", "v1alpha1", "Machine", "MachineSet", "MachineDeployment")))
}

func versions(t *testing.T, c client.Client, kinds []schema.GroupVersionKind, options ...client.ListOption) map[string]string {
	t.Helper()
	lists := make([]*metav1.PartialObjectMetadataList, len(kinds))
	group, ctx := errgroup.WithContext(t.Context())
	for i, kind := range kinds {
		lists[i] = &metav1.PartialObjectMetadataList{}
		lists[i].SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		group.Go(func() error { return c.List(ctx, lists[i], options...) })
	}
	NewWithT(t).Expect(group.Wait()).To(Succeed())
	found := map[string]string{}
	for i, kind := range kinds {
		for _, item := range lists[i].Items {
			found[kind.GroupKind().String()+" "+item.Namespace+"/"+item.Name] = item.ResourceVersion
		}
	}
	return found
}
