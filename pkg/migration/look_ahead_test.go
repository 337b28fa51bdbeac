package migration

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ahead is an in-tree cluster that a migration could start in, as a look sees it now.
func ahead() Observation {
	o := starting()
	o.Cluster = o.Cluster.DeepCopy()
	o.Cluster.CreationTimestamp = *stampAgo(time.Hour)
	o.Cluster.Spec.Features.ExternalCloudProvider = nil
	o.Cluster.Status = ucv1.ClusterStatus{
		Facts: ucv1.Facts{Origin: ucv1.OriginInTree, LookAhead: &ucv1.LookAheadStatus{NextAt: stampAgo(time.Second)}},
	}
	o.InTree = observation.Known(o.ControlPlane.Value().KCM)
	o.Look = observation.LookDone
	return o
}

func TestWhenALookIsDue(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ucv1.Cluster)
		due    bool
	}{
		"when its time has come":              {func(*ucv1.Cluster) {}, true},
		"not before":                          {func(c *ucv1.Cluster) { c.Status.LookAhead.NextAt = stampAgo(-time.Second) }, false},
		"not before a time was chosen":        {func(c *ucv1.Cluster) { c.Status.LookAhead = nil }, false},
		"nor when someone took the time away": {func(c *ucv1.Cluster) { c.Status.LookAhead.NextAt = nil }, false},
		"never, when the spec says so":        {func(c *ucv1.Cluster) { c.Spec.Preflight.LookAhead = ucv1.NeverLookAhead }, false},
		"daily, when the spec says so":        {func(c *ucv1.Cluster) { c.Spec.Preflight.LookAhead = ucv1.DailyLookAhead }, true},
		"of one that waits for its turn":      {func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(true) }, true},
		"not when it has started": {func(c *ucv1.Cluster) {
			c.Spec.Features.ExternalCloudProvider, c.Status.StartedAt = new(true), stampAgo(0)
		}, false},
		"not of one that was migrated":                   {func(c *ucv1.Cluster) { c.Status.Origin = ucv1.OriginMigrating }, false},
		"not of one that is being deleted":               {func(c *ucv1.Cluster) { c.DeletionTimestamp = stampAgo(0) }, false},
		"of a paused one: nothing is changed":            {func(c *ucv1.Cluster) { c.Spec.Paused = true }, true},
		"a changed spec is looked at after ten minutes":  {changedSpec(10 * time.Minute), true},
		"but not sooner, however often it is changed":    {changedSpec(9 * time.Minute), false},
		"a spec that was looked at is not looked at now": {lookedAtSpec, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := ahead().Cluster
			test.change(cluster)
			NewWithT(t).Expect(looksAhead(cluster, noon())).To(Equal(test.due))
		})
	}
}

func uidOf(i int) types.UID { return types.UID(fmt.Sprintf("6d0b0b52-7c38-4a3e-9a50-%012x", i)) }

func lookedAtSpec(c *ucv1.Cluster) {
	c.Status.LookAhead = &ucv1.LookAheadStatus{
		NextAt:     stampAgo(-12 * time.Hour),
		LookedAt:   stampAgo(12 * time.Hour),
		Generation: c.Generation,
	}
}

func changedSpec(before time.Duration) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		lookedAtSpec(c)
		c.Status.LookAhead.LookedAt = stampAgo(before)
		c.Generation++
	}
}

// The first looks of a fleet that is seen for the first time at one moment are spread over the whole of six hours: each half an
// hour gets about its share. What is chosen stands in the status, so that a restart neither looks again nor waits again.
func TestTheFirstLooksAreSpread(t *testing.T) {
	g := NewWithT(t)
	const clusters, parts = 6000, 12
	var counts [parts]int
	for i := range clusters {
		o := ahead()
		o.Cluster.UID, o.Cluster.Status.LookAhead, o.Look = uidOf(i), nil, observation.NoLook
		decision := Decide(o, noon())
		next := decision.Facts.LookAhead.NextAt.Time
		g.Expect(next).To(And(BeTemporally(">=", noon()), BeTemporally("<", noon().Add(6*time.Hour))))
		g.Expect(decision.Readiness).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", ucv1.NotLookedYetReason)))
		counts[int(next.Sub(noon())/(6*time.Hour/parts))]++

		o.Cluster.Status.Facts = *decision.Facts
		later := noon().Add(time.Minute)
		again := Decide(o, later)
		g.Expect(again.Facts).To(BeNil(), "another process chooses nothing again")
		if next.After(later) {
			g.Expect(again.LookAfter).To(Equal(next.Sub(later)))
		}
	}
	for part, count := range counts {
		g.Expect(count).To(BeNumerically("~", clusters/parts, clusters/parts/4), "part %d", part)
	}
}

