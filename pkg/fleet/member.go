package fleet

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// MemberOf is what a Cluster is to the decision. Its labels are not copied. CanMigrate says whether a provider of the catalogue
// was ever in-tree.
func MemberOf(c *ucv1.Cluster, namespaceLabels labels.Set, canMigrate func(provider string) bool) Member {
	m := Member{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), Provider: c.Spec.Cloud.ProviderName,
		Labels: c.Labels, NamespaceLabels: namespaceLabels,
		Deleting: c.DeletionTimestamp != nil, OutOfScope: outOfScope(c, canMigrate),
		Requested: c.ExternalCloudProvider(), Immediate: c.Immediate(), Admission: c.Status.Admission,
		StartedAt: at(c.Status.StartedAt), CompletedAt: at(c.Status.CompletedAt), Paused: c.Spec.Paused,
		AwaitsPlan:     c.Spec.Mode == ucv1.PlanOnlyMode && c.Spec.Approval.PlanDigest == "",
		RolledOut:      meta.IsStatusConditionTrue(c.Status.Conditions, ucv1.MachineDeploymentsRolledOutCondition),
		BeforeNoReturn: beforeNoReturn(c),
	}
	// A value that is written out is someone's: an apply of theirs would take ours back, which the API server refuses.
	m.HeldOff = c.Spec.Features.ExternalCloudProvider != nil && !m.Requested
	if nodes := c.Status.Nodes; nodes != nil {
		m.Nodes = observation.Known(nodes.Total)
	}
	if back := c.Status.Rollback; back != nil {
		m.RollingBack, m.RolledBack = back.FinishedAt == nil, back.FinishedAt != nil
	}
	if objectives := c.Status.SLO; objectives != nil {
		m.Verdict = slo.Verdict(objectives.Verdict)
		m.VerdictAt = later(at(objectives.ViolatedAt), at(objectives.Until))
	}
	m.PausedFor = pausedFor(c, m.begun()) + heldFor(c.Status.Admission)
	m.readWindows(c)
	m.readLook(c)
	m.readConditions(&c.Status)
	if m.done() {
		m.HealthySince = healthySince(c.Status.Conditions)
	}
	return m
}

func at(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// outOfScope is why there is nothing to migrate. What has begun stays in.
func outOfScope(c *ucv1.Cluster, canMigrate func(provider string) bool) string {
	switch {
	case c.Status.Origin == ucv1.OriginExternal:
		return string(ucv1.OriginExternal)
	case c.Status.StartedAt == nil && !canMigrate(c.Spec.Cloud.ProviderName):
		return ucv1.NotSupportedReason
	}
	return ""
}

func beforeNoReturn(c *ucv1.Cluster) bool {
	h := c.Status.Handover
	return c.Status.PointOfNoReturnAt == nil && h != nil && h.PointOfNoReturn != nil &&
		h.PointOfNoReturn.State == ucv1.PointOfNoReturnAhead
}

// readWindows of its owner. Those that cannot be read never open.
func (m *Member) readWindows(c *ucv1.Cluster) {
	if len(c.Spec.Maintenance.Windows) == 0 {
		return
	}
	of := ucv1.FleetMaintenance{}
	for _, w := range c.Spec.Maintenance.Windows {
		of.Windows = append(of.Windows, ucv1.FleetWindow{MaintenanceWindow: w})
	}
	calendar, err := window.NewCalendar(of)
	m.Windows, m.WindowsUnreadable = &calendar, err != nil
}

// readLook of a Cluster that has not started: one of its spec as it is now.
func (m *Member) readLook(c *ucv1.Cluster) {
	look := c.Status.LookAhead
	ready := meta.FindStatusCondition(c.Status.Conditions, ucv1.ReadyToMigrateCondition)
	switch {
	case look == nil || look.LookedAt == nil || ready == nil || ready.ObservedGeneration != c.Generation:
	case ready.Status != metav1.ConditionUnknown:
		m.LookedAt = look.LookedAt.Time
		m.Blocking = observation.Known(ready.Status == metav1.ConditionFalse)
	}
}

func (m *Member) readConditions(status *ucv1.ClusterStatus) {
	for _, c := range status.Conditions {
		is, since := c.Status == metav1.ConditionTrue, c.LastTransitionTime.Time
		switch {
		case c.Type == ucv1.CloudLoopsAttendedCondition:
			// In each hand-over no manager runs them for some seconds. Ready has that reason when it is for too long.
		case c.Type == ucv1.StalledCondition && is:
			m.Stalled = Trouble{c.Reason, failedSince(status, c)}
			m.Troubles = append(m.Troubles, m.Stalled)
		case c.Type == ucv1.ReadyCondition && c.Reason == ucv1.CloudLoopsUnattendedReason:
			m.Troubles = append(m.Troubles, Trouble{c.Reason, later(since, at(status.UnattendedSince))})
		case c.Type == ucv1.UserClusterReachableCondition && !is:
			m.Unreachable = c.Reason
			m.Troubles = append(m.Troubles, Trouble{c.Reason, since})
		case isTrouble(c):
			m.Troubles = append(m.Troubles, Trouble{c.Reason, since})
		}
	}
}

func healthySince(conditions []metav1.Condition) time.Time {
	ready := meta.FindStatusCondition(conditions, ucv1.ReadyCondition)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return time.Time{}
	}
	return ready.LastTransitionTime.Time
}

// isTrouble says that a condition is False, and not because its step was not come to.
func isTrouble(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && c.Reason != ucv1.WaitingForEarlierStepReason
}

// failedSince is since when a person has been called for this reason: the condition may have been there for another one before,
// that a person has looked at.
func failedSince(status *ucv1.ClusterStatus, stalled metav1.Condition) time.Time {
	since := stalled.LastTransitionTime.Time
	for _, entry := range status.Timeline {
		if entry.Kind == ucv1.TimelineFailure && entry.Reason == stalled.Reason {
			since = later(since, entry.Time.Time)
		}
	}
	return since
}

// pausedFor sums up the pauses by a person since a migration began, as far as the timeline has them.
func pausedFor(c *ucv1.Cluster, begun time.Time) (sum time.Duration) {
	began := time.Time{}
	for _, entry := range c.Status.Timeline {
		switch {
		case entry.Reason != ucv1.PausedReason || begun.IsZero():
		case entry.Kind == ucv1.TimelineHalt:
			began = later(entry.Time.Time, begun)
		case entry.Kind == ucv1.TimelineResume && !began.IsZero() && entry.Time.After(began):
			sum, began = sum+entry.Time.Sub(began), time.Time{}
		}
	}
	return sum
}

func heldFor(a *ucv1.AdmissionStatus) time.Duration {
	if a == nil {
		return 0
	}
	return time.Duration(a.HeldSeconds) * time.Second
}
