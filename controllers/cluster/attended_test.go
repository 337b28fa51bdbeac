package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func TestUnattendedClustersAreToldAndCounted(t *testing.T) {
	g := NewWithT(t)
	o, origin := newTold(t), ucv1.OriginMigrating
	s := passOf(
		passes.ClusterOf(origin, passes.AtStep(ucv1.StepHandover)),
		passes.Decided(origin, ucv1.StepHandover, passes.Unattended(true, false, passes.Nothing)),
	)
	after := reported(t, s)
	o.reconciler.reporter().tell(s, s.Cluster.Status, after.Status)
	g.Expect(o.events()).To(Equal([]string{"Warning CloudLoopsUnattended " + passes.NoManager}))
	again := passOf(after, passes.Decided(origin, ucv1.StepHandover, passes.Unattended(true, false, passes.Nothing)))
	o.reconciler.reporter().tell(again, after.Status, reported(t, again).Status)
	g.Expect(o.events()).To(BeEmpty(), "once")

	metrics, key := o.reconciler.Metrics, client.ObjectKeyFromObject(after)
	attended := passes.Condition(after, ucv1.CloudLoopsAttendedCondition)
	metrics.stands(key, []metav1.Condition{attended})
	g.Expect(gauge(g, o.registry)).To(BeEquivalentTo(1))
	metrics.stands(key, nil)
	g.Expect(gauge(g, o.registry)).To(BeZero())
}

func gauge(g Gomega, registry *prometheus.Registry) (value float64) {
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "ccm_migration_clusters_unattended" {
			value = family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return value
}
