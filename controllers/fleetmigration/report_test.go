package fleetmigration_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// update what a person changes of the FleetMigration.
func (w *world) update(change func(*ucv1.FleetMigration)) {
	w.t.Helper()
	fm := w.fm()
	change(fm)
	w.g.Expect(w.client.Update(w.t.Context(), fm)).To(Succeed())
}

func (w *world) isGone() bool {
	w.t.Helper()
	err := w.client.Get(w.t.Context(), client.ObjectKey{Name: "fm"}, &ucv1.FleetMigration{})
	w.g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err != nil
}

func deleted(fm *ucv1.FleetMigration) {
	fm.DeletionTimestamp, fm.Finalizers = &metav1.Time{Time: noon()}, []string{ucv1.FleetFinalizer}
}

func released(fm *ucv1.FleetMigration) {
	deleted(fm)
	fm.Annotations = map[string]string{ucv1.FleetReleaseAnnotation: "true"}
}

func held(c *ucv1.Cluster) {
	claimed(ucv1.AdmissionAdmitted)(c)
	startedAt(noon())(c)
	c.Status.Admission.Directive, c.Status.Admission.HeldSince = ucv1.DirectiveHoldRoll, &metav1.Time{Time: noon()}
}

func completed(c *ucv1.Cluster) {
	held(c)
	c.Status.CompletedAt = &metav1.Time{Time: noon()}
}

func excluded(fm *ucv1.FleetMigration) {
	fm.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{{
		Name: "now", From: metav1.NewTime(noon().Add(-time.Hour)), To: metav1.NewTime(noon().Add(time.Hour)), InFlight: ucv1.HoldRollInFlight,
	}}
}

func TestADeletedFleetMigrationIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		fm      func(*ucv1.FleetMigration)
		cluster *ucv1.Cluster
		gone    bool
	}{
		"while a Cluster waits in it":            {deleted, candidate("a", claimed("Queued")), false},
		"not when it is released":                {released, candidate("a", claimed("Queued")), true},
		"not when the Cluster has started":       {deleted, candidate("a", claimed("Queued"), startedAt(noon())), true},
		"not for one that it admitted":           {deleted, candidate("a", claimed("Admitted")), true},
		"not for one that it has not claimed":    {deleted, candidate("a"), true},
		"while it holds the roll of one":         {deleted, candidate("a", held), false},
		"until that goes on when it is released": {released, candidate("a", held), false},
		"not for one that is completed":          {deleted, candidate("a", completed), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oneByOne(test.fm, excluded), test.cluster)
			w.pass()
			w.g.Expect(w.isGone()).To(Equal(test.gone))
			if test.gone {
				w.g.Expect(w.writes).To(Equal([]string{"finalizer fm", "status fm"}), "and claims nothing")
			}
		})
	}
}

// An alert tells a manager that decides no more from a fleet in which nothing happens.
func TestItIsDecidedAgainWhileThereIsAFleetMigration(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }))
	for range 3 {
		w.g.Expect(w.pass().RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", 15*time.Minute)))
	}
	w.g.Expect(w.writes).To(BeEmpty())
	alone := newWorld(t)
	alone.g.Expect(alone.pass().RequeueAfter).To(BeZero(), "and not without one")
}

// No one would tell a Cluster to go on whose FleetMigration is gone.
func TestAReleasedFleetMigrationLetsRollsGoOn(t *testing.T) {
	w := newWorld(t, oneByOne(released, excluded), candidate("a", held))
	w.pass()
	w.g.Expect(w.get("a").Status.Admission.Directive).To(Equal(ucv1.DirectiveProceed))
	w.pass()
	w.g.Expect(w.isGone()).To(BeTrue())
}

func TestAFleetMigrationThatCannotBeReadLetsNoRollGoOn(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) {
		excluded(fm)
		fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Mars/Olympus",
		}}}
	}), candidate("a", held))
	w.pass()
	w.g.Expect(w.get("a").Status.Admission.Directive).To(Equal(ucv1.DirectiveHoldRoll))
}

