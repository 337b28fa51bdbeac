package migration

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// withTemplate is an in-tree cluster whose KCM would be started with these arguments.
func withTemplate(arguments observation.Arguments, replicas int32) func(*Observation) {
	return func(o *Observation) {
		featureOff(o)
		o.Cluster.Status.Facts = ucv1.Facts{Origin: ucv1.OriginInTree}
		o.InTree = observation.Known(observation.Component{Ref: kcmRef(), Arguments: arguments, Replicas: replicas})
	}
}

func TestInTreeIsClaimedOnlyOfAKCMThatRunsTheLoops(t *testing.T) {
	external := observation.Arguments{Flags: map[string]string{"cloud-provider": "external"}}
	seen := func(kcm observation.Observed[observation.Component]) func(*Observation) {
		return func(o *Observation) { withTemplate(inTree(), 1)(o); o.InTree = kcm }
	}
	static := func(o *Observation) {
		seen(observation.Unknown[observation.Component]("it consists of static pods"))(o)
		o.Cluster.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
	}
	paused := func(when func(*Observation)) func(*Observation) {
		return func(o *Observation) { when(o); o.Cluster.Spec.Paused = true }
	}
	step := ucv1.StepInTree
	runDecisions(t, map[string]decision{
		"its arguments run them": {given: fresh, when: withTemplate(inTree(), 1), step: step},
		"they are switched off": {
			given: fresh, when: withTemplate(switchedOff(), 1), step: step, fails: ucv1.LoopsOffAlreadyReason,
			says: []string{"take the exclusions out"},
		},
		"it is external": {
			given: fresh, when: withTemplate(external, 1), step: step, fails: ucv1.LoopsOffAlreadyReason,
			says: []string{"Deployment user-alpha/kcm has no in-tree cloud provider", "set spec.features.externalCloudProvider to true"},
		},
		"a pause does not hide it": {given: fresh, when: paused(withTemplate(external, 1)), step: step, fails: ucv1.LoopsOffAlreadyReason},
		"it has no cloud provider": {given: fresh, when: withTemplate(observation.Arguments{Flags: map[string]string{}}, 1), step: step, fails: ucv1.LoopsOffAlreadyReason},
		"it does not exist": {
			given: fresh, when: seen(observation.Absent[observation.Component]()), step: step, fails: ucv1.InputInvalidReason,
			says: []string{"Deployment user-alpha/kube-controller-manager does not exist"},
		},
		"it cannot be looked at": {given: fresh, when: seen(observation.Unknown[observation.Component]("timeout")), step: step, wait: ucv1.CouldNotLookReason, says: []string{"timeout"}},
		"nor while paused":       {given: fresh, when: paused(seen(observation.Unknown[observation.Component]("timeout"))), step: step, wait: ucv1.CouldNotLookReason},
		"its arguments are not understood": {
			given: fresh, when: withTemplate(observation.Arguments{Problem: "it is a script."}, 1), step: step,
			wait: ucv1.CouldNotLookReason, says: []string{"it is a script."},
		},
		"one that is scaled to 0 is not to run anything": {given: fresh, when: withTemplate(switchedOff(), 0), step: step},
		"static pods are seen by a look ahead only":      {given: fresh, when: static, step: step},
	})
}

