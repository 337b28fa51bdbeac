package fleet_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// A claim moves when its holder is known to select the Cluster no longer. Otherwise a misspelled selector in one FleetMigration
// would have its Clusters start in another.
func TestAClaimMoves(t *testing.T) {
	for name, test := range map[string]struct {
		holder func(*ucv1.FleetMigration)
		member func(*fleet.Member)
		by     string
	}{
		"to one that selects the Cluster, when its holder does so no longer": {
			func(fm *ucv1.FleetMigration) { fm.Spec.ClusterSelector = selecting("team", "x") }, func(*fleet.Member) {}, "second",
		},
		"not while the holder selects it": {func(*ucv1.FleetMigration) {}, func(*fleet.Member) {}, ""},
		"not while the selector of the holder cannot be read": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.ClusterSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Is"}}
			}, func(*fleet.Member) {}, "",
		},
		"not while that for namespaces cannot be read": {
			func(fm *ucv1.FleetMigration) {
				fm.Spec.NamespaceSelector = &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Is"}},
				}
			}, func(*fleet.Member) {}, "",
		},
		"not while the labels of the namespace are not known": {
			func(fm *ucv1.FleetMigration) { fm.Spec.NamespaceSelector = selecting("team", "x") },
			func(m *fleet.Member) { m.NamespaceUnknown = true }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			first, second := openFleet(), openFleet()
			first.Spec.Mode = ucv1.FleetHold
			test.holder(first)
			second.Name, second.UID = "second", "uid-second"
			m := member("a", "canary")
			m.Admission = &ucv1.AdmissionStatus{
				FleetMigration: first.Name, UID: string(first.UID), Wave: "canary", State: ucv1.AdmissionQueued,
			}
			test.member(&m)
			f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(first), fleet.Compile(second)}, Members: []fleet.Member{m}}
			(&fleet.Placer{}).Place(&f)
			plan := fleet.Decide(f, noon())
			if wanted := plan.Members[0].Admission(plan, &f.Members[0], noon()); test.by == "" {
				g.Expect(wanted).To(BeNil())
				g.Expect(plan.Migrations[plan.Members[0].Migration].UID).To(Equal(string(first.UID)), "it waits there")
			} else {
				g.Expect(wanted).To(HaveField("FleetMigration", test.by))
			}
		})
	}
}

// Of a Cluster whose namespace is not known no one can say what selects it: one that excludes labels would.
func TestAClusterOfAnUnknownNamespaceIsNotClaimed(t *testing.T) {
	fm := openFleet()
	fm.Spec.NamespaceSelector = &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: metav1.LabelSelectorOpDoesNotExist}},
	}
	m := member("a", "canary")
	m.NamespaceUnknown = true
	p := decide(fm, m).Members[0]
	NewWithT(t).Expect(p).To(And(HaveField("Claim", false), HaveField("Admit", false)))
	m.NamespaceUnknown = false
	NewWithT(t).Expect(decide(fm, m).Members[0].Admit).To(BeTrue())
}

// What a FleetMigration holds stays held while it cannot be read, and goes on when no one is left who could say so.
func TestWhatIsHeld(t *testing.T) {
	held := admitted(member("a", "canary"), ago(time.Hour))
	held.Admission = held.Admission.DeepCopy()
	held.Admission.Directive = ucv1.DirectiveHoldRoll
	halted := func(fm *ucv1.FleetMigration) {
		fm.Spec.OnHalt = ucv1.HoldRollInFlight
		fm.Status.Halt = &ucv1.FleetHalt{At: metav1.NewTime(ago(time.Minute)), Reason: ucv1.MaxFailuresExceededReason}
	}
	unreadable := func(fm *ucv1.FleetMigration) {
		fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Mars/Olympus",
		}}}
	}
	for name, test := range map[string]struct {
		with func(*ucv1.FleetMigration)
		was  ucv1.FleetDirective
		want ucv1.FleetDirective
	}{
		"stays held while the spec cannot be read": {unreadable, ucv1.DirectiveHoldRoll, ucv1.DirectiveHoldRoll},
		"and what goes on then goes on":            {unreadable, ucv1.DirectiveProceed, ucv1.DirectiveProceed},
		"unless it halts": {
			func(fm *ucv1.FleetMigration) { unreadable(fm); halted(fm) }, ucv1.DirectiveProceed, ucv1.DirectiveHoldRoll,
		},
		"stays held while the FleetMigration is only deleted": {func(fm *ucv1.FleetMigration) {
			halted(fm)
			fm.DeletionTimestamp = &metav1.Time{Time: noon()}
		}, ucv1.DirectiveHoldRoll, ucv1.DirectiveHoldRoll},
		"goes on when that is released": {func(fm *ucv1.FleetMigration) {
			halted(fm)
			fm.DeletionTimestamp = &metav1.Time{Time: noon()}
			fm.Annotations = map[string]string{ucv1.FleetReleaseAnnotation: "true"}
		}, ucv1.DirectiveHoldRoll, ucv1.DirectiveProceed},
		"goes on in another one when that is gone": {
			func(fm *ucv1.FleetMigration) { fm.UID = "uid-another" }, ucv1.DirectiveHoldRoll, ucv1.DirectiveProceed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fm := openFleet()
			test.with(fm)
			m := held
			m.Admission = held.Admission.DeepCopy()
			m.Admission.Directive = test.was
			NewWithT(t).Expect(decide(fm, m).Members[0].Directive).To(Equal(test.want))
		})
	}
}

