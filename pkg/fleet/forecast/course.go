package forecast

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// course is the way of a Cluster that migrates. Its zero value goes nowhere.
type course struct {
	// rolledAt and doneAt are when all its Machines are replaced, and when it is done; zero where it does not go on.
	rolledAt, doneAt time.Time
	// heldSince is since when its roll is held.
	heldSince time.Time
	// paused is how long it was paused by people: what the decision does not count.
	paused time.Duration
	// start is its place among the starts of the forecast, from 1; 0 where it has none.
	start int
}

// goesOn says that it gets further by itself.
func (c *course) goesOn() bool { return !c.doneAt.IsZero() && c.heldSince.IsZero() }

// next is when it gets further; zero where it does not.
func (c *course) next(m *fleet.Member) time.Time {
	switch {
	case !c.goesOn():
		return time.Time{}
	case !m.RolledOut:
		return c.rolledAt
	}
	return c.doneAt
}

// resume the Clusters that migrate already. Those that need a person stay as they are.
func (s *simulation) resume() {
	stay := 0
	for i := range s.fleet.Members {
		m, c := &s.fleet.Members[i], &s.courses[i]
		c.paused = m.PausedFor - heldFor(m.Admission)
		if m.OutOfScope != "" || m.RolledBack || !m.CompletedAt.IsZero() {
			continue
		}
		if m.Immediate && m.Requested && m.StartedAt.IsZero() {
			m.StartedAt = s.now
		}
		switch began := begun(m); {
		case began.IsZero():
		case needsPerson(m):
			stay++
		default:
			s.begin(i, began)
		}
	}
	if stay > 0 {
		s.say(clusters(stay, "migrates and needs a person: it stays as it is.", "migrate and need a person: they stay as they are."))
	}
}

func needsPerson(m *fleet.Member) bool {
	return m.Stalled.Reason != "" || m.Unreachable != "" || m.Paused || m.RollingBack
}

func begun(m *fleet.Member) time.Time {
	if a := m.Admission; a != nil && a.State == ucv1.AdmissionAdmitted && a.AdmittedAt != nil {
		return a.AdmittedAt.Time
	}
	return m.StartedAt
}

func heldFor(a *ucv1.AdmissionStatus) time.Duration {
	if a == nil {
		return 0
	}
	return time.Duration(a.HeldSeconds) * time.Second
}

// begin the course of a Cluster that was let go at a time. One that should be done by now is about to be.
func (s *simulation) begin(i int, at time.Time) {
	m, c := &s.fleet.Members[i], &s.courses[i]
	takes := s.takes(m)
	if m.StartedAt.IsZero() {
		m.StartedAt = at
	}
	at = at.Add(m.PausedFor)
	c.rolledAt, c.doneAt = at.Add(takes.Roll), at.Add(takes.All)
	if !s.now.Before(c.doneAt) && takes.All > 0 {
		c.doneAt = s.now.Add(time.Minute)
	}
	if a := m.Admission; a != nil && a.Directive == ucv1.DirectiveHoldRoll && !m.RolledOut {
		c.heldSince = s.now
		if a.HeldSince != nil {
			c.heldSince = a.HeldSince.Time
		}
	}
}

// obey what the FleetMigration wants of a Cluster now.
func (s *simulation) obey(i int) {
	m, c := &s.fleet.Members[i], &s.courses[i]
	m.PausedFor = c.paused + heldFor(m.Admission)
	holds := m.Admission.Directive == ucv1.DirectiveHoldRoll
	switch {
	case m.Admission.Directive == ucv1.DirectiveRollback:
		c.doneAt = time.Time{} // A person's, and when it ends is not known.
	case holds && c.heldSince.IsZero() && !m.RolledOut:
		c.heldSince = s.now
	case !holds && !c.heldSince.IsZero():
		held := s.now.Sub(c.heldSince)
		c.rolledAt, c.doneAt, c.heldSince = c.rolledAt.Add(held), c.doneAt.Add(held), time.Time{}
	}
}

// advance the courses to now.
func (s *simulation) advance() {
	for i := range s.courses {
		m, c := &s.fleet.Members[i], &s.courses[i]
		if !c.goesOn() {
			continue
		}
		rolled := !s.now.Before(c.rolledAt)
		if s.made.FirstFreed.IsZero() && (rolled && !m.RolledOut || !s.now.Before(c.doneAt)) {
			s.made.FirstFreed = s.now
		}
		m.RolledOut = m.RolledOut || rolled
		if s.now.Before(c.doneAt) {
			continue
		}
		m.CompletedAt, m.HealthySince, m.RolledOut = s.now, s.now, true
		m.Verdict, m.VerdictAt = slo.Met, s.now
		c.doneAt = time.Time{}
		if c.start > 0 {
			s.made.Starts[c.start-1].DoneAt = s.now
		}
	}
}
