package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// passOf is the pass that made the decision.
func passOf(c *ucv1.Cluster, decision migration.Decision) *scope {
	s := &scope{Pass: status.Pass{Cluster: c, Now: passes.Start(), Decision: decision}}
	s.Observed = observation.Observation{
		Cluster: c,
		Keeper:  observation.Absent[observation.Ref](),
		Connection: observation.Connection{
			Reachable: true, Reason: ucv1.ReachableReason, Message: "The API server of the user cluster answers",
		},
	}
	s.Shown = migration.ShownOf(s.Observed, decision.Rows, s.Now)
	return s
}

// statusOf a pass whose observation may have been changed after passOf.
func statusOf(s *scope) ucv1.ClusterStatus {
	s.Shown = migration.ShownOf(s.Observed, s.Decision.Rows, s.Now)
	return status.Compute(&s.Pass)
}

// reported is the Cluster after the pass; it keeps all promises.
func reported(t *testing.T, s *scope) *ucv1.Cluster {
	t.Helper()
	g := NewWithT(t)
	after := s.Cluster.DeepCopy()
	after.Status = statusOf(s)
	checker, err := conformance.New()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checker.Objections(after)).To(BeEmpty())
	return after
}

func observerOf(t *testing.T, cached, live client.Reader) *Observer {
	t.Helper()
	o, err := NewObserver(ObserverOptions{
		Client: cached, Live: live, Catalogue: provider.New(),
		ControlPlane: &controlplane.Reader{Live: live, Ledger: controlplane.NewLedger(clock.RealClock{}), Clock: clock.RealClock{}},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return o
}
