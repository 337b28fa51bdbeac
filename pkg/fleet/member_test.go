package fleet_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func stamp(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }

func conditionOf(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, ObservedGeneration: 2, LastTransitionTime: *stamp(ago(time.Hour))}
}

func lookedAt(status metav1.ConditionStatus, reason string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		c.Status.LookAhead = &ucv1.LookAheadStatus{LookedAt: stamp(ago(time.Hour))}
		c.Status.Conditions = append(c.Status.Conditions, conditionOf(ucv1.ReadyToMigrateCondition, status, reason))
	}
}

type memberTest struct {
	change func(*ucv1.Cluster)
	is     func(fleet.Member) bool
}

func TestWhatOfAClusterThatWaitsCounts(t *testing.T) {
	t.Parallel()
	testMembers(t, map[string]memberTest{
		"what no one looked at is not known": {func(*ucv1.Cluster) {}, func(m fleet.Member) bool {
			return !m.Blocking.IsKnown() && !m.Nodes.IsKnown()
		}},
		"a look that found nothing": {lookedAt(metav1.ConditionTrue, ucv1.NothingBlocksReason), func(m fleet.Member) bool {
			return m.Blocking == observation.Known(false) && m.LookedAt.Equal(ago(time.Hour))
		}},
		"a look that found something": {lookedAt(metav1.ConditionFalse, ucv1.FindingsReason), func(m fleet.Member) bool {
			return m.Blocking == observation.Known(true)
		}},
		"a look that could not see is none": {lookedAt(metav1.ConditionUnknown, ucv1.CouldNotLookReason), func(m fleet.Member) bool {
			return !m.Blocking.IsKnown()
		}},
		"a look of an older spec is none": {func(c *ucv1.Cluster) {
			lookedAt(metav1.ConditionTrue, ucv1.NothingBlocksReason)(c)
			c.Generation++
		}, func(m fleet.Member) bool { return !m.Blocking.IsKnown() }},
		"one that was made with the feature has nothing to migrate": {func(c *ucv1.Cluster) {
			c.Status.Origin = ucv1.OriginExternal
		}, func(m fleet.Member) bool { return m.OutOfScope == "External" }},
		"nor has one whose provider never was in-tree": {func(c *ucv1.Cluster) {
			c.Spec.Cloud.ProviderName = "hetzner"
		}, func(m fleet.Member) bool { return m.OutOfScope == ucv1.NotSupportedReason }},
		"the provider of a Cluster": {func(*ucv1.Cluster) {}, func(m fleet.Member) bool { return m.Provider == "openstack" }},
		"one that has begun stays in": {func(c *ucv1.Cluster) {
			c.Spec.Cloud.ProviderName, c.Status.StartedAt = "hetzner", stamp(noon())
		}, func(m fleet.Member) bool { return m.OutOfScope == "" }},
		"a plan that has to be approved": {func(c *ucv1.Cluster) { c.Spec.Mode = ucv1.PlanOnlyMode }, func(m fleet.Member) bool {
			return m.AwaitsPlan
		}},
		"a feature that someone wrote out as off": {func(c *ucv1.Cluster) {
			c.Spec.Features.ExternalCloudProvider = new(false)
		}, func(m fleet.Member) bool { return m.HeldOff && !m.Requested }},
		"windows that cannot be read": {func(c *ucv1.Cluster) {
			c.Spec.Maintenance.Windows = []ucv1.MaintenanceWindow{{Name: "w", Schedule: "0 22 * * *", TimeZone: "Mars/Base", DurationSeconds: 900}}
		}, func(m fleet.Member) bool { return m.WindowsUnreadable && m.Windows != nil }},
	})
}

