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

// An API server that starts does not answer yet, and every control plane that wakes has one.
func TestAControlPlaneThatWakesHasTime(t *testing.T) {
	g := NewWithT(t)
	look := func(before *ucv1.Cluster, at time.Duration, reason string) *ucv1.Cluster {
		pass := passOf(before, passes.Decided(ucv1.OriginMigrating, ucv1.StepFinished, func(d *migration.Decision) {
			d.Attendance = &migration.Attendance{Status: metav1.ConditionUnknown, Reason: reason, Message: "It is not known."}
		}))
		pass.Now = passes.Start().Add(at)
		return reported(t, pass)
	}
	asleep := look(passes.ClusterOf(ucv1.OriginMigrating, passes.Completed), 0, ucv1.HibernatedReason)
	asleep = look(asleep, 8*time.Hour, ucv1.HibernatedReason)
	g.Expect(passes.Condition(asleep, ucv1.CloudLoopsAttendedCondition).LastTransitionTime.Time).To(Equal(passes.Start()))

	wakes := look(asleep, 8*time.Hour+time.Second, ucv1.CouldNotLookReason)
	wakes = look(wakes, 8*time.Hour+10*time.Second, ucv1.CouldNotLookReason)
	g.Expect(passes.Condition(wakes, ucv1.ReadyCondition).Status).To(Equal(metav1.ConditionTrue))
	wakes = look(wakes, 8*time.Hour+2*time.Minute, ucv1.CouldNotLookReason)
	g.Expect(passes.Condition(wakes, ucv1.ReadyCondition).Status).To(Equal(metav1.ConditionUnknown))
}

// Nor does it claim that addons are there that it cannot compare, as when the Secret with the cloud configuration is gone. Who was
// called because of objects of someone else is not sent away by a read that failed.
func TestAFinishedClusterDoesNotClaimAddonsThatAreNotSeen(t *testing.T) {
	finished := func(before *ucv1.Cluster, addons observation.Observed[observation.Addons], decide func(*migration.Decision)) (
		*ucv1.Cluster, metav1.Condition,
	) {
		pass := passOf(before, passes.Decided(before.Status.Origin, ucv1.StepFinished, decide))
		pass.Observed.Addons = addons
		after := reported(t, pass)
		return after, passes.Condition(after, ucv1.ReadyCondition)
	}
	unseen := observation.Unknown[observation.Addons]("Secret x/cloud with the cloud configuration does not exist; create it")
	for _, origin := range []ucv1.Origin{ucv1.OriginMigrating, ucv1.OriginExternal} {
		t.Run(string(origin), func(t *testing.T) {
			g := NewWithT(t)
			before := passes.ClusterOf(origin, passes.Completed)
			seen, ready := finished(before, observation.Known(observation.Addons{}), passes.Nothing)
			g.Expect(ready.Message).NotTo(ContainSubstring("CSIReady"))
			_, ready = finished(seen, unseen, passes.Nothing)
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), "nothing else is wrong, and no one is called")
			g.Expect(ready.Message).To(And(Not(ContainSubstring("are applied")), ContainSubstring("condition CSIReady says why")))

			called, _ := finished(before, observation.Known(observation.Addons{}), passes.Failing("ForeignObjects", "They are theirs."))
			still, ready := finished(called, unseen, passes.Nothing)
			g.Expect(ready).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", "They are theirs.")))
			g.Expect(passes.Condition(still, ucv1.StalledCondition)).To(HaveField("Reason", "ForeignObjects"))
			_, ready = finished(still, observation.Known(observation.Addons{}), passes.Nothing)
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), "they were seen to be gone")

			called, _ = finished(before, observation.Known(observation.Addons{}), passes.Failing("CloudLoopsContended", "KCM runs them."))
			_, ready = finished(called, unseen, passes.Nothing)
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), "KCM was seen to be silent")
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
