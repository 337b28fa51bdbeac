package cluster

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func handingOver(c *ucv1.Cluster) { c.Status.StartedAt = passes.At(passes.Start()) }

func handedOver(c *ucv1.Cluster) {
	handingOver(c)
	c.Status.Handover = &ucv1.HandoverStatus{FinishedAt: passes.At(passes.Start())}
}

func rollingBackAgain(c *ucv1.Cluster) {
	handedOver(c)
	c.Status.Rollback = &ucv1.RollbackStatus{StartedAt: passes.At(passes.Start())}
}

// The annotations are missing in each case, which is something to do.
func TestWhatRestsOnAProofIsDecidedOfWhatIsReadForIt(t *testing.T) {
	for name, tc := range map[string]struct {
		stands func(*ucv1.Cluster)
		acts   bool
		again  int
	}{
		"an action in the hand-over":   {handingOver, true, 1},
		"nothing to do there":          {handingOver, false, 0},
		"an action after it":           {handedOver, true, 0},
		"an action of a rollback":      {rollingBackAgain, true, 1},
		"an action before it is begun": {func(*ucv1.Cluster) {}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g, lists := NewWithT(t), 0
			live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, is := list.(*appsv1.DeploymentList); is {
						lists++
					}
					return c.List(ctx, list, options...)
				},
			}).Build()
			observer, err := NewObserver(ObserverOptions{
				Client: live, Live: live, Catalogue: provider.New(), KeepReads: true,
				ControlPlane: &controlplane.Reader{
					Live: live, Ledger: controlplane.NewLedger(clock.RealClock{}), Clock: clock.RealClock{},
					Changes: controlplane.NewChanges(),
				},
			})
			g.Expect(err).NotTo(HaveOccurred())
			s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating, tc.stands), Now: passes.Start()}}
			s.Observed = observation.Observation{
				Cluster: s.Cluster, Provider: observation.Known(observation.Provider{CanMigrate: tc.acts}),
				Turn: observation.Absent[observation.Turn](),
			}
			for range 2 {
				observer.observeControlPlane(t.Context(), s)
			}
			g.Expect(lists).To(Equal(1), "the second pass uses what the first one read")
			if failure := migration.Decide(s.Observed, s.Now).Calls(); failure != nil { // The status has it already.
				s.Cluster.Status.Conditions = []metav1.Condition{{Type: ucv1.StalledCondition, Reason: failure.Reason}}
			}
			s.Now = clock.RealClock{}.Now() // A pass that began after what was kept was read.
			(&Reconciler{Observer: observer}).decide(t.Context(), s)
			g.Expect(s.Decision.Next() != nil).To(Equal(tc.acts))
			g.Expect(lists - 1).To(Equal(tc.again))
		})
	}
}

func TestLookingAgainKeepsWhatTheUserClusterShowedOfTheMachineController(t *testing.T) {
	g, live := NewWithT(t), fake.NewClientBuilder().Build()
	s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating, handingOver), Now: passes.Start()}}
	s.Cluster.Spec.MachineController.Location = ucv1.UserClusterLocation
	s.Observed.Cluster = s.Cluster
	s.Observed.MachineController = observation.Known([]observation.MachineControllerDeployment{{InUserCluster: true}})
	observerOf(t, live, live).observeAgain(t.Context(), s, migration.Confirmation{Managers: true})
	g.Expect(s.Observed.MachineController.IsKnown()).To(BeTrue())
}
