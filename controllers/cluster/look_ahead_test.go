package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// requestsOfALook is what one of a small cluster takes; TestALookAheadWritesNothing prints it.
const requestsOfALook = 44

func keyOf(i int) client.ObjectKey {
	return client.ObjectKey{Namespace: "user", Name: fmt.Sprint("c", i)}
}

func TestLooksTakeTurns(t *testing.T) {
	g := NewWithT(t)
	l, limits := &looks{}, LookAheadLimits{AtOnce: 2, Requests: 10}
	first := l.begin(keyOf(1), limits, passes.Start(), false)
	g.Expect(first).NotTo(BeNil())
	g.Expect(l.begin(keyOf(2), limits, passes.Start(), false)).NotTo(BeNil())
	g.Expect(l.begin(keyOf(3), limits, passes.Start(), false)).To(BeNil(), "two have their turn")
	g.Expect(l.begin(keyOf(1), limits, passes.Start(), false)).To(BeIdenticalTo(first), "it goes on with its own")

	g.Expect(l.take(keyOf(1))).To(BeIdenticalTo(first))
	g.Expect(l.begin(keyOf(3), limits, passes.Start(), false)).NotTo(BeNil())
	g.Expect(l.take(keyOf(1))).To(BeNil(), "it ended before")
}

// Whatever the fleet is like, the looks send no more requests than the limit on average, and the last one at most in advance.
func TestTheRequestsOfAllLooksAreLimited(t *testing.T) {
	g := NewWithT(t)
	const perLook, hours = 60, 6
	l, limits, sent := &looks{}, LookAheadLimits{AtOnce: 2, Requests: 10}, 0
	for second := range hours * 3600 {
		now := passes.Start().Add(time.Duration(second) * time.Second)
		for i := range 3 {
			if l.begin(keyOf(i), limits, now, false) != nil {
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
	waits := &migration.Readiness{
		Undecided: true,
		Status:    metav1.ConditionUnknown,
		Reason:    ucv1.NotLookedYetReason,
		Message:   "At noon.",
	}
	found := &migration.Readiness{
		Status:  metav1.ConditionFalse,
		Reason:  ucv1.FindingsReason,
		Message: "1 finding blocks a migration: A.",
	}
	decision := func(readiness *migration.Readiness, findings ...observation.Finding) migration.Decision {
		return passes.Decided(
			ucv1.OriginInTree,
			ucv1.StepInTree,
			func(d *migration.Decision) { d.Readiness, d.Findings = readiness, findings },
		)
	}
	fresh := reported(t, passOf(passes.ClusterOf(ucv1.OriginInTree), decision(waits)))
	g.Expect(passes.Condition(fresh, ucv1.ReadyToMigrateCondition)).To(HaveField("Reason", ucv1.NotLookedYetReason))

	looked := reported(
		t,
		passOf(fresh, decision(found, observation.Finding{ID: "A", Severity: observation.Blocking, Message: "It is so."})),
	)
	g.Expect(looked.Status.Preflight.Blocking).To(BeEquivalentTo(1))
	between := reported(t, passOf(looked, decision(waits)))
	g.Expect(between.Status).To(Equal(looked.Status), "nothing is written")
	g.Expect(passes.Verdict(t, between)).To(Equal(kstatus.CurrentStatus), "whatever stands in the way of a migration")

	looked.Generation++
	changed := reported(t, passOf(looked, decision(waits)))
	g.Expect(passes.Condition(changed, ucv1.ReadyToMigrateCondition)).To(And(HaveField("Status", metav1.ConditionUnknown),
		HaveField("Message", ContainSubstring("was changed since"))), "no verdict is about a spec that was not judged")

	never := reported(t, passOf(looked, decision(nil)))
	g.Expect(never.Status.Preflight).To(BeNil())
	g.Expect(never.Status.Conditions).NotTo(ContainElement(HaveField("Type", ucv1.ReadyToMigrateCondition)))
}

// fleetOf looks ahead at so many clusters, seen for the first time at one moment, for two days, and counts looks and requests an
// hour.
func fleetOf(clusters, perLook int, limits LookAheadLimits) (looked, requests [48]int) {
	l := &looks{}
	fleet, next := make([]*ucv1.Cluster, clusters), make([]time.Time, clusters)
	for i := range fleet {
		fleet[i] = passes.ClusterOf(
			ucv1.OriginInTree,
			func(c *ucv1.Cluster) { c.UID = types.UID(fmt.Sprintf("6d0b0b52-7c38-4a3e-9a50-%012x", i)) },
		)
	}
	for second := 0; second < 48*3600; second += 5 {
		now := passes.Start().Add(time.Duration(second) * time.Second)
		for i, c := range fleet {
			if now.Before(next[i]) {
				continue
			}
			// What two Clusters share is a finding that needs nothing else to be looked at.
			o := observation.Observation{
				Cluster:    c,
				Contenders: observation.Known([]string{"user/other"}),
				Connection: observation.Connection{Reachable: true},
			}
			if migration.NeedsOf(c, observation.Provider{}, now).LookAhead && l.begin(keyOf(i), limits, now, false) != nil {
				l.take(keyOf(i))
				l.pay(int64(perLook), limits, now)
				o.Look = observation.LookDone
				looked[second/3600]++
				requests[second/3600] += perLook
			}
			decision := migration.Decide(o, now)
			if decision.Facts != nil {
				c.Status.Facts = *decision.Facts
			}
			next[i] = now.Add(decision.LookAfter)
		}
	}
	return looked, requests
}

func sum(numbers []int) (total int) {
	for _, number := range numbers {
		total += number
	}
	return total
}

// docs/operations.md has the numbers that this prints.
func TestWhatLooksOfAFleetCost(t *testing.T) {
	g := NewWithT(t)
	limits := LookAheadLimits{}.orDefault()
	looked, requests := fleetOf(1000, requestsOfALook, limits)
	t.Logf("1,000 clusters: %d looks in the first 6 hours, %d in the next 17, %d on the second day; at most %d requests an hour, "+
		"%d on the second day",
		sum(looked[:6]), sum(looked[6:23]), sum(looked[24:]), slices.Max(requests[:]), sum(requests[24:]))
	g.Expect(sum(looked[:6])).To(BeNumerically(">=", 970), "all were looked at within 6 hours, but for those whose turn comes a "+
		"little later")
	g.Expect(sum(looked[:7])).To(BeNumerically(">=", 1000))
	g.Expect(sum(looked[7:22])).To(BeZero(), "and not again on that day")
	g.Expect(sum(looked[24:])).To(BeNumerically("~", 1000, 100))
	for hour, count := range looked[:6] {
		g.Expect(count).To(BeNumerically("~", 1000/6, 60), "hour %d", hour)
	}
}
