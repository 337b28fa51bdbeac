package cluster

import (
	"fmt"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func keyOf(i int) client.ObjectKey {
	return client.ObjectKey{Namespace: "user", Name: fmt.Sprint("c", i)}
}

func TestLooksTakeTurns(t *testing.T) {
	g := NewWithT(t)
	l, limits := &looks{}, LookAheadLimits{AtOnce: 2, Requests: 10}
	first := l.begin(keyOf(1), limits, start())
	g.Expect(first).NotTo(BeNil())
	g.Expect(l.begin(keyOf(2), limits, start())).NotTo(BeNil())
	g.Expect(l.begin(keyOf(3), limits, start())).To(BeNil(), "two have their turn")
	g.Expect(l.begin(keyOf(1), limits, start())).To(BeIdenticalTo(first), "it goes on with its own")

	g.Expect(l.take(keyOf(1))).To(BeIdenticalTo(first))
	g.Expect(l.begin(keyOf(3), limits, start())).NotTo(BeNil())
	g.Expect(l.take(keyOf(1))).To(BeNil(), "it ended before")
}

// Whatever the fleet is like, the looks send no more requests than the limit on average, and the last one at most in advance.
func TestTheRequestsOfAllLooksAreLimited(t *testing.T) {
	g := NewWithT(t)
	const perLook, hours = 60, 6
	l, limits, sent := &looks{}, LookAheadLimits{AtOnce: 2, Requests: 10}, 0
	for second := range hours * 3600 {
		now := start().Add(time.Duration(second) * time.Second)
		for i := range 3 {
			if l.begin(keyOf(i), limits, now) != nil {
				l.take(keyOf(i))
				l.pay(perLook, limits, now)
				sent += perLook
			}
		}
		g.Expect(float64(sent)).To(BeNumerically("<=", limits.Requests*float64(second)+perLook))
	}
	g.Expect(sent).To(BeNumerically("~", hours*3600*10, 2*perLook), "and no fewer")
}

// What the look of yesterday found stands until that of today.
func TestReadyToMigrateStandsBetweenTheLooks(t *testing.T) {
	g := NewWithT(t)
	waits := &migration.Readiness{Undecided: true, Status: metav1.ConditionUnknown, Reason: ucv1.NotLookedYetReason, Message: "At noon."}
	found := &migration.Readiness{Status: metav1.ConditionFalse, Reason: ucv1.FindingsReason, Message: "1 finding blocks a migration: A."}
	decision := func(readiness *migration.Readiness, findings ...migration.Finding) migration.Decision {
		return decided(ucv1.OriginInTree, ucv1.StepInTree, func(d *migration.Decision) { d.Readiness, d.Findings = readiness, findings })
	}
	fresh := reported(t, passOf(clusterOf(ucv1.OriginInTree), decision(waits)))
	g.Expect(condition(fresh, ucv1.ReadyToMigrateCondition)).To(HaveField("Reason", ucv1.NotLookedYetReason))

	looked := reported(t, passOf(fresh, decision(found, migration.Finding{ID: "A", Severity: migration.Blocking, Message: "It is so."})))
	g.Expect(looked.Status.Preflight.Blocking).To(BeEquivalentTo(1))
	between := reported(t, passOf(looked, decision(waits)))
	g.Expect(between.Status).To(Equal(looked.Status), "nothing is written")
	g.Expect(summaryOf(t, between).verdict).To(Equal(kstatus.CurrentStatus), "whatever stands in the way of a migration")

	never := reported(t, passOf(looked, decision(nil)))
	g.Expect(never.Status.Preflight).To(BeNil())
	g.Expect(never.Status.Conditions).NotTo(ContainElement(HaveField("Type", ucv1.ReadyToMigrateCondition)))
}

func TestClustersAreCountedByReadyToMigrate(t *testing.T) {
	g, o := NewWithT(t), newTold(t)
	of := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: ucv1.ReadyToMigrateCondition, Status: status}}
	}
	metrics := o.reconciler.Metrics
	metrics.stands(keyOf(1), of(metav1.ConditionFalse))
	metrics.stands(keyOf(2), of(metav1.ConditionFalse))
	metrics.stands(keyOf(2), of(metav1.ConditionTrue))
	metrics.stands(keyOf(3), nil)
	g.Expect([]float64{metrics.countReady("False"), metrics.countReady("True"), metrics.countReady("Unknown")}).To(Equal([]float64{1, 1, 0}))
}
