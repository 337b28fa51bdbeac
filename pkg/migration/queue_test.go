package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// queued is a cluster whose feature is on and whose turn has not come: its user cluster was not looked at.
func queued() Observation {
	o := fresh()
	kcm := observation.Known(o.ControlPlane.Value().KCM)
	o = Observation{Cluster: o.Cluster, Provider: o.Provider, InTree: kcm, Contenders: o.Contenders, Record: o.Record, Keeper: o.Keeper}
	o.Turn = observation.Known(observation.Turn{Reason: ucv1.QueuedReason, Message: "FleetMigration fm has queued the cluster."})
	return o
}

func TestAClusterWaitsForItsTurn(t *testing.T) {
	runDecisions(t, map[string]decision{
		"while a FleetMigration has queued it": {
			given: queued, step: ucv1.StepAdmitted, wait: ucv1.QueuedReason, says: []string{"FleetMigration fm has queued"},
		},
		"while that cannot be read": {
			given: queued, when: func(o *Observation) { o.Turn = observation.Unknown[observation.Turn]("timeout") },
			step: ucv1.StepAdmitted, wait: ucv1.CouldNotLookReason, says: []string{"whether the cluster may start: timeout"},
		},
		"but not while no one runs the cloud loops": {
			given: queued, when: func(o *Observation) {
				edit(&o.InTree, func(kcm *observation.Component) { kcm.Arguments = observation.Arguments{Flags: map[string]string{}} })
			},
			step: ucv1.StepAdmitted, fails: ucv1.LoopsOffAlreadyReason, says: []string{"waits for its turn", "spec.admission to Immediate"},
		},
		"nor while another Cluster names its control plane": {
			given: queued, when: func(o *Observation) { o.Contenders = observation.Known([]string{"user-alpha/beta"}) },
			step: ucv1.StepAdmitted, fails: ucv1.InputInvalidReason, says: []string{"beta"},
		},
		"when its origin was not recorded, that comes first": {
			given: queued, when: func(o *Observation) { o.Cluster.Status.Origin = ucv1.OriginInTree },
			step: ucv1.StepAdmitted, action: outcome.ActionRecord,
		},
		"and not once it has started": {
			given: starting, when: func(o *Observation) { o.Turn = queued().Turn }, step: ucv1.StepHandover, line: "BaselineTaken",
			action: outcome.ActionTakeBaseline,
		},
	})
}

func TestWhatAQueueLooksLike(t *testing.T) {
	g := NewWithT(t)
	decision := Decide(queued(), noon())
	g.Expect(decision).To(And(HaveField("Queued", true), HaveField("Unreached", true), HaveField("Attendance", BeNil())))
	o := queued()
	o.Turn = observation.Known(observation.Turn{Reason: ucv1.SettlingReason, Message: "It waits.", After: time.Second, Settling: true})
	decision = Decide(o, noon())
	g.Expect(decision.Queued).To(BeFalse(), "what is over in a moment is no queue")
	g.Expect(decision.Wait.After).To(Equal(time.Second))
	o.Turn = observation.Unknown[observation.Turn]("timeout")
	g.Expect(Decide(o, noon())).To(And(HaveField("Queued", false), HaveField("Unreached", true)), "nothing connects for it, either")
}

func TestWhoAwaitsItsTurn(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ucv1.Cluster)
		awaits bool
	}{
		"one whose migration is wanted":     {func(*ucv1.Cluster) {}, true},
		"not one whose feature is off":      {func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil }, false},
		"not one that has started":          {func(c *ucv1.Cluster) { c.Status.StartedAt = stampAgo(0) }, false},
		"not one that was made with it":     {func(c *ucv1.Cluster) { c.Status.Origin = ucv1.OriginExternal }, false},
		"not one that is not known yet":     {func(c *ucv1.Cluster) { c.Status.Origin = "" }, false},
		"not one that is being deleted":     {func(c *ucv1.Cluster) { c.DeletionTimestamp = stampAgo(0) }, false},
		"not one that is to be rolled back": {func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := queued().Cluster
			test.change(c)
			NewWithT(t).Expect(AwaitsTurn(c)).To(Equal(test.awaits))
		})
	}
}

func TestAClusterThatIsAwayIsLookedAtRarely(t *testing.T) {
	for away, wait := range map[time.Duration]time.Duration{
		time.Minute: time.Hour, 6 * time.Hour: 6 * time.Hour, 48 * time.Hour: 12 * time.Hour,
	} {
		o := ahead()
		o.Cluster.Status.LookAhead = &ucv1.LookAheadStatus{NextAt: stampAgo(time.Second), LookedAt: stampAgo(away), Generation: 1}
		unreached(&o)
		next := Decide(o, noon()).Facts.LookAhead.NextAt.Sub(noon())
		NewWithT(t).Expect(next).To(And(BeNumerically(">=", wait), BeNumerically("<", wait+time.Hour)), away.String())
	}
}

// One that sleeps answers no one, and is told from one that is away.
func TestANextOneThatSleepsIsLookedAtRarely(t *testing.T) {
	o := queued()
	o.HourlyLooks, o.Look = true, observation.LookDone
	o.Cluster.Status.LookAhead = &ucv1.LookAheadStatus{NextAt: stampAgo(time.Second), LookedAt: stampAgo(6 * time.Hour), Generation: 1}
	unreached(&o)
	o.ControlPlane = observation.Known(observation.ControlPlane{})
	decision := Decide(o, noon())
	NewWithT(t).Expect(decision.Facts.LookAhead.Leader).To(Equal(ucv1.LeaderHibernated))
	NewWithT(t).Expect(decision.Facts.LookAhead.NextAt.Sub(noon())).To(BeNumerically(">=", 6*time.Hour))
}