func TestWhatInTreeSaysThatItLookedAt(t *testing.T) {
	looked := func(o *Observation) { o.Cluster.Status.LookAhead = &ucv1.LookAheadStatus{Leader: ucv1.LeaderLeads} }
	never := func(o *Observation) { o.Cluster.Spec.Preflight.LookAhead = ucv1.NeverLookAhead }
	static := func(o *Observation) {
		o.InTree = observation.Unknown[observation.Component]("it consists of static pods")
		o.Cluster.Spec.ControlPlane.Type = ucv1.ExternalControlPlane
	}
	for name, test := range map[string]struct {
		change func(*Observation)
		want   []string
	}{
		"a KCM that runs them, before a look": {func(*Observation) {}, []string{"Deployment user-alpha/kcm run cloud-node-lifecycle-controller", "was not looked at yet"}},
		"after one":                           {looked, []string{"ReadyToMigrate says what the last look"}},
		"where none is wanted":                {never, []string{"nor whether KCM leads, because spec.preflight.lookAhead is Never"}},
		"one that sleeps":                     {withTemplate(inTree(), 0), []string{"is scaled to 0", "was not looked at"}},
		"static pods":                         {static, []string{"the control plane is in the user cluster."}},
		"one that was not looked at":          {func(o *Observation) { o.InTree = observation.Unknown[observation.Component]("x") }, []string{"was not looked at"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := fresh()
			withTemplate(inTree(), 1)(&o)
			test.change(&o)
			for _, want := range test.want {
				NewWithT(t).Expect(LookedAt(o)).To(ContainSubstring(want))
			}
		})
	}
}

func sleeps(o *Observation) {
	unreached(o)
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods, c.KCM.Replicas, c.Others = nil, 0, nil })
}

func TestALookSaysWhetherKCMLeads(t *testing.T) {
	holder := func(change func(*observation.Lease)) func(*Observation) {
		return func(o *Observation) {
			edit(&o.KCMLease, func(l *observation.Lease) {
				l.Holder = o.ControlPlane.Value().KCM.Pods[0].PodName + "_1"
				l.WatchedAt, l.ChangedAt, l.RenewTime = noon(), noon(), ago(time.Second)
				change(l)
			})
		}
	}
	for name, test := range map[string]struct {
		change func(*Observation)
		leader ucv1.LookedLeader
	}{
		"a process of it renews its Lease":           {func(*Observation) {}, ucv1.LeaderLeads},
		"one read shows that it holds it":            {holder(func(*observation.Lease) {}), ucv1.LeaderLeads},
		"one that did not renew it in time does not": {holder(func(l *observation.Lease) { l.RenewTime = ago(time.Minute) }), ucv1.LeaderNotSeen},
		"someone else holds it":                      {holder(func(l *observation.Lease) { l.Holder = "elsewhere_1" }), ucv1.LeaderNotSeen},
		"no one holds it":                            {func(o *Observation) { o.KCMLease = observation.Absent[observation.Lease]() }, ucv1.LeaderMissing},
		"a process whose own arguments show them off": {func(o *Observation) {
			setKCM(o, switchedOff())
			o.KCMLease = observation.Absent[observation.Lease]()
		}, ucv1.LeaderMissing},
		"the user cluster cannot be reached": {unreached, ucv1.LeaderNotSeen},
		"a CCM that leads is no KCM": {func(o *Observation) {
			o.KCMLease = observation.Absent[observation.Lease]()
			o.CCMLease = ahead().KCMLease
		}, ucv1.LeaderMissing},
		"a control plane that is scaled to 0 leads nothing": {sleeps, ucv1.LeaderHibernated},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := ahead()
			test.change(&o)
			decision := Decide(o, noon())
			g.Expect(decision.Facts.LookAhead.Leader).To(Equal(test.leader))
			g.Expect(decision.Facts.LookAhead.LeaderAt.Time).To(Equal(noon()))
			g.Expect(decision.Facts.UnattendedSince != nil).To(Equal(test.leader == ucv1.LeaderMissing))
			unknown := decision.Attendance != nil && decision.Attendance.Status == metav1.ConditionUnknown
			g.Expect(unknown).To(Equal(test.leader == ucv1.LeaderNotSeen))
		})
	}
}

