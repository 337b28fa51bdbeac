package fleet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// seen is what was read of a management cluster.
type seen struct {
	clusters   []ucv1.Cluster
	migrations []*ucv1.FleetMigration
	// namespaces have their labels; empty where no FleetMigration selects by them.
	namespaces map[string]labels.Set
	host       string
	at         time.Time
}

// read what a decision needs. It may come from the API server's cache: a fleet that is watched must not load etcd.
func read(ctx context.Context, c client.Client, host string, now time.Time) (seen, error) {
	s := seen{host: host, at: now}
	cached := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	migrations := &ucv1.FleetMigrationList{}
	switch err := c.List(ctx, migrations, cached); {
	case meta.IsNoMatchError(err):
		return s, fmt.Errorf("the management cluster at %s does not know FleetMigrations: install the CustomResourceDefinition "+
			"fleetmigrations.usercluster.k8c.io of this release", host)
	case err != nil:
		return s, fmt.Errorf("list the FleetMigrations in the management cluster at %s; the right to list them is needed: %w", host,
			err)
	}
	byNamespace := false
	for i := range migrations.Items {
		fm := &migrations.Items[i]
		s.migrations, byNamespace = append(s.migrations, fm), byNamespace || fm.Spec.NamespaceSelector != nil
	}
	clusters := &ucv1.ClusterList{}
	if err := c.List(ctx, clusters, cached); err != nil {
		return s, fmt.Errorf("list the Clusters of all namespaces in the management cluster at %s; budgets count each of them, so "+
			"that the right to list all is needed: %w", host, err)
	}
	s.clusters = clusters.Items
	if !byNamespace {
		return s, nil
	}
	namespaces := &corev1.NamespaceList{}
	if err := c.List(ctx, namespaces, cached); err != nil {
		return s, fmt.Errorf("list the Namespaces in the management cluster at %s; a FleetMigration has spec.namespaceSelector, so "+
			"that the right to list them is needed: %w", host, err)
	}
	s.namespaces = map[string]labels.Set{}
	for i := range namespaces.Items {
		s.namespaces[namespaces.Items[i].Name] = namespaces.Items[i].Labels
	}
	return s, nil
}
