package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

func TestTheNextPassIsInTimeForALateNode(t *testing.T) {
	wait, long := &outcome.Wait{Reason: "WaitingForMachines"}, &outcome.Wait{Reason: "Soaking", After: time.Hour}
	for name, tc := range map[string]struct {
		decision migration.Decision
		least    time.Duration
		most     time.Duration
	}{
		"a wait without a Node that may be late":     {migration.Decision{Wait: wait}, working, 2 * working},
		"a Node is late before that":                 {migration.Decision{Wait: wait, LookAfter: 7 * time.Second}, 7 * time.Second, 7 * time.Second},
		"a long wait is looked at now and then":      {migration.Decision{Wait: long}, working, 2 * working},
		"a short one ends in time":                   {migration.Decision{Wait: &outcome.Wait{After: time.Second}}, time.Second, time.Second},
		"whatever fails meanwhile":                   {migration.Decision{Failure: &outcome.Failure{}, LookAfter: 7 * time.Second}, 7 * time.Second, 7 * time.Second},
		"a Node is late after that":                  {migration.Decision{Wait: wait, LookAfter: time.Hour}, working, 2 * working},
		"a change is looked at at once":              {migration.Decision{Action: &outcome.Action{}, LookAfter: 7 * time.Second}, afterVerb, afterVerb},
		"an in-tree cluster is left alone otherwise": {migration.Decision{Step: ucv1.StepInTree}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			next, err := result(&scope{Pass: status.Pass{Decision: tc.decision}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(next.RequeueAfter).To(And(BeNumerically(">=", tc.least), BeNumerically("<=", tc.most)))
		})
	}
}

// The webhook of the machine-controller kept a refusal for five minutes, and the next try came almost three minutes after that.
func TestAnActionThatIsRefusedIsTriedAgainEveryMinute(t *testing.T) {
	g, limiter := NewWithT(t), retries()
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "user-alpha", Name: "alpha"}}
	waited := time.Duration(0)
	for range 100 {
		last := limiter.When(request)
		g.Expect(last).To(BeNumerically("<=", working))
		waited += last
	}
	g.Expect(waited).To(BeNumerically(">", 80*working), "not more often either")
	limiter.Forget(request)
	g.Expect(limiter.When(request)).To(Equal(firstRetry), "after a pass without an error")
}

func TestTheEventsOfServicesAreLookedAtHoweverLongTheWaitIs(t *testing.T) {
	g := NewWithT(t)
	s := &scope{Pass: status.Pass{Decision: migration.Decision{Wait: &outcome.Wait{Reason: "Soaking", After: time.Hour}}}}
	s.Observed.Measured = observation.Known(slo.Seen{Waits: true})
	next, err := result(s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.RequeueAfter).To(Equal(measuring))
}

func TestAClusterThatIsGoneIsForgotten(t *testing.T) {
	g, r, key := NewWithT(t), reconcilerOf(t, interceptor.Funcs{}), client.ObjectKey{Namespace: "user-alpha", Name: "alpha"}
	r.Planner, r.UserClusters, r.Metrics = &Planner{}, &usercluster.Registry{}, newTold(t).reconciler.Metrics
	changes := controlplane.NewChanges()
	r.Observer.controlPlane.Changes = changes
	before := changes.Mark(key.Namespace)
	g.Expect(r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})).To(BeZero())
	g.Expect(changes.Mark(key.Namespace)).NotTo(Equal(before), "what was kept of it is not taken again")
}
