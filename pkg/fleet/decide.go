package fleet

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
)

// decision is a Plan in the making.
type decision struct {
	fleet *Fleet
	now   time.Time
	plan  Plan
	runs  []run
	// at are the places of the Clusters.
	at []*place
	// migrating are the Clusters that may disrupt: what was observed, and what is being admitted.
	migrating []int
	// budgets of all FleetMigrations: each holds for every Cluster that is admitted, whoever admits it.
	budgets []budget
	values  map[string]*values
	byUID   map[string]int
	// admitting says by UID who is admitting a Cluster, in which wave: no one may have seen that yet.
	admitting map[string]admitting
}

type admitting struct {
	run  int
	wave string
}

// run is a FleetMigration in the making.
type run struct {
	*Migration
	plan    *MigrationPlan
	members []int
	waves   []wave
	// moment is what the windows are now, and verdicts what they come to for the Clusters of a place.
	moment   window.Moment
	verdicts map[*place]window.Verdict
	// started counts those that were admitted within the hour, and oldest is the first of them.
	started int
	oldest  time.Time
	// failures that no person has looked at.
	failures int
	// held are those whose roll it holds.
	held int32
	back rollback
}

// Decide which Clusters may start now, and why the others may not. The fleet has been placed (Placer).
func Decide(f Fleet, now time.Time) Plan {
	d := &decision{fleet: &f, now: now, admitting: map[string]admitting{}, values: map[string]*values{}, byUID: map[string]int{}}
	d.plan.Members = make([]MemberPlan, len(f.Members))
	d.at = make([]*place, len(f.Members))
	d.plan.Migrations = make([]MigrationPlan, len(f.Migrations))
	d.runs = make([]run, len(f.Migrations))
	for i := range f.Migrations {
		d.begin(i)
	}
	for i := range f.Members {
		d.assign(i)
	}
	for i := range d.runs {
		d.count(&d.runs[i])
		d.halt(&d.runs[i])
		d.openWaves(&d.runs[i])
	}
	for i := range d.runs {
		d.fill(&d.runs[i])
	}
	for i := range d.runs {
		d.admit(&d.runs[i])
		d.direct(&d.runs[i])
	}
	for i := range d.runs {
		d.report(&d.runs[i])
	}
	return d.plan
}

func (d *decision) begin(i int) {
	m := &d.fleet.Migrations[i]
	r := &d.runs[i]
	r.Migration, r.plan = m, &d.plan.Migrations[i]
	r.plan.Name, r.plan.UID, r.plan.Problems = m.object.Name, string(m.object.UID), m.problems
	r.waves = make([]wave, len(m.object.Spec.Waves))
	r.plan.Waves = make([]WavePlan, len(r.waves))
	for w := range r.waves {
		r.waves[w].Wave, r.waves[w].plan = &m.object.Spec.Waves[w], &r.plan.Waves[w]
		r.plan.Waves[w].Name = r.waves[w].Name
	}
	d.byUID[string(m.object.UID)] = i
	for _, a := range m.object.Status.Admitting {
		d.admitting[a.UID] = admitting{i, a.Wave}
	}
	d.lookAt(r)
}

// assign a Cluster to its FleetMigration. A claim stays with who has it for as long as that selects the Cluster, and for good
// once it has begun.
func (d *decision) assign(i int) {
	m, p := &d.fleet.Members[i], &d.plan.Members[i]
	p.Migration, p.Wave = -1, -1
	admitting := d.isAdmitting(m)
	if m.migrates() || admitting && m.CompletedAt.IsZero() {
		d.migrating = append(d.migrating, i)
	}
	at, holder := d.placeOf(m)
	if at == nil {
		p.Obstacles = unclaimed(m, holder)
		return
	}
	d.elsewhere(m, at)
	r := &d.runs[at.migration]
	if reason := m.outside(admitting); reason != "" {
		p.State = OutOfScope
		r.outOfScope(reason)
		return
	}
	p.Migration, p.Wave, d.at[i] = at.migration, at.wave, at
	r.members = append(r.members, i)
	p.Admit = admitting && !m.admitted() // The manager before may have been killed before it wrote that.
	p.SetFeature = p.Admit && r.onAdmission()
	d.judge(r, i, admitting)
	p.Claim = r.claims(m, p.State, admitting)
}

