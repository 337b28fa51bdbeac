package cluster

import (
	"testing"

	. "github.com/onsi/gomega"

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
}
