package fleet_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/test/fleetlimits"
)

func TestStoriesOfOthers(t *testing.T) {
	tell(t, storiesOfWaves())
	tell(t, storiesOfPlaces())
}

// storiesOfWaves are about when the next one opens.
func storiesOfWaves() map[string]story {
	earlier := succeeded(member("a", "canary"), ago(5*time.Hour))
	earlier.Admission.AdmittedAt = &metav1.Time{Time: ago(time.Minute)}
	gone := succeeded(member("a", "canary"), ago(5*time.Hour))
	gone.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: ago(time.Minute)}
	unseen := succeeded(member("a", "canary"), ago(5*time.Hour))
	unseen.HealthySince = time.Time{}
	return map[string]story{
		"a completion from before the admission does not open the next wave (argo-cd#29410)": {
			members: []fleet.Member{earlier, member("b", "prod")}, reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
		"the soak counts from the newest success, and not from an older time (ocm#1201)": {
			members: []fleet.Member{
				succeeded(member("a", "canary"), ago(5*time.Hour)), succeeded(member("b", "canary"), ago(50*time.Minute)), member("c", "prod"),
			},
			reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveSoaking,
		},
		"the wave after the soak is open at once": {
			members: []fleet.Member{succeeded(member("a", "canary"), ago(5*time.Hour)), member("b", "prod")}, admits: true, wave: ucv1.WavePassed,
		},
		"a failed Cluster beside one under way opens no wave (OCM)": {
			with: func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxFailures = new(intstr.FromInt32(1)) },
			members: []fleet.Member{
				stalled(member("a", "canary"), ago(time.Hour)), admitted(member("b", "canary"), ago(time.Hour)), member("c", "prod"),
			},
			reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
		"one that joins after the wave has passed starts at once, and nothing ends (kubefleet#733)": {
			with: func(fm *ucv1.FleetMigration) { fm.Status.Waves[0].PassedAt = &metav1.Time{Time: ago(time.Hour)} },
			members: []fleet.Member{
				succeeded(member("a", "canary"), ago(5*time.Hour)), admitted(member("b", "prod"), ago(time.Hour)), member("c", "canary"),
			},
			admits: true, wave: ucv1.WavePassed,
		},
		"a wave does not pass while one of it is under way": {
			with: func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MinSuccesses = new(intstr.FromString("50%")) },
			members: []fleet.Member{
				succeeded(member("a", "canary"), ago(5*time.Hour)), admitted(member("b", "canary"), ago(time.Hour)), member("c", "prod"),
			},
			reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
		"a Cluster that succeeded and is not well any more keeps the wave open": {
			members: []fleet.Member{gone, member("b", "prod")}, reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
		"a Cluster that succeeded and is not seen to be well keeps the wave open, as one whose API server does not answer any more": {
			members: []fleet.Member{unseen, member("b", "prod")}, reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
		"a canary that is not seen to be well lets no other Cluster of its wave start": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].Canaries = new(int32(1)) },
			members: []fleet.Member{unseen, member("b", "canary")}, reasons: []string{ucv1.CanariesFirstReason}, wave: ucv1.WaveOpen,
		},
		"a soaking wave with too many that have no verdict does not pass (rollouts#3850)": {
			with: func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxInconclusive = new(intstr.FromString("50%")) },
			members: []fleet.Member{func() fleet.Member {
				m := succeeded(member("a", "canary"), ago(5*time.Hour))
				m.Verdict = slo.Inconclusive
				return m
			}(), member("b", "prod")},
			reasons: []string{ucv1.WaveWaitingReason}, wave: ucv1.WaveOpen,
		},
	}
}

