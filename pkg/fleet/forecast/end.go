package forecast

import (
	"cmp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// shownExamples are the Clusters of one reason that are named at most.
const shownExamples = 3

// ended says that nothing more will come of the FleetMigration, and notes what did.
func (s *simulation) ended(plan *fleet.Plan) bool {
	r := &plan.Migrations[s.subject]
	passed := r.Status.Wave == "" && !r.FirstWaveEmpty
	switch {
	case passed && r.Clusters.Queued == 0 && r.Clusters.InFlight == 0:
		s.note(r)
		s.made.EndsAt = s.last(plan, r)
		return true
	case !s.stuck(plan, r) && !s.now.After(later(s.movedAt, s.lastExclusion).Add(quiet)):
		return false
	}
	s.note(r)
	s.made.Waits = s.waits(plan, r)
	return true
}

// note the waves and counts as they are at the end.
func (s *simulation) note(r *fleet.MigrationPlan) {
	s.made.Clusters = r.Clusters
	for i := range r.Waves {
		w := &r.Waves[i]
		s.made.Waves = append(s.made.Waves, Wave{
			Name: w.Name, OpensAt: w.OpenedAt, PassesAt: w.PassedAt, Approved: s.approved[w.Name], NoMember: w.State == ucv1.WaveEmpty,
		})
	}
}

// last is when the last wave passed and the last Cluster was done.
func (s *simulation) last(plan *fleet.Plan, r *fleet.MigrationPlan) time.Time {
	end := time.Time{}
	for i := range r.Waves {
		end = later(end, r.Waves[i].PassedAt)
	}
	for i := range plan.Members {
		if plan.Members[i].Migration == s.subject && plan.Members[i].State == fleet.Succeeded {
			end = later(end, s.fleet.Members[i].CompletedAt)
		}
	}
	if end.IsZero() {
		return s.now // All waves are empty.
	}
	return end
}

// stuck says that time alone changes nothing any more.
func (s *simulation) stuck(plan *fleet.Plan, r *fleet.MigrationPlan) bool {
	soaks := slices.ContainsFunc(r.Waves, func(w fleet.WavePlan) bool { return w.State == ucv1.WaveSoaking })
	if r.Clusters.InFlight > 0 || soaks && r.Stopped == "" {
		return false
	}
	for i := range plan.Members {
		p := &plan.Members[i]
		// One that counts as failed may go on, and recover.
		waits := r.Stopped == "" && p.State == fleet.Queued && !slices.ContainsFunc(p.Obstacles, waitsForOthers)
		if p.Migration == s.subject && (waits || s.courses[i].goesOn()) {
			return false
		}
	}
	return true
}

// waitsForOthers says that an obstacle stays while no other Cluster gets further.
func waitsForOthers(o fleet.Obstacle) bool {
	return slices.Contains([]string{ucv1.WaveWaitingReason, ucv1.NoWindowReason, ucv1.UnplacedReason}, o.Reason)
}

// waits is what stands in the way: what stops all, or what the Clusters of the first wave wait for that does not pass.
func (s *simulation) waits(plan *fleet.Plan, r *fleet.MigrationPlan) Waits {
	if r.Stopped != "" {
		return Waits{Reason: r.Stopped, At: s.movedAt}
	}
	waits, names := Waits{Wave: r.Status.Wave, At: s.movedAt, Reason: ucv1.WaveWaitingReason}, map[string][]string{}
	for i := range plan.Members {
		p := &plan.Members[i]
		if p.Migration != s.subject || p.Wave < 0 || r.Status.Wave != "" && r.Waves[p.Wave].Name != r.Status.Wave {
			continue
		}
		if reason := waitsFor(p); reason != "" {
			names[reason] = append(names[reason], s.fleet.Members[i].String())
		}
	}
	if len(names) > 1 {
		delete(names, string(fleet.NotRequested)) // A wave does not wait for those.
	}
	for reason, found := range names {
		slices.Sort(found)
		waits.Clusters = append(waits.Clusters, ucv1.ReasonCount{Reason: reason, NamedCount: ucv1.NamedCount{
			Count: int32(len(found)), Examples: found[:min(len(found), shownExamples)],
		}})
	}
	slices.SortFunc(waits.Clusters, func(a, b ucv1.ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	if len(waits.Clusters) > 0 {
		waits.Reason = waits.Clusters[0].Reason
	}
	return waits
}

// waitsFor is why a Cluster has not succeeded; empty where it has.
func waitsFor(p *fleet.MemberPlan) string {
	switch {
	case p.State == fleet.Succeeded:
		return ""
	case p.Failed.Reason != "":
		return p.Failed.Reason
	case len(p.Obstacles) > 0:
		return p.Obstacles[0].Reason
	}
	return string(p.State)
}