// claims says that a Cluster is to be claimed: when someone wants it migrated.
func (r *run) claims(m *Member, s State, admitting bool) bool {
	return m.waitsAgain() || !m.begunOr(admitting) && s != NotRequested && !m.claimedBy(r)
}

func (m *Member) claimedBy(r *run) bool {
	return m.Admission != nil && m.Admission.UID == string(r.object.UID)
}

// isAdmitting says that a Cluster is being admitted. One whose feature someone holds off was not let go, and will not be.
func (d *decision) isAdmitting(m *Member) bool {
	if m.HeldOff && !m.admitted() {
		delete(d.admitting, m.UID)
	}
	_, is := d.admitting[m.UID]
	return is
}

// elsewhere counts a Cluster where it is selected and another FleetMigration has it.
func (d *decision) elsewhere(m *Member, at *place) {
	for _, other := range m.places {
		if other.migration != at.migration {
			d.runs[other.migration].outOfScope(ucv1.ClaimedElsewhereReason)
		}
	}
}

// outside is why there is nothing to migrate in it; empty where there is. One that is deleted in the middle goes on until it
// is gone.
func (m *Member) outside(admitting bool) string {
	if m.OutOfScope == "" && m.Deleting && !m.begunOr(admitting) {
		return ucv1.DeletingReason
	}
	return m.OutOfScope
}

// unclaimed is why a Cluster without FleetMigration waits all the same.
func unclaimed(m *Member, holder *run) []Obstacle {
	switch {
	case m.Admission == nil || m.Admission.State != ucv1.AdmissionQueued || !m.StartedAt.IsZero():
		return nil
	case holder == nil:
		return []Obstacle{{Reason: ucv1.FleetMigrationGoneReason, Of: m.Admission.FleetMigration}}
	}
	return []Obstacle{{Reason: ucv1.NotSelectedReason, Of: m.Admission.FleetMigration}}
}

// placeOf a Cluster; nil where no FleetMigration has it. The holder is who claimed it, nil where that is gone.
func (d *decision) placeOf(m *Member) (*place, *run) {
	var first *place
	if len(m.places) > 0 {
		first = &m.places[0]
	}
	h, wave, begun := d.holderOf(m)
	if h < 0 {
		return first, nil
	}
	selected := slices.IndexFunc(m.places, func(at place) bool { return at.migration == h })
	switch {
	case begun:
		// It moves neither wave nor FleetMigration.
		at := &place{migration: h, wave: d.runs[h].waveNamed(wave)}
		if selected >= 0 {
			at.windows = m.places[selected].windows
			if at.wave < 0 {
				at.wave = m.places[selected].wave
			}
		}
		return at, &d.runs[h]
	case selected >= 0:
		return &m.places[selected], &d.runs[h]
	case d.runs[h].unreadable, m.NamespaceUnknown: // Whether it still selects the Cluster is not known.
		return &place{migration: h, wave: d.runs[h].waveNamed(wave)}, &d.runs[h]
	}
	return first, &d.runs[h]
}

// holderOf a Cluster is who claimed it, or is admitting it: -1 where no one does who is still there.
func (d *decision) holderOf(m *Member) (holder int, wave string, begun bool) {
	if a, admitting := d.admitting[m.UID]; admitting && !m.admitted() {
		return a.run, a.wave, true
	}
	if m.Admission == nil {
		return -1, "", false
	}
	by, known := d.byUID[m.Admission.UID]
	if !known {
		return -1, "", false
	}
	return by, m.Admission.Wave, m.begunOr(false)
}

func (m *Member) begunOr(admitting bool) bool {
	return admitting || !m.begun().IsZero() || m.admitted() || m.Immediate && m.Requested
}

func (r *run) waveNamed(name string) int {
	return slices.IndexFunc(r.waves, func(w wave) bool { return w.Name == name })
}

func (r *run) outOfScope(reason string) {
	if r.plan.OutOfScope == nil {
		r.plan.OutOfScope = map[string]int{}
	}
	r.plan.OutOfScope[reason]++
}

// wake has the decision looked at again at a time.
func (d *decision) wake(at time.Time) {
	if at.After(d.now) && (d.plan.WakeAt.IsZero() || at.Before(d.plan.WakeAt)) {
		d.plan.WakeAt = at
	}
}
