package cluster

import (
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
)

func start() time.Time { return time.Unix(1700000000, 0).UTC() }

func at(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }

// clusterOf is a Cluster as a pass finds it: its origin is known, its last status is of another time.
func clusterOf(origin ucv1.Origin, changes ...func(*ucv1.Cluster)) *ucv1.Cluster {
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "alpha", UID: "1", Generation: 4}}
	c.Spec.Version = "1.30.14"
	c.Spec.Cloud.ProviderName = "simcloud"
	if origin != ucv1.OriginInTree {
		on := true
		c.Spec.Features.ExternalCloudProvider = &on
	}
	c.Status.Origin = origin
	for _, change := range changes {
		change(c)
	}
	return c
}

func paused(c *ucv1.Cluster) { c.Spec.Paused = true }

func deleted(c *ucv1.Cluster) { c.DeletionTimestamp = at(start()) }

// completed has the fact that only a migration has.
func completed(c *ucv1.Cluster) {
	if c.Status.Origin == ucv1.OriginMigrating {
		c.Status.CompletedAt = at(start().Add(-time.Hour))
	}
}

// decided is a decision that stands at a step of the origin's table: the rows before it hold, those behind it wait.
func decided(origin ucv1.Origin, step ucv1.Step, change func(*migration.Decision)) migration.Decision {
	decision := migration.Decision{Step: step}
	change(&decision)
	if origin == ucv1.OriginInTree {
		return decision
	}
	if decision.Attendance == nil {
		decision.Attendance = &migration.Attendance{
			Status:  metav1.ConditionTrue,
			Reason:  ucv1.AttendedReason,
			Message: "The CCM leads.",
		}
	}
	behind := false
	for _, row := range migration.Table(origin) {
		state := migration.RowState{Step: row.Step, Holds: true, Reason: ucv1.HoldsReason}
		switch {
		case step == ucv1.StepRolledBack:
			state = migration.RowState{Step: row.Step, Reason: ucv1.RolledBackReason, Message: "Rolled back."}
		case strings.HasPrefix(string(step), "Rollback"):
			state = migration.RowState{Step: row.Step, Reason: ucv1.RollbackInProgressReason, Message: "Being rolled back."}
		case behind:
			state = migration.RowState{Step: row.Step, Reason: ucv1.WaitingForEarlierStepReason, Message: "Waits."}
		case row.Step == step:
			behind, state = true, stateOf(step, decision)
		}
		decision.Rows = append(decision.Rows, state)
	}
	return decision
}

func stateOf(step ucv1.Step, decision migration.Decision) migration.RowState {
	switch {
	case decision.Calls() != nil:
		return migration.RowState{Step: step, Reason: decision.Calls().Reason, Message: decision.Calls().Message}
	case decision.Wait != nil:
		return migration.RowState{
			Step:    step,
			Reason:  decision.Wait.Reason,
			Message: decision.Wait.Message,
			Unknown: decision.Wait.Unknown,
		}
	}
	return migration.RowState{Step: step, Reason: ucv1.ActingReason, Message: "Acts."}
}

func nothing(*migration.Decision) {}

func failing(reason string, message ...any) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Failure = outcome.Fails(reason, message...).Failure }
}

func waiting(reason, message string) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Wait = &outcome.Wait{Reason: reason, Message: message} }
}

func blind(message string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		d.Wait = &outcome.Wait{Reason: ucv1.CouldNotLookReason, Message: message, Unknown: true}
	}
}

func doing(kind outcome.ActionKind, why string) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Action = &outcome.Action{Kind: kind, Why: why} }
}

// leaving is what a deleted Cluster does before it goes.
func leaving(kind outcome.ActionKind, why string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		doing(kind, why)(d)
		d.Leaving = "The Cluster is being deleted; it goes later."
	}
}

// returning is beside the failure of a halted roll.
func returning(reason, message string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		doing(outcome.ActionReturnMinReady, "Giving minReadySeconds of MachineDeployment x back.")(d)
		failing(reason, message)(d)
	}
}

// passOf is the pass that made the decision.
func passOf(c *ucv1.Cluster, decision migration.Decision) *scope {
	s := &scope{cluster: c, now: start(), decision: decision}
	s.observed = observation.Observation{
		Cluster: c,
		Keeper:  observation.Absent[observation.Ref](),
		Connection: observation.Connection{
			Reachable: true, Reason: ucv1.ReachableReason, Message: "The API server of the user cluster answers",
		},
	}
	s.shown = migration.ShownOf(s.observed, decision.Rows, s.now)
	return s
}

// statusOf a pass whose observation may have been changed after passOf.
func statusOf(s *scope) ucv1.ClusterStatus {
	s.shown = migration.ShownOf(s.observed, s.decision.Rows, s.now)
	return computeStatus(s)
}

// reported is the Cluster after the pass; it keeps all promises.
func reported(t *testing.T, s *scope) *ucv1.Cluster {
	t.Helper()
	g := NewWithT(t)
	after := s.cluster.DeepCopy()
	after.Status = statusOf(s)
	checker, err := conformance.New()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checker.Objections(after)).To(BeEmpty())
	return after
}

func verdict(t *testing.T, c *ucv1.Cluster) kstatus.Status {
	t.Helper()
	got, err := conformance.Verdict(c)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return got
}

func condition(c *ucv1.Cluster, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
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