// asleep is what a look some time ago left, which saw that the control plane is scaled to 0.
func asleep(ago time.Duration) ucv1.LookAheadStatus {
	return ucv1.LookAheadStatus{TriedAt: stampAgo(ago), Leader: ucv1.LeaderHibernated}
}

// Every hour is for a Cluster that answers: one that does not is asked as rarely as any other.
func TestANextOneThatIsAwayIsLookedAtRarely(t *testing.T) {
	for name, test := range map[string]struct {
		look  ucv1.LookAheadStatus
		now   bool
		awake int32
	}{
		"one that was not looked at yet":         {look: ucv1.LookAheadStatus{}, now: true},
		"one that answered an hour ago":          {look: ucv1.LookAheadStatus{TriedAt: stampAgo(time.Hour), LookedAt: stampAgo(time.Hour)}, now: true},
		"not one that did half an hour ago":      {look: ucv1.LookAheadStatus{TriedAt: stampAgo(time.Hour / 2), LookedAt: stampAgo(time.Hour / 2)}},
		"not one that did not answer just now":   {look: ucv1.LookAheadStatus{TriedAt: stampAgo(time.Second), LookedAt: stampAgo(2 * time.Hour)}},
		"nor one that has not answered for ever": {look: ucv1.LookAheadStatus{TriedAt: stampAgo(2 * time.Hour)}},
		"nor one that sleeps":                    {look: asleep(2 * time.Hour)},
		"one that slept, and is awake":           {look: asleep(10 * time.Minute), awake: 1, now: true},
		"not every minute while it starts":       {look: asleep(9 * time.Minute), awake: 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := queued()
			o.HourlyLooks = true
			o.InTree = observation.Known(observation.Component{Replicas: test.awake})
			o.Cluster.Status.LookAhead = &test.look
			test.look.NextAt, test.look.Generation = &metav1.Time{Time: noon().Add(6 * time.Hour)}, o.Cluster.Generation
			NewWithT(t).Expect(LooksNow(o, noon())).To(Equal(test.now))
			o.HourlyLooks = false
			NewWithT(t).Expect(LooksNow(o, noon())).To(BeFalse())
		})
	}
}

// A FleetMigration that rolls back does so while the point of no return is ahead, as a person would.
func TestADirectiveOfAFleetMigration(t *testing.T) {
	directed := func(directive ucv1.FleetDirective) func(*Observation) {
		return func(o *Observation) {
			o.Cluster.Status.Admission = &ucv1.AdmissionStatus{
				FleetMigration: "fm", State: ucv1.AdmissionAdmitted, Directive: directive, AdmittedAt: &metav1.Time{Time: noon()},
			}
		}
	}
	runDecisions(t, map[string]decision{
		"rolls back": {
			given: loud, when: directed(ucv1.DirectiveRollback), step: ucv1.StepRollbackMachineController, action: outcome.ActionRecord,
			says: []string{"is being rolled back"},
		},
		"proceeds": {given: rolling, when: directed(ucv1.DirectiveProceed), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment},
		"holds the roll": {
			given: rolling, when: directed(ucv1.DirectiveHoldRoll), step: ucv1.StepRoll, wait: ucv1.HeldByFleetReason,
			says: []string{"FleetMigration fm holds the roll", "Those that have begun go on"},
		},
		"holds the point of no return": {
			given: soaked, when: directed(ucv1.DirectiveHoldRoll), step: ucv1.StepComplete, wait: ucv1.HeldByFleetReason,
			says: []string{"the point of no return is not passed"},
		},
		"holds an upgrade that would pass it": {
			given: acrossAt(kcmLocked), when: directed(ucv1.DirectiveHoldRoll), step: ucv1.StepHandover, line: "UpgradeAllowed",
			wait: ucv1.HeldByFleetReason, says: []string{"FleetMigration fm holds that back"},
		},
		"rolls nothing back that is past its point of no return": {
			given: rolling, when: func(o *Observation) {
				directed(ucv1.DirectiveRollback)(o)
				o.Cluster.Status.PointOfNoReturnAt = stampAgo(time.Hour)
			}, step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"holds nothing of a finished cluster":  {given: finished, when: directed(ucv1.DirectiveHoldRoll), step: ucv1.StepFinished},
		"rolls nothing back that is completed": {given: finished, when: directed(ucv1.DirectiveRollback), step: ucv1.StepFinished},
	})
}

// A cluster that waits for weeks is as much in need of a manager as any other.
func TestWhetherKCMLeadsIsLookedAtInAQueue(t *testing.T) {
	g := NewWithT(t)
	o := ahead()
	o.Cluster.Spec.Features.ExternalCloudProvider, o.Cluster.Status.Origin = new(true), ucv1.OriginMigrating
	o.Turn = queued().Turn
	looked := Decide(o, noon()).Facts.LookAhead
	g.Expect(looked.Leader).To(Equal(ucv1.LeaderLeads))
	o.KCMLease = observation.Absent[observation.Lease]()
	g.Expect(Decide(o, noon()).Facts.LookAhead.Leader).To(Equal(ucv1.LeaderMissing))
}
