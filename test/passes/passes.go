package passes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/conformance"
)

// Start is when the first pass is.
func Start() time.Time { return time.Unix(1700000000, 0).UTC() }

// At is a time of the API.
func At(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }

// ClusterOf is a Cluster as a pass finds it: its origin is known, its last status is of another time.
func ClusterOf(origin ucv1.Origin, changes ...func(*ucv1.Cluster)) *ucv1.Cluster {
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

// Paused says spec.paused.
func Paused(c *ucv1.Cluster) { c.Spec.Paused = true }

// Deleted says that the Cluster is being deleted.
func Deleted(c *ucv1.Cluster) { c.DeletionTimestamp = At(Start()) }

// Completed has the fact that only a migration has.
func Completed(c *ucv1.Cluster) {
	if c.Status.Origin == ucv1.OriginMigrating {
		c.Status.CompletedAt = At(Start().Add(-time.Hour))
	}
}

// Decided is a decision that stands at a step of the origin's table: the rows before it hold, those behind it wait.
func Decided(origin ucv1.Origin, step ucv1.Step, change func(*migration.Decision)) migration.Decision {
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

// Nothing is decided but the step.
func Nothing(*migration.Decision) {}

// Failing calls a person.
func Failing(reason string, message ...any) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Failure = outcome.Fails(reason, message...).Failure }
}

// Waiting has a reason.
func Waiting(reason, message string) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Wait = &outcome.Wait{Reason: reason, Message: message} }
}

// Blind could not look.
func Blind(message string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		d.Wait = &outcome.Wait{Reason: ucv1.CouldNotLookReason, Message: message, Unknown: true}
	}
}

// Doing is the action of the decision.
func Doing(kind outcome.ActionKind, why string) func(*migration.Decision) {
	return func(d *migration.Decision) { d.Action = &outcome.Action{Kind: kind, Why: why} }
}

// Leaving is what a deleted Cluster does before it goes.
func Leaving(kind outcome.ActionKind, why string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		Doing(kind, why)(d)
		d.Leaving = "The Cluster is being deleted; it goes later."
	}
}

// Returning is beside the failure of a halted roll.
func Returning(reason, message string) func(*migration.Decision) {
	return func(d *migration.Decision) {
		Doing(outcome.ActionReturnMinReady, "Giving minReadySeconds of MachineDeployment x back.")(d)
		Failing(reason, message)(d)
	}
}

// Verdict of kstatus about a Cluster.
func Verdict(t *testing.T, c *ucv1.Cluster) kstatus.Status {
	t.Helper()
	got, err := conformance.Verdict(c)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return got
}

// Condition of a Cluster, empty when it has none of the kind.
func Condition(c *ucv1.Cluster, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// Refs are MachineDeployments.
func Refs(count int) []observation.Ref {
	var refs []observation.Ref
	for i := range count {
		refs = append(refs, observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: fmt.Sprintf("pool-%d", i)})
	}
	return refs
}

// Entry of a timeline, some minutes after the start.
func Entry(kind ucv1.TimelineKind, minute int) ucv1.TimelineEntry {
	return ucv1.TimelineEntry{
		Time:  metav1.NewTime(Start().Add(time.Duration(minute) * time.Minute)),
		Kind:  kind,
		Step:  ucv1.StepRoll,
		Actor: ucv1.FieldManager,
	}
}

// AtStep is where the last status of the Cluster stood.
func AtStep(step ucv1.Step) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Status.Step = step }
}

// StalledAlready says that a person was called before.
func StalledAlready(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: "Stalled", Status: metav1.ConditionTrue, Reason: "BlockedMachines", Message: "Blocked.", LastTransitionTime: *At(Start()),
	})
}

// Unchanged leaves a Cluster as it is.
func Unchanged(*ucv1.Cluster) {}

// Unattended is how a decision says it: for a moment, for too long, for so long that a person is called.
func Unattended(overdue, person bool, also func(*migration.Decision)) func(*migration.Decision) {
	return func(d *migration.Decision) {
		also(d)
		d.Attendance = &migration.Attendance{
			Status:      metav1.ConditionFalse,
			Reason:      ucv1.CloudLoopsUnattendedReason,
			Message:     NoManager,
			Overdue:     overdue,
			NeedsPerson: person,
		}
	}
}

// NoManager is what Unattended says.
const NoManager = "No manager has run the cloud loops since 2026-01-01T11:00:00Z."