// storiesOfPlaces are about which Clusters have one in their wave.
func storiesOfPlaces() map[string]story {
	lost := admitted(member("a", "canary"), ago(time.Hour))
	lost.Unreachable = ucv1.UnreachableReason
	unknown := member("b", "canary")
	unknown.Unreachable, unknown.Blocking = ucv1.UnreachableReason, observation.Observed[bool]{}
	return map[string]story{
		"an unreachable Cluster is passed over and holds up no other (rancher#192)": {
			members: []fleet.Member{unknown, member("c", "canary")}, admits: true,
		},
		"one that no wave selects is named and never starts (rancher#3828, kubefleet#638)": {
			members: []fleet.Member{member("a", "typo")}, reasons: []string{ucv1.UnplacedReason},
		},
		"what is not there any more holds no place (kured#847)": {
			with: func(fm *ucv1.FleetMigration) {
				fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(1))
				fm.Status.Admitting = []ucv1.AdmittingCluster{{Namespace: "user", Name: "gone", UID: "uid-gone"}}
			},
			members: []fleet.Member{member("a", "canary")}, admits: true,
		},
		"an unreachable Cluster that was let go keeps its place until its deadline": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(1)) },
			members: []fleet.Member{lost, member("b", "canary")}, reasons: []string{ucv1.ConcurrencyReachedReason},
		},
	}
}

// What is not known admits no Cluster, each thing by itself.
func TestWhatIsNotKnown(t *testing.T) {
	one := func(change func(*fleet.Member), reason string) story {
		m := member("a", "canary")
		change(&m)
		return story{members: []fleet.Member{m}, reasons: []string{reason}}
	}
	tell(t, map[string]story{
		"how many Nodes it has": one(func(m *fleet.Member) { m.Nodes = observation.Observed[int32]{} }, ucv1.NodesUnknownReason),
		"whether something blocks it": one(
			func(m *fleet.Member) { m.Blocking = observation.Observed[bool]{} }, ucv1.PreflightUnknownReason),
		"findings block it":        one(func(m *fleet.Member) { m.Blocking = observation.Known(true) }, ucv1.PreflightFindingsReason),
		"it cannot be reached":     one(func(m *fleet.Member) { m.Unreachable = ucv1.UnauthorizedReason }, ucv1.UnauthorizedReason),
		"a person paused it":       one(func(m *fleet.Member) { m.Paused = true }, ucv1.PausedReason),
		"its plan is not approved": one(func(m *fleet.Member) { m.AwaitsPlan = true }, ucv1.PlanNotApprovedReason),
		"the windows of its owner cannot be read": one(
			func(m *fleet.Member) { m.WindowsUnreadable = true }, ucv1.WindowsInvalidReason),
		"someone holds it off": one(func(m *fleet.Member) { m.HeldOff = true }, ucv1.FeatureOwnedElsewhereReason),
		"the windows of its owner are closed": one(func(m *fleet.Member) {
			calendar, err := window.NewCalendar(ucv1.FleetMaintenance{Windows: []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Etc/UTC",
			}}}})
			if err != nil {
				t.Fatal(err)
			}
			m.Windows = &calendar
		}, ucv1.WindowClosedReason),
	})
}

// A Cluster that one FleetMigration is admitting stays with it, although the cache has not seen that and it selects the Cluster no
// longer: two would let it go.
func TestACacheThatIsBehindMovesNoCluster(t *testing.T) {
	g := NewWithT(t)
	first, second := openFleet(), openFleet()
	first.Spec.ClusterSelector = selecting("team", "x")
	first.Status.Admitting = []ucv1.AdmittingCluster{{Namespace: "user", Name: "a", UID: "uid-a", Wave: "canary"}}
	second.Name, second.UID = "second", "uid-second"
	f := fleet.Fleet{
		Migrations: []fleet.Migration{fleet.Compile(first), fleet.Compile(second)}, Members: []fleet.Member{member("a", "canary")},
	}
	(&fleet.Placer{}).Place(&f)
	plan := fleet.Decide(f, noon())
	wanted := plan.Members[0].Admission(plan, &f.Members[0], noon())
	g.Expect(wanted).NotTo(BeNil())
	g.Expect(*wanted).To(Equal(ucv1.AdmissionStatus{
		FleetMigration: "fleet", UID: "uid-fleet", Wave: "canary", State: ucv1.AdmissionAdmitted, Directive: ucv1.DirectiveProceed,
		AdmittedAt: stamp(noon()),
	}))
}

