package cluster

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

const noManager = "No manager has run the cloud loops since 2026-01-01T11:00:00Z."

// unattended is how a decision says it: for a moment, for too long, for so long that a person is called.
func unattended(overdue, person bool, also func(*migration.Decision)) func(*migration.Decision) {
	return func(d *migration.Decision) {
		also(d)
		d.Attendance = &migration.Attendance{
			Status:      metav1.ConditionFalse,
			Reason:      ucv1.CloudLoopsUnattendedReason,
			Message:     noManager,
			Overdue:     overdue,
			NeedsPerson: person,
		}
	}
}

func TestCloudLoopsThatNoManagerRunsComeFirst(t *testing.T) {
	migrating := []ucv1.Origin{ucv1.OriginMigrating}
	const no, yes, step = metav1.ConditionFalse, metav1.ConditionTrue, ucv1.StepHandover
	for name, tc := range map[string]state{
		"for a moment, the wait is told": {
			migrating, step, unchanged, unattended(false, false, waiting("ProvingSilence", "Waiting.")), nil,
			summary{kstatus.InProgressStatus, no, "ProvingSilence", yes, "", "Step Handover: Waiting."},
		},
		"for too long, Ready says so": {
			migrating, step, unchanged, unattended(true, false, waiting("ProvingSilence", "Waiting.")), nil,
			summary{kstatus.InProgressStatus, no, "CloudLoopsUnattended", yes, "", noManager},
		},
		"for twice as long, a person is called, whatever could not be looked at": {
			migrating, step, unchanged, unattended(true, true, blind("Could not look.")), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, noManager},
		},
		"it comes before a failure, which calls a person at once": {
			migrating, step, unchanged, unattended(true, false, failing("CanaryFailed", "The canary failed.")), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, noManager},
		},
		"in a finished cluster": {
			migrating, ucv1.StepFinished, completed, unattended(true, true, nothing), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, noManager},
		},
		"a pause hides nothing": {
			migrating, step, paused, unattended(true, true, nothing), nil,
			summary{kstatus.FailedStatus, no, "CloudLoopsUnattended", "", yes, noManager},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			after := reported(t, passOf(clusterOf(tc.origins[0], tc.change), decided(tc.origins[0], tc.step, tc.decide)))
			g.Expect(summaryOf(t, after)).To(Equal(tc.want))
			g.Expect(condition(after, ucv1.CloudLoopsAttendedCondition)).To(And(HaveField("Status", no), HaveField("Message", noManager)))
		})
	}
}

// A cluster that is done is Ready as long as it is seen that its loops are run, and no longer.
func TestAFinishedClusterWhoseManagerIsNotSeenIsNotReady(t *testing.T) {
	g := NewWithT(t)
	unseen := decided(ucv1.OriginMigrating, ucv1.StepFinished, func(d *migration.Decision) {
		d.Attendance = &migration.Attendance{
			Status:  metav1.ConditionUnknown,
			Reason:  ucv1.CouldNotLookReason,
			Message: "The CCM's Lease cannot be looked at.",
		}
	})
	first := reported(t, passOf(clusterOf(ucv1.OriginMigrating, completed), unseen))
	second := reported(t, passOf(first, unseen))
	g.Expect(condition(second, ucv1.ReadyCondition)).To(
		HaveField("Status", metav1.ConditionTrue),
		"one read that fails is no trouble",
	)

	pass := passOf(first, unseen)
	pass.now = pass.now.Add(time.Minute)
	after := reported(t, pass)
	g.Expect(condition(after, ucv1.ReadyCondition)).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", ucv1.CouldNotLookReason)),
	)
	g.Expect(after.Status.Conditions).NotTo(ContainElement(HaveField("Type", ucv1.StalledCondition)), "not to see calls no person")
}

func TestWhatIsUndecidedStaysAsItWas(t *testing.T) {
	g := NewWithT(t)
	origin, step := ucv1.OriginMigrating, ucv1.StepFinished
	before := reported(t, passOf(clusterOf(origin, completed), decided(origin, step, unattended(true, true, nothing))))
	again := reported(t, passOf(before, decided(origin, step, func(d *migration.Decision) {
		unattended(true, true, nothing)(d)
		d.Attendance.Message, d.Attendance.Undecided = "Another sentence.", true
	})))
	g.Expect(again.Status.Conditions).To(Equal(before.Status.Conditions), "a restart of ours changes nothing")
}

func TestUnattendedClustersAreToldAndCounted(t *testing.T) {
	g := NewWithT(t)
	o, origin := newTold(t), ucv1.OriginMigrating
	s := passOf(clusterOf(origin, atStep(ucv1.StepHandover)), decided(origin, ucv1.StepHandover, unattended(true, false, nothing)))
	after := reported(t, s)
	o.reconciler.tell(s, s.cluster.Status, after.Status)
	g.Expect(o.events()).To(Equal([]string{"Warning CloudLoopsUnattended " + noManager}))
	again := passOf(after, decided(origin, ucv1.StepHandover, unattended(true, false, nothing)))
	o.reconciler.tell(again, after.Status, reported(t, again).Status)
	g.Expect(o.events()).To(BeEmpty(), "once")

	metrics, key := o.reconciler.Metrics, client.ObjectKeyFromObject(after)
	attended := condition(after, ucv1.CloudLoopsAttendedCondition)
	metrics.stands(key, []metav1.Condition{attended})
	g.Expect(gauge(g, o.registry)).To(BeEquivalentTo(1))
	metrics.stands(key, nil)
	g.Expect(gauge(g, o.registry)).To(BeZero())
}

func gauge(g Gomega, registry *prometheus.Registry) (value float64) {
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "ccm_migration_clusters_unattended" {
			value = family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return value
}