func TestWhatOfAClusterThatMigratesCounts(t *testing.T) {
	t.Parallel()
	testMembers(t, map[string]memberTest{
		"one that needs a person": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{conditionOf(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.BlockedMachinesReason)}
		}, func(m fleet.Member) bool {
			return m.Stalled == fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: ago(time.Hour)} && len(m.Troubles) == 1
		}},
		"one that cannot be reached": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{
				conditionOf(ucv1.UserClusterReachableCondition, metav1.ConditionUnknown, ucv1.UnreachableReason),
			}
		}, func(m fleet.Member) bool { return m.Unreachable == ucv1.UnreachableReason }},
		"neither steps that were not come to nor the moment of a hand-over are troubles": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{
				conditionOf(ucv1.HandoverCompletedCondition, metav1.ConditionFalse, ucv1.WaitingForEarlierStepReason),
				conditionOf(ucv1.CloudLoopsAttendedCondition, metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason),
			}
		}, func(m fleet.Member) bool { return len(m.Troubles) == 0 }},
		"cloud loops that no manager has run for too long are one": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{
				conditionOf(ucv1.ReadyCondition, metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason),
			}
			c.Status.UnattendedSince = stamp(ago(time.Minute))
		}, func(m fleet.Member) bool {
			return len(m.Troubles) == 1 && m.Troubles[0] == fleet.Trouble{Reason: ucv1.CloudLoopsUnattendedReason, Since: ago(time.Minute)}
		}},
		"a reason that took the place of another one is new": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{conditionOf(ucv1.StalledCondition, metav1.ConditionTrue, ucv1.BlockedMachinesReason)}
			for reason, at := range map[string]time.Duration{ucv1.BlockedMachinesReason: time.Minute, ucv1.BreakerTrippedReason: 0} {
				c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
					Kind: ucv1.TimelineFailure, Reason: reason, Time: *stamp(ago(at)),
				})
			}
		}, func(m fleet.Member) bool { return m.Stalled.Since.Equal(ago(time.Minute)) }},
		"pauses since the start, and held rolls": {func(c *ucv1.Cluster) {
			c.Status.StartedAt = stamp(ago(3 * time.Hour))
			c.Status.Admission = &ucv1.AdmissionStatus{State: ucv1.AdmissionAdmitted, AdmittedAt: stamp(ago(3 * time.Hour)), HeldSeconds: 60}
			for _, entry := range []struct {
				kind ucv1.TimelineKind
				at   time.Duration
			}{
				{ucv1.TimelineHalt, 4 * time.Hour}, {ucv1.TimelineResume, 2 * time.Hour},
				{ucv1.TimelineHalt, 90 * time.Minute}, {ucv1.TimelineResume, time.Hour}, {ucv1.TimelineHalt, time.Minute},
			} {
				c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
					Kind: entry.kind, Reason: ucv1.PausedReason, Time: *stamp(ago(entry.at)),
				})
			}
		}, func(m fleet.Member) bool { return m.PausedFor == 91*time.Minute }},
		"only a point of no return that is known to be ahead is": {func(c *ucv1.Cluster) {
			c.Status.Handover = &ucv1.HandoverStatus{PointOfNoReturn: &ucv1.PointOfNoReturnStatus{State: ucv1.PointOfNoReturnAhead}}
		}, func(m fleet.Member) bool { return m.BeforeNoReturn }},
	})
}

func testMembers(t *testing.T, tests map[string]memberTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "one", UID: "u", Generation: 2}}
			c.Spec.Cloud.ProviderName = "openstack"
			test.change(c)
			m := fleet.MemberOf(c, nil, func(provider string) bool { return provider == "openstack" })
			NewWithT(t).Expect(test.is(m)).To(BeTrue(), "%+v", m)
		})
	}
}

func TestALookIsBelievedUntilTheNextIsDue(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for age, state := range map[time.Duration]fleet.State{25 * time.Hour: fleet.InFlight, 27 * time.Hour: fleet.Ineligible} {
		m := member("one", "canary")
		m.LookedAt = ago(age)
		plan := decide(openFleet(), m)
		g.Expect(plan.Members[0].State).To(Equal(state), "%s", age)
	}
}

func TestTheTimeOfAHeldRollIsKept(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	m := admitted(member("one", "canary"), ago(time.Hour))
	fm := openFleet()
	fm.Spec.OnHalt = ucv1.HoldRollInFlight
	fm.Status.Halt = &ucv1.FleetHalt{At: *stamp(ago(time.Minute))}
	plan := decide(fm, m)
	held := plan.Members[0].Admission(plan, &m, noon())
	g.Expect(held.HeldSince).To(Equal(stamp(noon())))
	m.Admission = held
	fm.Status.Halt = nil
	plan = decide(fm, m)
	goesOn := plan.Members[0].Admission(plan, &m, noon().Add(90*time.Second))
	g.Expect(goesOn.HeldSince).To(BeNil())
	g.Expect(goesOn.HeldSeconds).To(BeEquivalentTo(90))
	g.Expect(goesOn.AdmittedAt).To(Equal(stamp(ago(time.Hour))))
}

// Whoever has it migrate again does not take it past windows, budgets and a halt.
func TestWhatWasRolledBackWaitsForItsTurnAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	m := admitted(member("one", "canary"), ago(time.Hour))
	m.StartedAt, m.RolledBack = time.Time{}, true
	plan := decide(openFleet(), m)
	again := plan.Members[0].Admission(plan, &m, noon())
	g.Expect(again).To(And(HaveField("State", ucv1.AdmissionQueued), HaveField("Directive", BeEmpty()), HaveField("Wave", "canary")))
	m.Admission = again
	plan = decide(openFleet(), m)
	g.Expect(plan.Members[0].State).To(Equal(fleet.RolledBack))
	g.Expect(plan.Members[0].Admission(plan, &m, noon())).To(BeNil(), "once")
	m.RolledBack = false
	fm := openFleet()
	fm.Spec.Mode = ucv1.FleetHold
	plan = decide(fm, m)
	g.Expect(plan.Members[0].State).To(Equal(fleet.Queued))
	g.Expect(plan.Members[0].Admit).To(BeFalse())
}
