package fleet

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Plan is a decision about a whole fleet.
type Plan struct {
	// Members in the order of the fleet's.
	Members []MemberPlan
	// Migrations in the order in which they get Clusters: by priority, age and name.
	Migrations []MigrationPlan
	// WakeAt is when the decision may be another although nothing changes; zero where it will not.
	WakeAt time.Time
}

// MemberPlan is what a Cluster is, and what is done with it.
type MemberPlan struct {
	// Migration is the index of its FleetMigration in the plan, and Wave that of its wave in the spec; -1 where it has none.
	Migration, Wave int
	State           State
	// Failed is why it counts as failed, and since when; an empty reason where it does not.
	Failed Trouble
	// Forgiven says that a person has looked at that failure.
	Forgiven bool
	// Obstacles are all that keeps it from being admitted; none where it is admitted now, or has nothing to wait for.
	Obstacles []Obstacle
	// Position among those that wait in its FleetMigration, from 1; 0 where it does not.
	Position int
	// Soon says that its turn comes soon, so that it is worth looking at often.
	Soon bool
	// Admit says that it is let go now, Claim that its FleetMigration claims it, and SetFeature that its feature is set with that.
	Admit, Claim, SetFeature bool
	// Directive that it has to have; empty where it migrates in no FleetMigration.
	Directive ucv1.FleetDirective
}

// State of a Cluster in its FleetMigration. Each is in one.
type State string

// The states, in the order of FleetCount.
const (
	// Outside: no FleetMigration counts it.
	Outside      State = ""
	OutOfScope   State = "OutOfScope"
	NotRequested State = "NotRequested"
	Ineligible   State = "Ineligible"
	Queued       State = "Queued"
	InFlight     State = "InFlight"
	Succeeded    State = "Succeeded"
	Failed       State = "Failed"
	RolledBack   State = "RolledBack"
)

// Obstacle keeps a Cluster from being admitted.
type Obstacle struct {
	// Reason is one of the API's.
	Reason string
	// Of names the wave, window, exclusion, budget or FleetMigration; empty where it is the Cluster itself.
	Of string
	// Until is when it ends by itself; zero where that is not known.
	Until time.Time
}

// MigrationPlan is what a FleetMigration is.
type MigrationPlan struct {
	Name, UID string
	// Problems of its spec: one that has any admits no Cluster.
	Problems []string
	// Stopped is why it admits no Cluster at all; empty where it may.
	Stopped string
	// FirstWaveEmpty and NoWindowAhead admit no Cluster, either.
	FirstWaveEmpty, NoWindowAhead bool
	Waves                         []WavePlan
	Clusters                      ucv1.FleetCount
	Nodes                         ucv1.FleetNodeCount
	// OutOfScope counts by reason.
	OutOfScope map[string]int
	Budgets    []ucv1.BudgetStatus
	// Halt is nil where it is not halted.
	Halt *ucv1.FleetHalt
	// Windows in the order of the spec, WindowsOpen by name, and when the next window or exclusion begins or ends.
	Windows      []WindowPlan
	WindowsOpen  []string
	NextChangeAt time.Time
	// Status that it has to have, conditions included.
	Status ucv1.FleetMigrationStatus
}

// WindowPlan is what a window is, whatever is excluded.
type WindowPlan struct {
	Name string
	Open bool
	// ChangesAt is when it opens or closes next; zero if it does not within window.Horizon.
	ChangesAt time.Time
}

// Admission that a Cluster has to have from now on; nil where that stays as it is.
func (p *MemberPlan) Admission(of Plan, m *Member, now time.Time) *ucv1.AdmissionStatus {
	if p.Migration < 0 || !p.Admit && !p.Claim && (m.Admission == nil || m.Admission.Directive == p.Directive) {
		return nil
	}
	r := &of.Migrations[p.Migration]
	wanted := &ucv1.AdmissionStatus{FleetMigration: r.Name, UID: r.UID, State: ucv1.AdmissionQueued}
	if p.Wave >= 0 {
		wanted.Wave = r.Waves[p.Wave].Name
	}
	if p.Claim {
		return claim(wanted, m)
	}
	if p.Admit || m.admitted() {
		wanted.State, wanted.Directive, wanted.AdmittedAt = ucv1.AdmissionAdmitted, p.Directive, new(metav1.NewTime(now))
	}
	if m.admitted() {
		wanted.AdmittedAt = m.Admission.AdmittedAt
	}
	hold(wanted, m, now)
	return wanted
}

// claim again what was admitted and rolled back: the starts of an hour count it.
func claim(wanted *ucv1.AdmissionStatus, m *Member) *ucv1.AdmissionStatus {
	if m.admitted() {
		wanted.AdmittedAt = m.Admission.AdmittedAt
	}
	return wanted
}

// hold notes since when the roll of a Cluster is held, and for how long it was before.
func hold(wanted *ucv1.AdmissionStatus, m *Member, now time.Time) {
	if m.Admission != nil {
		wanted.HeldSeconds = m.Admission.HeldSeconds
	}
	if m.held() && m.Admission.HeldSince != nil {
		wanted.HeldSeconds += max(0, int64(now.Sub(m.Admission.HeldSince.Time)/time.Second))
	}
	if wanted.Directive == ucv1.DirectiveHoldRoll {
		wanted.HeldSince = new(metav1.NewTime(now))
	}
}

// WavePlan is what a wave is.
type WavePlan struct {
	Name               string
	State              ucv1.WaveState
	WaitsFor           string
	OpenedAt, PassedAt time.Time
	Clusters           ucv1.FleetCount
	// Failed are the newest.
	Failed []ucv1.FailedCluster
	// Gate is the report about the waves before; nil once it has opened, and where no approval is asked for.
	Gate *ucv1.GateStatus
	// SoaksUntil is when it passes if all stays as it is.
	SoaksUntil time.Time
	// Failures that no person has looked at, and MaxFailures that halt it when there is one more.
	Failures, MaxFailures int
}
