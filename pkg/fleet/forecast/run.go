package forecast

import (
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

const (
	// mostSteps bounds a forecast: what would take more is given up.
	mostSteps = 20000
	// mostPasses at one time: each changes something, and a pass admits 30 Clusters.
	mostPasses = 1000
	// quiet is how long nothing has to happen until a forecast is given up: longer than a soak, and than windows are looked ahead.
	quiet = 62 * 24 * time.Hour
)

// simulation plays the decision over time.
type simulation struct {
	// objects are copies, in the order of the plan.
	objects []*ucv1.FleetMigration
	fleet   fleet.Fleet
	courses []course
	takes   func(*fleet.Member) Takes
	now     time.Time
	// subject is the place of the FleetMigration that the forecast is about.
	subject int
	made    Forecast
	// movedAt is when something last happened, and lastExclusion when the last of all ends.
	movedAt, lastExclusion time.Time
	approved               map[string]bool
}

// Run plays a FleetMigration with durations that are given. In mode PlanOnly it does what it would in mode Run. It is the zero
// value where there is no FleetMigration of that name.
func Run(of Fleet, name string, takes func(*fleet.Member) Takes, now time.Time) Forecast {
	s := &simulation{takes: takes, now: now, movedAt: now, approved: map[string]bool{}, courses: make([]course, len(of.Members))}
	s.made.From = now
	if !s.take(of, name) {
		return Forecast{}
	}
	s.assume()
	s.resume()
	for s.made.Steps < mostSteps {
		plan := s.settle()
		if s.now.Equal(now) {
			s.sayWhoWaits(&plan)
		}
		if s.ended(&plan) {
			return s.made
		}
		s.now = s.next(plan.WakeAt)
		s.advance()
	}
	s.made.Waits = Waits{Reason: TooFar, At: s.now}
	return s.made
}

// take copies of what is changed, in the order in which the decision has them; false where the subject is none of them.
func (s *simulation) take(of Fleet, name string) bool {
	s.fleet.Members = slices.Clone(of.Members)
	for _, fm := range of.Migrations {
		s.fleet.Migrations = append(s.fleet.Migrations, fleet.Compile(fm))
	}
	(&fleet.Placer{}).Place(&s.fleet)
	s.subject = -1
	for i, migration := range fleet.Decide(fleet.Fleet{Migrations: s.fleet.Migrations}, s.now).Migrations {
		at := slices.IndexFunc(of.Migrations, func(fm *ucv1.FleetMigration) bool { return fm.Name == migration.Name })
		own := *of.Migrations[at]
		for _, exclusion := range own.Spec.Maintenance.Exclusions {
			s.lastExclusion = later(s.lastExclusion, exclusion.To.Time)
		}
		if own.Name == name {
			s.subject = i
			if own.Spec.Mode == ucv1.FleetPlanOnly {
				own.Spec.Mode = ucv1.FleetRun
			}
		}
		s.objects = append(s.objects, &own)
		s.fleet.Migrations[i] = fleet.Compile(&own)
	}
	return s.subject >= 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (s *simulation) say(sentence string) { s.made.Assumptions = append(s.made.Assumptions, sentence) }

// settle decides until nothing changes any more at this time.
func (s *simulation) settle() fleet.Plan {
	for range mostPasses {
		s.made.Steps++
		plan := fleet.Decide(s.fleet, s.now)
		changed := false
		for i := range plan.Members {
			changed = s.write(&plan, i) || changed
		}
		for i := range plan.Migrations {
			changed = s.record(&plan.Migrations[i], i) || changed
		}
		if !changed {
			return plan
		}
		s.movedAt = s.now
	}
	return fleet.Decide(s.fleet, s.now)
}

// write the admission that a Cluster has to have.
func (s *simulation) write(plan *fleet.Plan, i int) (changed bool) {
	m, p := &s.fleet.Members[i], &plan.Members[i]
	wanted := p.Admission(*plan, m, s.now)
	if wanted == nil {
		return false
	}
	m.Admission, m.Requested = wanted, m.Requested || p.SetFeature
	if !p.Admit {
		s.obey(i)
		return true
	}
	if p.Migration == s.subject {
		s.made.Starts = append(s.made.Starts, Start{
			Namespace: m.Namespace, Name: m.Name, Wave: wanted.Wave, At: s.now, Nodes: m.Nodes.Value(),
		})
		s.courses[i].start = len(s.made.Starts)
	}
	s.begin(i, s.now)
	return true
}

// record the status of a FleetMigration, and approve the waves that ask for it. What is said of it is about what happened
// only: a status that differs in counts changes no decision.
func (s *simulation) record(migration *fleet.MigrationPlan, i int) (changed bool) {
	own := *s.objects[i]
	changed = (own.Status.Halt == nil) != (migration.Halt == nil) || len(own.Status.Waves) != len(migration.Waves) ||
		len(own.Status.Admitting) > 0
	for w := range migration.Waves {
		is := &migration.Waves[w]
		if len(own.Status.Waves) == len(migration.Waves) {
			was := &own.Status.Waves[w]
			changed = changed || (was.OpenedAt == nil) != is.OpenedAt.IsZero() || (was.PassedAt == nil) != is.PassedAt.IsZero()
		}
		if is.State == ucv1.WaveAwaitingApproval && is.Gate != nil {
			own.Spec.Approvals, changed = approvedNow(&own, is.Name, is.Gate.Digest), true
			s.approve(i, is.Name)
		}
	}
	own.Status = migration.Status
	// They were written in this pass.
	own.Status.Admitting = nil
	s.objects[i] = &own
	if changed {
		s.fleet.Migrations[i] = fleet.Compile(&own)
	}
	return changed
}

func (s *simulation) approve(i int, wave string) {
	if i == s.subject && !s.approved[wave] {
		s.approved[wave] = true
		s.say(fmt.Sprintf("Wave %s is approved as soon as it asks for that.", wave))
	}
}

// next is when the decision, or a course, comes to something else.
func (s *simulation) next(wake time.Time) time.Time {
	next := wake
	for i := range s.courses {
		if at := s.courses[i].next(&s.fleet.Members[i]); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return later(s.now.Add(time.Nanosecond), next)
}