func TestHalts(t *testing.T) {
	halted := func(at time.Time) func(*ucv1.FleetMigration) {
		return func(fm *ucv1.FleetMigration) {
			fm.Status.Halt = &ucv1.FleetHalt{At: metav1.NewTime(at), Reason: ucv1.MaxFailuresExceededReason}
		}
	}
	looked := func(fm *ucv1.FleetMigration) {
		halted(ago(time.Hour))(fm)
		fm.Spec.Failures.CountSince = &metav1.Time{Time: ago(time.Minute)}
	}
	unattended := admitted(member("a", "canary"), ago(time.Hour))
	unattended.Troubles = []fleet.Trouble{{Reason: ucv1.CloudLoopsUnattendedReason, Since: ago(time.Minute)}}
	tell(t, map[string]story{
		"one failure more than may be halts in the same pass": {
			members: []fleet.Member{stalled(member("a", "canary"), ago(time.Hour)), member("b", "canary")},
			reasons: []string{ucv1.FleetHaltedReason}, halt: ucv1.MaxFailuresExceededReason,
		},
		"a plan halts for nothing": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetPlanOnly },
			members: []fleet.Member{stalled(member("a", "canary"), ago(time.Hour)), member("b", "canary")},
			reasons: []string{ucv1.FleetPlanOnlyReason},
		},
		"one that is Stalled for less than the grace is no failure": {
			members: []fleet.Member{stalled(member("a", "canary"), ago(time.Minute)), member("b", "canary")}, admits: true,
		},
		"a halt stays when the Cluster has recovered": {
			with: halted(ago(time.Hour)), members: []fleet.Member{member("b", "canary")}, reasons: []string{ucv1.FleetHaltedReason},
			halt: ucv1.MaxFailuresExceededReason,
		},
		"a person who looked ends it, and what began before does not halt again (rollouts#261)": {
			with: looked, members: []fleet.Member{stalled(member("a", "canary"), ago(2*time.Hour)), member("b", "canary")}, admits: true,
		},
		"a failure that began after that halts again": {
			with:    func(fm *ucv1.FleetMigration) { looked(fm); fm.Spec.Failures.GraceSeconds = new(int32(0)) },
			members: []fleet.Member{stalled(member("a", "canary"), ago(30*time.Second)), member("b", "canary")},
			reasons: []string{ucv1.FleetHaltedReason}, halt: ucv1.MaxFailuresExceededReason,
		},
		"a Cluster without cloud loops halts without a grace": {
			members: []fleet.Member{unattended, member("b", "canary")}, reasons: []string{ucv1.FleetHaltedReason},
			halt: ucv1.CloudLoopsUnattendedReason,
		},
		"an empty list of reasons halts for none": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Failures.HaltAtOnce = []string{} },
			members: []fleet.Member{unattended, member("b", "canary")}, admits: true,
		},
	})
}

func TestLimitsThatCannotBeReadAdmitNoOne(t *testing.T) {
	odd := func(change func(*ucv1.FleetMigration), reasons ...string) story {
		return story{
			with: change, members: []fleet.Member{member("a", "canary")}, accepted: "spec.",
			reasons: append(reasons, ucv1.FleetSpecInvalidReason),
		}
	}
	tell(t, map[string]story{
		"250%": odd(func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromString("250%")) }, ucv1.ConcurrencyReachedReason),
		"-1":   odd(func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(-1)) }, ucv1.ConcurrencyReachedReason),
		"many": odd(func(fm *ucv1.FleetMigration) { fm.Spec.Waves[1].MaxFailures = new(intstr.FromString("many")) }),
		"a budget without a limit": odd(func(fm *ucv1.FleetMigration) {
			fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "none"}}
		}),
		"an unknown time zone": odd(func(fm *ucv1.FleetMigration) {
			fm.Spec.Maintenance.Windows = []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "w", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Europe/Atlantis",
			}, ClusterSelector: selecting("tier", "canary")}}
		}),
		"0 of a wave": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(0)) },
			members: []fleet.Member{member("a", "canary")}, reasons: []string{ucv1.ConcurrencyReachedReason},
		},
		"0 starts an hour": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.MaxStartsPerHour = new(int32(0)) },
			members: []fleet.Member{member("a", "canary")}, reasons: []string{ucv1.StartsPerHourReason},
		},
		"a mode that this version does not know": {
			with:    func(fm *ucv1.FleetMigration) { fm.Spec.Mode = "Faster" },
			members: []fleet.Member{member("a", "canary")}, reasons: []string{ucv1.FleetOnHoldReason},
		},
		"an empty first wave": {
			with:    func(fm *ucv1.FleetMigration) { fm.Status.Waves = nil },
			members: []fleet.Member{member("a", "prod")}, reasons: []string{ucv1.FirstWaveEmptyReason, ucv1.WaveWaitingReason}, wave: ucv1.WaveEmpty,
		},
		"a large Cluster goes alone": {
			with: func(fm *ucv1.FleetMigration) {
				fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "nodes", MaxNodes: new(int32(2))}}
			},
			members: []fleet.Member{member("a", "canary")}, admits: true,
		},
		"and no other beside it": {
			with: func(fm *ucv1.FleetMigration) {
				fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "nodes", MaxNodes: new(int32(2))}}
			},
			members: []fleet.Member{admitted(member("a", "canary"), ago(time.Hour)), member("b", "canary")},
			reasons: []string{ucv1.BudgetExhaustedReason},
		},
	})
}