// Counts of a large fleet change all the time, and what else changes is told at once.
func TestCountsAreReportedNowAndThen(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }))
	w.pass()
	w.g.Expect(w.pass().RequeueAfter).To(BeNumerically(">", 0), "a window may change later")
	w.g.Expect(w.writes).To(BeEmpty(), "nothing is new")
	w.g.Expect(w.client.Create(t.Context(), candidate("a"))).To(Succeed())
	w.pass()
	w.clock.Step(time.Second)
	w.pass()
	w.clock.Step(time.Second)
	w.g.Expect(w.client.Create(t.Context(), candidate("b", claimed("Queued")))).To(Succeed())
	result := w.pass()
	w.g.Expect(w.writes).NotTo(ContainElement("status fm"))
	w.g.Expect(result.RequeueAfter).To(BeNumerically("<=", 10*time.Second))
	w.g.Expect(w.fm().Status.Clusters.Total).To(BeEquivalentTo(1))

	w.update(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetRun })
	w.pass()
	w.g.Expect(w.writes).To(ContainElements("status fm", "admission a"), "who is let go is written before it is")
	w.g.Expect(w.fm().Status.Clusters.Total).To(BeEquivalentTo(2))
}

func TestAPassIsMadeWhenAnExclusionEnds(t *testing.T) {
	w := newWorld(t, oneByOne(excluded, func(fm *ucv1.FleetMigration) {
		fm.Spec.Maintenance.Exclusions[0].To = metav1.NewTime(noon().Add(5 * time.Minute))
	}))
	w.pass()
	w.g.Expect(w.pass().RequeueAfter).To(Equal(5 * time.Minute))
}

// Who is let go is written down before it is, however short ago the last status was.
func TestWhoIsLetGoDoesNotWaitForTheCounts(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(2)) }), candidate("a"))
	w.pass()
	w.pass()
	w.clock.Step(time.Second)
	w.g.Expect(w.client.Create(t.Context(), candidate("b"))).To(Succeed())
	w.pass()
	w.g.Expect(w.writes).To(Equal([]string{"status fm", "admission b"}))
	w.g.Expect(w.fm().Status.Admitting).To(ConsistOf(HaveField("UID", "uid-b")))
}

// A clock that goes back does not stop the reports for as long.
func TestCountsAreReportedWhenTheClockGoesBack(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }), candidate("a", claimed("Queued")))
	w.pass()
	w.clock.SetTime(noon().Add(-time.Hour))
	w.g.Expect(w.client.Create(t.Context(), candidate("b", claimed("Queued")))).To(Succeed())
	w.pass()
	w.g.Expect(w.fm().Status.Clusters.Total).To(BeEquivalentTo(2))
}

// A halt is told of at once, and by an event.
func TestAHaltIsReportedAtOnce(t *testing.T) {
	w := newWorld(t, oneByOne(), candidate("a", claimed("Admitted"), startedAt(noon())), candidate("b", claimed("Queued")))
	w.pass()
	w.clock.Step(time.Second)
	c := w.get("a")
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: ucv1.ReadyCondition, Status: metav1.ConditionFalse, Reason: ucv1.FenceIneffectiveReason,
		LastTransitionTime: metav1.NewTime(w.clock.Now()),
	})
	w.g.Expect(w.client.Status().Update(t.Context(), c)).To(Succeed())
	w.pass()
	w.g.Expect(w.fm().Status.Halt).To(HaveField("Reason", ucv1.FenceIneffectiveReason))
	w.g.Expect(w.events.Events).To(Receive())
	w.g.Expect(w.events.Events).To(Receive(ContainSubstring("Warning Halted")))
}

// An API server with an older definition drops the field, and its answer leaves what was sent in the object.
func TestADefinitionThatDropsWhatIsBeingAdmitted(t *testing.T) {
	w := newWorld(t, oneByOne(), candidate("a"))
	w.client = interceptor.NewClient(w.client, interceptor.Funcs{
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption,
		) error {
			pruned, is := o.DeepCopyObject().(*ucv1.FleetMigration)
			if !is {
				return errKilled // Nothing else has a status that is updated.
			}
			pruned.Status.Admitting = nil
			err := c.SubResource(sub).Update(ctx, pruned, options...)
			o.SetResourceVersion(pruned.ResourceVersion)
			return err
		},
	})
	w.restart()
	w.g.Expect(w.pass().RequeueAfter).To(BeNumerically("<=", time.Minute))
	w.g.Expect(w.state("a")).To(BeEmpty())
}