func TestLooksComeDailyAndNeverTogether(t *testing.T) {
	g := NewWithT(t)
	times := map[time.Time]bool{}
	for i := range 300 {
		o := ahead()
		o.Cluster.UID = uidOf(i)
		decision := Decide(o, noon())
		next := decision.Facts.LookAhead.NextAt.Time
		g.Expect(next.Sub(noon())).To(And(BeNumerically(">", 23*time.Hour), BeNumerically("<=", 24*time.Hour)))
		g.Expect(decision.LookAfter).To(Equal(next.Sub(noon())))
		times[next] = true
	}
	g.Expect(len(times)).To(BeNumerically(">", 250), "they are spread")
}

func TestOneThatHasNoTurnAsksAgain(t *testing.T) {
	g := NewWithT(t)
	o := ahead()
	o.Look = observation.NoLook
	g.Expect(Decide(o, noon())).To(
		And(HaveField("LookAfter", BeNumerically("~", 450*time.Second, 150*time.Second)), HaveField("Facts", BeNil())),
	)
	o.Look = observation.LookGoesOn
	g.Expect(Decide(o, noon()).LookAfter).To(Equal(5 * time.Second))
}

func TestWhatALookSays(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*Observation)
		status  metav1.ConditionStatus
		reason  string
		message string
		retries bool
	}{
		"nothing is in the way": {func(*Observation) {}, metav1.ConditionTrue, ucv1.NothingBlocksReason, "Nothing that was found " +
			"blocks a migration.", false},
		"warnings and infos are not": {func(o *Observation) {
			o.Findings = observation.Known([]observation.Finding{{ID: "A", Severity: observation.Warning},
				{ID: "B", Severity: observation.Info}, {ID: "C", Severity: observation.Blocking, Accepted: true},
				{ID: "D", Severity: observation.Warning, NotLookedAt: true},
				{ID: "E", Severity: observation.Blocking, NotLookedAt: true, BeforeRoll: true}})
			o.Cluster.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "C", Reason: "Known."}}
		}, metav1.ConditionTrue, ucv1.NothingBlocksReason,
			"blocks a migration; also 1 warning and 1 check that could not look.", false},
		"blocking findings are counted and named": {func(o *Observation) {
			o.Findings = observation.Known([]observation.Finding{{ID: "B", Severity: observation.Blocking},
				{ID: "A", Severity: observation.Blocking, Objects: []string{"x"}}, {ID: "A", Severity: observation.Blocking}})
		}, metav1.ConditionFalse, ucv1.FindingsReason, "3 findings block a migration: A, B.", false},
		"one that is accepted is none": {func(o *Observation) {
			o.Findings = observation.Known([]observation.Finding{{ID: "A", Severity: observation.Blocking}})
			o.Cluster.Spec.Preflight.Accept = []ucv1.AcceptedFinding{{ID: "A", Reason: "Known."}}
		}, metav1.ConditionTrue, ucv1.NothingBlocksReason, "Nothing", false},
		"what the Cluster refers to is judged, too": {func(o *Observation) { o.CloudConfig = observation.Absent[observation.CloudConfig]() },
			metav1.ConditionFalse, ucv1.FindingsReason, "1 finding blocks a migration: CloudConfigUnusable.", false},
		"a provider that never was in-tree": {func(o *Observation) { edit(&o.Provider, func(p *observation.Provider) { p.CanMigrate = false }) },
			metav1.ConditionFalse, ucv1.FindingsReason, "ProviderNotSupported", false},
		"a blocking check that could not look has not passed": {found(observation.Finding{
			ID: "A", Severity: observation.Blocking, NotLookedAt: true, Unseen: "the Nodes",
		}), metav1.ConditionUnknown, ucv1.CouldNotLookReason, "Could not look at the Nodes. status.lookAhead.nextAt says when it is tried again.", true},
		"the user cluster does not answer": {unreached, metav1.ConditionUnknown, ucv1.CouldNotLookReason, "the user cluster: It hangs", true},
		"KCM does not lead, whatever else was found": {func(o *Observation) {
			o.KCMLease = observation.Absent[observation.Lease]()
			o.Findings = observation.Known([]observation.Finding{{ID: "A", Severity: observation.Blocking}})
		}, metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason, "No manager runs the cloud loops: no process of", true},
		"a KCM without cloud loops does not have to lead": {func(o *Observation) {
			o.KCMLease = observation.Absent[observation.Lease]()
			setKCM(o, observation.Arguments{Flags: map[string]string{"cloud-provider": "external"}})
			o.InTree = observation.Known(o.ControlPlane.Value().KCM)
		}, metav1.ConditionTrue, ucv1.NothingBlocksReason, "Nothing", false},
		"a control plane that is scaled to 0 sleeps": {sleeps, metav1.ConditionUnknown, ucv1.HibernatedReason, "scaled to 0", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := ahead()
			test.change(&o)
			decision := Decide(o, noon())
			g.Expect(*decision.Readiness).To(And(HaveField("Status", test.status), HaveField("Reason", test.reason),
				HaveField("Message", ContainSubstring(test.message)), HaveField("Undecided", false)))
			g.Expect(decision.Next()).To(BeNil())
			g.Expect(decision.Facts.Origin).To(Equal(ucv1.OriginInTree), "a look does not start anything")
			soon := BeNumerically("<=", 2*time.Hour)
			if !test.retries {
				soon = Not(soon)
			}
			g.Expect(decision.Facts.LookAhead.NextAt.Sub(noon())).To(soon)
		})
	}
}

