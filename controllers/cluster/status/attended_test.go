package status

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func TestCloudLoopsThatNoManagerRunsComeFirst(t *testing.T) {
	migrating := []ucv1.Origin{ucv1.OriginMigrating}
	const no, yes, step = metav1.ConditionFalse, metav1.ConditionTrue, ucv1.StepHandover
	for name, tc := range map[string]state{
		"for a moment, the wait is told": {
			migrating, step, passes.Unchanged, passes.Unattended(false, false, passes.Waiting("ProvingSilence", "Waiting.")), nil,
			summary{kstatus.InProgressStatus, no, "ProvingSilence", yes, "", "Waiting."},
		},
		"for too long, Ready says so": {
			migrating, step, passes.Unchanged, passes.Unattended(true, false, passes.Waiting("ProvingSilence", "Waiting.")), nil,
			summary{kstatus.InProgressStatus, no, "CloudLoopsUnattended", yes, "", passes.NoManager},
		},
		"for twice as long, a person is called, whatever could not be looked at": {
			migrating, step, passes.Unchanged, passes.Unattended(true, true, passes.Blind("Could not look.")), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, passes.NoManager},
		},
		"it comes before a failure, which calls a person at once": {
			migrating, step, passes.Unchanged, passes.Unattended(true, false, passes.Failing("CanaryFailed", "The canary failed.")), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, passes.NoManager},
		},
		"in a finished cluster": {
			migrating, ucv1.StepFinished, passes.Completed, passes.Unattended(true, true, passes.Nothing), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, passes.NoManager},
		},
		"a pause hides nothing": {
			migrating, step, passes.Paused, passes.Unattended(true, true, passes.Nothing), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, passes.NoManager},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			after := reported(t, passOf(passes.ClusterOf(tc.origins[0], tc.change), passes.Decided(tc.origins[0], tc.step, tc.decide)))
			g.Expect(summaryOf(t, after)).To(Equal(tc.want))
			g.Expect(passes.Condition(after, ucv1.CloudLoopsAttendedCondition)).To(
				And(HaveField("Status", no), HaveField("Message", passes.NoManager)),
			)
		})
	}
}

// A cluster that is done is Ready as long as it is seen that its loops are run, and no longer.
func TestAFinishedClusterWhoseManagerIsNotSeenIsNotReady(t *testing.T) {
	g := NewWithT(t)
	unseen := passes.Decided(ucv1.OriginMigrating, ucv1.StepFinished, func(d *migration.Decision) {
		d.Attendance = &migration.Attendance{
			Status:  metav1.ConditionUnknown,
			Reason:  ucv1.CouldNotLookReason,
			Message: "The CCM's Lease cannot be looked at.",
		}
	})
	first := reported(t, passOf(passes.ClusterOf(ucv1.OriginMigrating, passes.Completed), unseen))
	second := reported(t, passOf(first, unseen))
	g.Expect(passes.Condition(second, ucv1.ReadyCondition)).To(
		HaveField("Status", metav1.ConditionTrue),
		"one read that fails is no trouble",
	)

	pass := passOf(first, unseen)
	pass.Now = pass.Now.Add(time.Minute)
	after := reported(t, pass)
	g.Expect(passes.Condition(after, ucv1.ReadyCondition)).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", ucv1.CouldNotLookReason)),
	)
	g.Expect(after.Status.Conditions).NotTo(ContainElement(HaveField("Type", ucv1.StalledCondition)), "not to see calls no person")
}

// Nor does it claim for long that addons are there that it cannot compare, as when the Secret with the cloud configuration is gone.
func TestAFinishedClusterWhoseAddonsAreNotSeenIsNotReady(t *testing.T) {
	const why = "Secret x/cloud with the cloud configuration does not exist; create it"
	no := func(*ucv1.Cluster) {}
	for name, tc := range map[string]struct {
		change func(*ucv1.Cluster)
		decide func(*migration.Decision)
		later  time.Duration
		want   metav1.ConditionStatus
	}{
		"one read that fails is no trouble": {no, passes.Nothing, 0, metav1.ConditionTrue},
		"after a minute it is not known":    {no, passes.Nothing, time.Minute, metav1.ConditionUnknown},
		"those of another tool are not ours": {
			func(c *ucv1.Cluster) { c.Spec.Addons.Management = ucv1.ReleasedAddons }, passes.Nothing, time.Minute, metav1.ConditionTrue,
		},
		"a control plane that sleeps shows nothing": {
			no, lastLook(migration.Attendance{Status: metav1.ConditionUnknown, Reason: ucv1.HibernatedReason, Message: "It sleeps."}),
			time.Minute, metav1.ConditionTrue,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, cluster := NewWithT(t), passes.ClusterOf(ucv1.OriginMigrating, passes.Completed)
			tc.change(cluster)
			for range 2 {
				pass := passOf(cluster, passes.Decided(ucv1.OriginMigrating, ucv1.StepFinished, tc.decide))
				pass.Observed.Addons = observation.Unknown[observation.Addons](why)
				pass.Now = pass.Now.Add(tc.later)
				cluster = reported(t, pass)
				tc.later *= 2
			}
			ready := passes.Condition(cluster, ucv1.ReadyCondition)
			g.Expect(ready.Status).To(Equal(tc.want), ready.Message)
			if tc.want == metav1.ConditionUnknown {
				g.Expect(ready.Message).To(Equal("Could not look at the addons in the user cluster: " + why + "."))
			}
			g.Expect(cluster.Status.Conditions).NotTo(ContainElement(HaveField("Type", ucv1.StalledCondition)), "not to see calls no person")
		})
	}
}

func TestWhatIsUndecidedStaysAsItWas(t *testing.T) {
	g := NewWithT(t)
	origin, step := ucv1.OriginMigrating, ucv1.StepFinished
	before := reported(
		t,
		passOf(passes.ClusterOf(origin, passes.Completed), passes.Decided(origin, step, passes.Unattended(true, true, passes.Nothing))),
	)
	again := reported(t, passOf(before, passes.Decided(origin, step, func(d *migration.Decision) {
		passes.Unattended(true, true, passes.Nothing)(d)
		d.Attendance.Message, d.Attendance.Undecided = "Another sentence.", true
	})))
	g.Expect(again.Status.Conditions).To(Equal(before.Status.Conditions), "a restart of ours changes nothing")
}