// While another FleetMigration is there that holds a Cluster, one that selects it, too, says nothing.
func TestOnlyTheHolderDirects(t *testing.T) {
	first, second := openFleet(), openFleet()
	first.Spec.ClusterSelector = selecting("team", "x")
	first.Spec.Maintenance.Exclusions = []ucv1.FleetExclusion{exclusionNow(noon())}
	first.Spec.Maintenance.Exclusions[0].InFlight = ucv1.HoldRollInFlight
	second.Name, second.UID = "second", "uid-second"
	m := admitted(member("a", "canary"), ago(time.Hour))
	m.Admission.Directive = ucv1.DirectiveHoldRoll
	f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(first), fleet.Compile(second)}, Members: []fleet.Member{m}}
	(&fleet.Placer{}).Place(&f)
	NewWithT(t).Expect(fleet.Decide(f, noon()).Members[0].Directive).To(Equal(ucv1.DirectiveHoldRoll))
}

// What was rolled back and is to migrate again waits for its turn: a budget, window or halt of today holds for it.
func TestWhatWasRolledBackQueuesAgain(t *testing.T) {
	g := NewWithT(t)
	fm := openFleet()
	m := admitted(member("a", "canary"), ago(48*time.Hour))
	m.StartedAt, m.RolledBack, m.Admission.Directive = time.Time{}, true, ucv1.DirectiveRollback
	plan := decide(fm, m)
	queued := plan.Members[0].Admission(plan, &m, noon())
	g.Expect(queued).To(Equal(&ucv1.AdmissionStatus{
		FleetMigration: fm.Name, UID: string(fm.UID), Wave: "canary", State: ucv1.AdmissionQueued,
		AdmittedAt: m.Admission.AdmittedAt,
	}))
	m.Admission = queued
	g.Expect(decide(fm, m).Members[0]).To(And(HaveField("State", fleet.RolledBack), HaveField("Claim", false), HaveField("Admit", false)))

	m.RolledBack = false // A person has it migrate again (spec.handover.retryAfter).
	g.Expect(decide(fm, m).Members[0].Admit).To(BeTrue())
	fm.Spec.MaxStartsPerHour = new(int32(1))
	m.Admission.AdmittedAt = &metav1.Time{Time: ago(time.Minute)}
	g.Expect(decide(fm, m).Members[0].Admit).To(BeFalse(), "it started a minute ago, too")
	fm.Spec.MaxStartsPerHour, fm.Spec.Mode = nil, ucv1.FleetHold
	g.Expect(decide(fm, m).Members[0].Admit).To(BeFalse())
}

// A Cluster whose feature someone wrote out as off was not let go, whatever the manager before was about to do.
func TestWhatIsHeldOffIsNotAdmittedLater(t *testing.T) {
	fm := openFleet()
	fm.Spec.Enablement = ucv1.EnablementOnAdmission
	fm.Status.Admitting = []ucv1.AdmittingCluster{{Namespace: "user", Name: "a", UID: "uid-a", Wave: "canary"}}
	m := member("a", "canary")
	m.Requested = false
	g := NewWithT(t)
	g.Expect(decide(fm, m).Members[0].Admit).To(BeTrue())
	m.HeldOff = true
	g.Expect(decide(fm, m).Members[0].Admit).To(BeFalse())
}
