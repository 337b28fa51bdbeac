package fleet

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// Defaults of the spec.
const (
	defaultGrace    = 15 * time.Minute
	defaultDeadline = 4 * time.Hour
	defaultSoak     = time.Hour
)

// judge what a Cluster is.
func (d *decision) judge(r *run, i int, admitting bool) {
	m, p := &d.fleet.Members[i], &d.plan.Members[i]
	if begun := m.begun(); !begun.IsZero() {
		p.Failed = d.failure(r, m)
		p.Forgiven = p.Failed.Reason != "" && r.forgiven(p.Failed.Since)
	}
	switch {
	case m.RollingBack || m.RolledBack:
		p.State = RolledBack
	case p.Failed.Reason != "":
		p.State = Failed
	case m.done():
		p.State = Succeeded
	case m.begunOr(admitting):
		p.State = InFlight
	case !m.Requested && !r.onAdmission():
		p.State = NotRequested
	default:
		p.State = Queued
		if p.Obstacles = d.own(m, p.Wave); len(p.Obstacles) > 0 {
			p.State = Ineligible
		}
	}
}

// done says that it has succeeded. A completion from before its admission is of an earlier migration.
func (m *Member) done() bool {
	return !m.CompletedAt.IsZero() && !m.CompletedAt.Before(m.begun())
}

// own obstacles are about the Cluster itself. What is not known is one.
func (d *decision) own(m *Member, wave int) []Obstacle {
	var obstacles []Obstacle
	add := func(holds bool, reason string) {
		if holds {
			obstacles = append(obstacles, Obstacle{Reason: reason})
		}
	}
	blocked, looked := m.Blocking.Get()
	looked = looked && d.lasts(m)
	add(wave < 0, ucv1.UnplacedReason)
	add(m.Unreachable != "", m.Unreachable)
	add(m.Paused, ucv1.PausedReason)
	add(!m.Nodes.IsKnown(), ucv1.NodesUnknownReason)
	add(!looked, ucv1.PreflightUnknownReason)
	add(looked && blocked, ucv1.PreflightFindingsReason)
	add(m.AwaitsPlan, ucv1.PlanNotApprovedReason)
	add(m.HeldOff, ucv1.FeatureOwnedElsewhereReason)
	add(m.WindowsUnreadable, ucv1.WindowsInvalidReason)
	return obstacles
}

// lookLasts is how long a look is believed: a daily one until the next is due, and a little more.
const lookLasts = 26 * time.Hour

func (d *decision) lasts(m *Member) bool {
	until := m.LookedAt.Add(lookLasts)
	if m.LookedAt.IsZero() || d.now.Before(until) {
		d.wake(until)
		return true
	}
	return false
}

// failure of a Cluster that has begun, and since when; it is judged as things are now, and who recovers has not failed.
func (d *decision) failure(r *run, m *Member) Trouble {
	failures := r.object.Spec.Failures
	grace := seconds(failures.GraceSeconds, defaultGrace)
	if graceEnds := m.Stalled.Since.Add(grace); m.Stalled.Reason != "" {
		if !d.now.Before(graceEnds) {
			return m.Stalled
		}
		d.wake(graceEnds)
	}
	switch {
	case m.done() && m.Verdict == slo.Violated:
		return Trouble{ucv1.SLOViolatedReason, m.VerdictAt}
	case m.done(), m.Paused, m.held():
		return Trouble{}
	}
	return d.late(m, m.begun().Add(r.Deadline()+m.PausedFor))
}

// held says that a FleetMigration lets it replace no further Machines.
func (m *Member) held() bool { return m.admitted() && m.Admission.Directive == ucv1.DirectiveHoldRoll }

// late is the failure of one that is not done at its deadline.
func (d *decision) late(m *Member, deadline time.Time) Trouble {
	switch {
	case d.now.Before(deadline):
		d.wake(deadline)
		return Trouble{}
	case m.Unreachable != "":
		return Trouble{m.Unreachable, deadline}
	}
	return Trouble{ucv1.ProgressDeadlineExceededReason, deadline}
}

// forgiven says that a person looked at what began at a time.
func (r *run) forgiven(began time.Time) bool {
	since := r.object.Spec.Failures.CountSince
	return since != nil && !began.After(since.Time)
}

// count the Clusters of a FleetMigration and of its waves.
func (d *decision) count(r *run) {
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		add(&r.plan.Clusters, p.State)
		if p.Wave >= 0 {
			r.waves[p.Wave].add(m, p)
		} else {
			name(&r.plan.Status.Unplaced, m)
		}
		if p.State == Failed && !p.Forgiven {
			r.failures++
		}
		r.countNodes(m, p.State)
		d.countStart(r, m)
	}
}

func (r *run) countNodes(m *Member, s State) {
	nodes, known := m.Nodes.Get()
	switch {
	case !known:
		return
	case s == Succeeded:
		r.plan.Nodes.Migrated += nodes
	case m.migrates() && !m.RolledOut:
		r.plan.Nodes.InFlight += nodes
	}
	r.plan.Nodes.Known += nodes
}

// countStart of one that this FleetMigration admitted within the hour.
func (d *decision) countStart(r *run, m *Member) {
	a, admitting := d.admitting[m.UID]
	admitting = admitting && &d.runs[a.run] == r
	at := time.Time{}
	switch {
	case admitting && !m.admitted():
		at = d.now
	case m.Admission != nil && m.Admission.AdmittedAt != nil: // Also of one that was rolled back since.
		at = m.Admission.AdmittedAt.Time
	case m.admitted():
		at = m.begun()
	}
	if !at.After(d.now.Add(-time.Hour)) {
		return
	}
	r.started++
	if r.oldest.IsZero() || at.Before(r.oldest) {
		r.oldest = at
	}
}

func add(count *ucv1.FleetCount, s State) {
	count.Total++
	switch s {
	case NotRequested:
		count.NotRequested++
	case Ineligible:
		count.Ineligible++
	case Queued:
		count.Queued++
	case InFlight:
		count.InFlight++
	case Succeeded:
		count.Succeeded++
	case Failed:
		count.Failed++
	case RolledBack:
		count.RolledBack++
	case Outside, OutOfScope:
	}
}
