package status

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// passOf is the pass that made the decision.
func passOf(c *ucv1.Cluster, decision migration.Decision) *Pass {
	p := &Pass{Cluster: c, Now: passes.Start(), Decision: decision}
	p.Observed = observation.Observation{
		Turn:    observation.Absent[observation.Turn](),
		Cluster: c,
		Keeper:  observation.Absent[observation.Ref](),
		Addons:  observation.Known(observation.Addons{}),
		Connection: observation.Connection{
			Reachable: true, Reason: ucv1.ReachableReason, Message: "The API server of the user cluster answers",
		},
	}
	p.Shown = migration.ShownOf(p.Observed, decision.Rows, p.Now)
	return p
}

// statusOf a pass whose observation may have been changed after passOf.
func statusOf(p *Pass) ucv1.ClusterStatus {
	p.Shown = migration.ShownOf(p.Observed, p.Decision.Rows, p.Now)
	return Compute(p)
}

// reported is the Cluster after the pass; it keeps all promises.
func reported(t *testing.T, p *Pass) *ucv1.Cluster {
	t.Helper()
	g := NewWithT(t)
	after := p.Cluster.DeepCopy()
	after.Status = statusOf(p)
	checker, err := conformance.New()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checker.Objections(after)).To(BeEmpty())
	return after
}