// A restart of KCM is no trouble; what does not end is, as soon as a look saw it again. What passes do in between that do not
// look claims nothing new.
func TestAnInTreeClusterWithoutALeaderIsLookedAtAgainSoon(t *testing.T) {
	g := NewWithT(t)
	o := ahead()
	o.KCMLease = observation.Absent[observation.Lease]()
	edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Pods[0].StartedAt = noon() })
	look := func(at time.Time, state observation.LookState) Decision {
		o.Look = state
		decision := Decide(o, at)
		if decision.Facts != nil {
			o.Cluster.Status.Facts = *decision.Facts
		}
		return decision
	}
	first := look(noon(), observation.LookDone)
	since := first.Facts.UnattendedSince.Time
	g.Expect(first.Attendance).To(And(HaveField("Overdue", false), HaveField("Status", metav1.ConditionFalse)))
	g.Expect(first.Facts.LookAhead.NextAt.Sub(noon())).To(BeNumerically("<=", time.Minute))

	g.Expect(look(noon().Add(time.Hour), observation.NoLook).Attendance.Overdue).To(BeFalse(), "no one looked since")
	second := look(since.Add(time.Minute), observation.LookDone)
	g.Expect(second.Attendance).To(And(HaveField("Overdue", true), HaveField("NeedsPerson", false)))
	g.Expect(second.Attendance.Message).To(
		And(
			ContainSubstring(
				"no process of Deployment user-alpha/kube-controller-manager that leads",
			), HaveSuffix("Look at its pods and their logs."),
		),
	)
	third := look(since.Add(2*time.Minute), observation.LookDone)
	g.Expect(third.Attendance).To(And(HaveField("Overdue", true), HaveField("NeedsPerson", true)))
	g.Expect(third.Facts.LookAhead.NextAt.Sub(since.Add(2 * time.Minute))).To(Equal(10 * time.Minute))
	g.Expect(look(since.Add(3*time.Minute), observation.NoLook).Attendance.NeedsPerson).To(BeTrue())

	unseen := o
	unreached(&unseen)
	unseen.Look = observation.LookDone
	blind := Decide(unseen, since.Add(4*time.Minute))
	g.Expect(blind.Attendance.Status).To(Equal(metav1.ConditionUnknown))
	g.Expect(blind.Facts.UnattendedSince).NotTo(BeNil(), "since when is kept")
	g.Expect(blind.Facts.LookAhead.NextAt.Sub(since)).To(BeNumerically("<=", 3*time.Hour))

	o.KCMLease = ahead().KCMLease
	edit(&o.KCMLease, func(l *observation.Lease) {
		l.ChangedAt, l.RenewTime, l.RenewedBy = since.Add(5*time.Minute), since.Add(5*time.Minute), time.Time{}
	})
	over := look(since.Add(5*time.Minute), observation.LookDone)
	g.Expect(over.Attendance).To(BeNil())
	g.Expect(over.Facts.UnattendedSince).To(BeNil())
	g.Expect(over.Facts.LookAhead.NextAt.Sub(since)).To(BeNumerically(">", 22*time.Hour))
}

func TestWhereNoLookIsWantedNothingIsClaimedOfTheLeader(t *testing.T) {
	g := NewWithT(t)
	o := ahead()
	o.Look, o.Cluster.Spec.Preflight.LookAhead, o.Cluster.Status.UnattendedSince = observation.NoLook, ucv1.NeverLookAhead,
		stampAgo(time.Hour)
	decision := Decide(o, noon())
	g.Expect(decision.Attendance).To(BeNil())
	g.Expect(decision.Facts.UnattendedSince).To(BeNil(), "nothing would tell when it is over")
}

func TestAnRolledBackClusterWhoseControlPlaneSleepsRests(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is scaled to 0": {given: asked, when: func(o *Observation) { done(o); sleeps(o) }, step: ucv1.StepRolledBack},
		"arguments that are not understood are not taken for off": {
			given: asked, when: func(o *Observation) {
				done(o)
				edit(
					&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = observation.Arguments{Problem: "it is a script."} },
				)
			}, step: ucv1.StepRolledBack, wait: ucv1.CouldNotLookReason, says: []string{"it is a script."},
		},
	})
	o := asked()
	done(&o)
	sleeps(&o)
	NewWithT(t).Expect(strings.TrimSpace(Decide(o, noon()).Attendance.Reason)).To(Equal(ucv1.HibernatedReason))
}
