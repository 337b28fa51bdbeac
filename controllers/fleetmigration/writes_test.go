package fleetmigration_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

var errKilled = errors.New("killed")

func conflict(name string) *apierrors.StatusError {
	return apierrors.NewConflict(schema.GroupResource{Resource: "clusters"}, name, errors.New("the cache is behind"))
}

func gone(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, name)
}

func onAdmission(fm *ucv1.FleetMigration) { fm.Spec.Enablement = ucv1.EnablementOnAdmission }

func featureOff(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil }

// What is being admitted is written down first: a kill between any two writes lets no other Cluster go.
func TestTheOrderOfWrites(t *testing.T) {
	w := newWorld(t, oneByOne(onAdmission), candidate("a", featureOff), candidate("b", featureOff))
	w.pass()
	w.g.Expect(w.writes).To(Equal([]string{"finalizer fm", "status fm", "claim a", "feature a", "admission a", "claim b"}))
	for _, of := range w.applied {
		w.g.Expect(of.UID).To(BeEquivalentTo("uid-"+of.Name), "another object of this name is not meant")
		w.g.Expect(of.ResourceVersion).NotTo(BeEmpty(), "what was decided of an older view is not written")
	}
	w.g.Expect(w.get("a").ExternalCloudProvider()).To(BeTrue())
	w.g.Expect(w.get("b").ExternalCloudProvider()).To(BeFalse())
	w.g.Expect(w.fm().Status.Admitting).To(ConsistOf(HaveField("UID", "uid-a")))
	w.g.Expect(w.state("b")).To(Equal(ucv1.AdmissionQueued))
}

// A write that fails stops those that rest on it.
func TestWhatAWriteThatFailsComesTo(t *testing.T) {
	for name, test := range map[string]struct {
		refuse string
		with   error
		left   []string
		again  time.Duration
	}{
		"no Cluster is written after a status that is refused": {"status fm", errKilled, []string{"finalizer fm", "status fm"}, time.Minute},
		"nor after one that is older":                          {"status fm", conflict("fm"), []string{"finalizer fm", "status fm"}, time.Second},
		"nor when the FleetMigration is gone, which wakes by itself": {
			"status fm", gone("fm"), []string{"finalizer fm", "status fm"}, 0,
		},
		"nor without the finalizer": {"finalizer fm", errKilled, []string{"finalizer fm"}, time.Minute},
		"no feature is set of a Cluster that could not be claimed": {
			"claim a", conflict("a"), []string{"finalizer fm", "status fm", "claim a", "claim b"}, time.Second,
		},
		"no Cluster is admitted whose feature could not be set": {
			"feature a", conflict("a"), []string{"finalizer fm", "status fm", "claim a", "feature a", "claim b"}, time.Second,
		},
		"one that is gone keeps no other from being written": {
			"claim a", gone("a"), []string{"finalizer fm", "status fm", "claim a", "claim b"}, 0,
		},
		"an error comes again within a minute": {
			"admission a", errKilled, []string{"finalizer fm", "status fm", "claim a", "feature a", "admission a", "claim b"}, time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oneByOne(onAdmission), candidate("a", featureOff), candidate("b", featureOff))
			w.refuse = func(write string) error {
				if write == test.refuse {
					return test.with
				}
				return nil
			}
			result := w.pass()
			w.g.Expect(w.writes).To(Equal(test.left))
			if test.again > 0 {
				w.g.Expect(result.RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", test.again)))
			}
			w.g.Expect(w.state("a")).NotTo(Equal(ucv1.AdmissionAdmitted))
			w.refuse = func(string) error { return nil }
			w.restart()
			w.pass()
			w.pass()
			w.g.Expect(w.state("a")).To(Equal(ucv1.AdmissionAdmitted))
			w.g.Expect(w.state("b")).To(Equal(ucv1.AdmissionQueued), "one may migrate at once")
		})
	}
}