func unreached(o *Observation) {
	o.Connection = observation.Connection{Reason: ucv1.UnreachableReason, Message: "It hangs"}
	o.Findings, o.KCMLease, o.CCMLease = observation.Unknown[[]observation.Finding](
		"it hangs",
	), observation.Unknown[observation.Lease]("it hangs"), observation.Unknown[observation.Lease]("it hangs")
}

func TestWhatWasFoundStaysWhenTheUserClusterCannotBeReached(t *testing.T) {
	g := NewWithT(t)
	o := ahead()
	o.Findings = observation.Known([]observation.Finding{{ID: "A", Severity: observation.Warning}})
	g.Expect(Decide(o, noon()).Findings).To(HaveLen(1))
	o.Findings = observation.Known([]observation.Finding{})
	g.Expect(Decide(o, noon()).Findings).To(And(Not(BeNil()), BeEmpty()), "what is gone is said to be gone")
	unreached(&o)
	decision := Decide(o, noon())
	g.Expect(decision.Findings).To(BeNil())
	g.Expect(decision.Facts.LookAhead.LookedAt).To(BeNil(), "it was not reached")
	o.Connection.Refused = true
	g.Expect(Decide(o, noon()).Findings).To(ConsistOf(HaveField("ID", start.FindingConnection)), "but for what stands against its "+
		"kubeconfig")
}

func TestLooksEndWithTheFeatureAndWithNever(t *testing.T) {
	for name, change := range map[string]func(*ucv1.Cluster){
		"the feature":            func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(true) },
		"the feature of a pause": func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider, c.Spec.Paused = new(true), true },
		"Never":                  func(c *ucv1.Cluster) { c.Spec.Preflight.LookAhead = ucv1.NeverLookAhead },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := ahead()
			o.Look = observation.NoLook
			change(o.Cluster)
			decision := Decide(o, noon())
			g.Expect(decision.Readiness).To(BeNil())
			g.Expect(decision.Facts.LookAhead).To(BeNil())
		})
	}
}

func TestAStrangerWhoHoldsTheLeaseIsWatched(t *testing.T) {
	stranger := func(change func(*observation.Lease)) Observation {
		o := ahead()
		o.KCMLease = observation.Known(
			observation.Lease{
				Ref:             observation.Ref{Kind: "Lease", Name: "kcm"},
				Holder:          "elsewhere_1",
				DurationSeconds: 15,
				ChangedAt:       noon(),
				WatchedAt:       noon(),
			},
		)
		edit(&o.KCMLease, change)
		return o
	}
	for name, test := range map[string]struct {
		given  Observation
		awaits bool
	}{
		"while no one can tell whether he lives": {stranger(func(*observation.Lease) {}), true},
		"not when he was seen to renew": {stranger(func(l *observation.Lease) {
			l.AcquireTime, l.RenewTime, l.WatchedAt = ago(time.Hour), noon(), ago(time.Minute)
		}), false},
		"not when he was seen not to": {stranger(func(l *observation.Lease) { l.WatchedAt, l.ChangedAt = ago(time.Hour), ago(time.Hour) }), false},
		"not when there is none":      {stranger(func(l *observation.Lease) { l.Holder = "" }), false},
		"not when it is a pod of KCM": {stranger(func(l *observation.Lease) { l.Holder = ahead().ControlPlane.Value().KCM.Pods[0].PodName + "_1" }), false},
		"but when that may have left off": {stranger(func(l *observation.Lease) {
			l.Holder, l.RenewTime = ahead().ControlPlane.Value().KCM.Pods[0].PodName+"_1", ago(time.Hour)
		}), true},
		"not when the Lease cannot be looked at": {func() Observation { o := ahead(); unreached(&o); return o }(), false},
		"not when the control plane is not known": {func() Observation {
			o := stranger(func(*observation.Lease) {})
			o.ControlPlane = observation.Unknown[observation.ControlPlane]("x")
			return o
		}(), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(AwaitsLeader(test.given, noon())).To(Equal(test.awaits))
		})
	}
}