// A status stays small at all limits, however many Clusters there are and however long their names are (argo-cd#24689).
func TestAStatusStaysSmall(t *testing.T) {
	g, fm := NewWithT(t), openFleet()
	fm.Spec = fleetlimits.Spec()
	fm.Status = fleetlimits.Status(fm.Spec, noon())
	status := fleetlimits.Decide(fm, noon())
	text, err := json.Marshal(status)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(status.Admitting).To(HaveLen(fleet.AtOnce))
	g.Expect(len(text)).To(BeNumerically("<", fleetlimits.StatusBytes))
	t.Logf("%d bytes", len(text))
}

// What is deleted, relabeled or pruned starts no Cluster.
func TestTheGate(t *testing.T) {
	queued := &ucv1.AdmissionStatus{FleetMigration: "gone", State: ucv1.AdmissionQueued}
	admittedBy := &ucv1.AdmissionStatus{FleetMigration: "fleet", State: ucv1.AdmissionAdmitted}
	unknown := observation.Observed[bool]{}
	for name, test := range map[string]struct {
		admission *ucv1.AdmissionStatus
		immediate bool
		selected  observation.Observed[bool]
		policy    fleet.Policy
		reason    string
	}{
		"admitted":                                       {admission: admittedBy, policy: fleet.Required},
		"a person lets it go at once":                    {admission: queued, immediate: true, policy: fleet.Required},
		"its FleetMigration is gone":                     {admission: queued, selected: observation.Known(false), policy: fleet.Optional, reason: ucv1.QueuedReason},
		"one selects it and has not claimed it yet":      {selected: observation.Known(true), policy: fleet.Optional, reason: ucv1.QueuedReason},
		"whether one selects it is not known":            {selected: unknown, policy: fleet.Optional, reason: ucv1.CouldNotLookReason},
		"none selects it":                                {selected: observation.Known(false), policy: fleet.Optional},
		"none selects it, and admission is required":     {selected: observation.Known(false), policy: fleet.Required, reason: ucv1.NoFleetMigrationReason},
		"a policy that this version does not know holds": {selected: observation.Known(false), policy: "Sometimes", reason: ucv1.NoFleetMigrationReason},
	} {
		t.Run(name, func(t *testing.T) {
			obstacle := fleet.Gate(test.admission, test.immediate, test.selected, test.policy)
			NewWithT(t).Expect(obstacle.Reason).To(Equal(test.reason))
		})
	}
}

// A budget of another FleetMigration holds for a Cluster with windows of its owner, too.
func TestBudgetsOfOthersHoldForClustersWithWindows(t *testing.T) {
	g := NewWithT(t)
	calendar, err := window.NewCalendar(ucv1.FleetMaintenance{})
	g.Expect(err).NotTo(HaveOccurred())
	other := openFleet()
	other.Name, other.UID, other.Spec.ClusterSelector = "other", "uid-other", selecting("team", "x")
	other.Spec.Budgets = []ucv1.FleetBudget{{Name: "none", MaxConcurrency: new(int32(0))}}
	m := member("a", "canary")
	m.Windows = &calendar
	f := fleet.Fleet{
		Migrations: []fleet.Migration{fleet.Compile(openFleet()), fleet.Compile(other)}, Members: []fleet.Member{m},
	}
	(&fleet.Placer{}).Place(&f)
	plan := fleet.Decide(f, noon())
	g.Expect(plan.Members[0].Admit).To(BeFalse())
	g.Expect(obstacles(plan.Members[0])).To(ConsistOf(ucv1.BudgetExhaustedReason))
}