// A halt that cannot be reported holds rolls all the same: that starts nothing. One that was decided of an older view does not.
func TestAHaltHoldsRollsWhateverBecomesOfTheStatus(t *testing.T) {
	for name, test := range map[string]struct {
		with error
		want ucv1.FleetDirective
	}{
		"the status is refused":                          {errKilled, ucv1.DirectiveHoldRoll},
		"someone changed it meanwhile":                   {conflict("fm"), ucv1.DirectiveProceed},
		"it is gone, and would never let the roll go on": {gone("fm"), ucv1.DirectiveProceed},
	} {
		t.Run(name, func(t *testing.T) {
			two := func(fm *ucv1.FleetMigration) {
				fm.Spec.OnHalt, fm.Spec.Waves[0].MaxConcurrency = ucv1.HoldRollInFlight, new(intstr.FromInt32(2))
			}
			w := newWorld(t, oneByOne(two), candidate("a"), candidate("b"), candidate("c"))
			w.pass()
			w.pass()
			w.g.Expect(w.state("b")).To(Equal(ucv1.AdmissionAdmitted))
			for _, name := range []string{"a", "b"} {
				w.starts(name)
			}
			failed := w.get("a")
			meta.SetStatusCondition(&failed.Status.Conditions, metav1.Condition{
				Type: ucv1.StalledCondition, Status: metav1.ConditionTrue, Reason: ucv1.BlockedMachinesReason,
				LastTransitionTime: metav1.NewTime(w.clock.Now()),
			})
			w.g.Expect(w.client.Status().Update(t.Context(), failed)).To(Succeed())
			w.clock.Step(time.Hour)
			w.refuse = func(write string) error {
				if write == "status fm" {
					return test.with
				}
				return nil
			}
			w.pass()
			w.g.Expect(w.get("b").Status.Admission.Directive).To(Equal(test.want))
			w.g.Expect(w.state("c")).To(Equal(ucv1.AdmissionQueued))
		})
	}
}

// A Cluster whose feature was set, and whose admission was not written, does not start because its FleetMigration goes.
func TestAKillBetweenTheFeatureAndTheAdmission(t *testing.T) {
	w := newWorld(t, oneByOne(onAdmission), candidate("a", featureOff))
	w.refuse = func(write string) error {
		if write == "admission a" {
			return errKilled
		}
		return nil
	}
	w.pass()
	w.g.Expect(w.get("a").ExternalCloudProvider()).To(BeTrue())
	fm := w.fm()
	fm.Finalizers = nil
	w.g.Expect(w.client.Update(t.Context(), fm)).To(Succeed())
	w.g.Expect(w.client.Delete(t.Context(), fm)).To(Succeed())
	w.clock.Step(24 * time.Hour)
	w.turn("a")
	w.clock.Step(time.Hour)
	w.g.Expect(w.turn("a")).To(ContainSubstring(ucv1.FleetMigrationGoneReason))
}

// The feature belongs to who applies it, too: what they say is not overridden.
func TestAFeatureThatSomeoneElseOwns(t *testing.T) {
	w := newWorld(t, oneByOne(onAdmission), candidate("a", featureOff))
	owned := conflict("a")
	owned.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}
	w.refuse = func(write string) error {
		if write == "feature a" {
			return owned
		}
		return nil
	}
	w.pass()
	w.g.Expect(w.events.Events).To(Receive(ContainSubstring("WaveOpened")))
	w.g.Expect(w.events.Events).To(Receive(ContainSubstring("Take the field out of what applies the Cluster")))
	w.g.Expect(w.state("a")).To(Equal(ucv1.AdmissionQueued))
}

// Thousands may be switched on by one commit.
func TestClaimsAreMadeAFewAtATime(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }))
	for i := range 25 {
		w.g.Expect(w.client.Create(t.Context(), candidate("c"+string(rune('a'+i))))).To(Succeed())
	}
	w.g.Expect(w.pass().RequeueAfter).To(Equal(time.Second))
	w.g.Expect(w.writes).To(HaveLen(22))
	w.pass()
	w.g.Expect(w.writes).To(HaveLen(5))
}

// One that excludes labels would select each Cluster whose namespace the cache has not seen yet, and a claim stays.
func TestAClusterWhoseNamespaceIsNotSeenYetIsNotClaimed(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) {
		fm.Spec.NamespaceSelector = &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: metav1.LabelSelectorOpDoesNotExist}},
		}
	}), candidate("a", inNamespace("new")))
	w.pass()
	w.g.Expect(w.writes).To(Equal([]string{"finalizer fm", "status fm"}))
	w.g.Expect(w.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}})).To(Succeed())
	w.pass()
	w.g.Expect(w.writes).To(ContainElement("admission a"))
}
