package fleet_test

import (
	"math"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/window"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// checkPlan holds a plan against what was seen.
func (w *world) checkPlan(f fleet.Fleet, plan fleet.Plan) {
	w.checkSame(f, plan)
	clear(w.counted)
	clear(w.again)
	for i := range plan.Members {
		w.count(&f.Members[i], &plan.Members[i], plan)
		w.checkMember(&f.Members[i], &plan.Members[i], plan)
	}
	for i := range plan.Migrations {
		w.checkMigration(&plan.Migrations[i], f)
	}
}

func (w *world) count(m *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan) {
	if p.Migration >= 0 && p.Wave >= 0 {
		r := &plan.Migrations[p.Migration]
		w.counted[m.UID] = r.UID + "/" + r.Waves[p.Wave].Name
	}
}

func (w *world) checkMember(m *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan) {
	if p.Admit {
		w.checkAdmission(m, p, plan)
	}
	if p.Position > 0 && len(p.Obstacles) == 0 && len(plan.Migrations[p.Migration].Status.Admitting) < fleet.AtOnce {
		w.fail("property 11: %s waits for nothing", m.Name)
	}
	w.checkStays(m, p, plan)
	if p.Directive == ucv1.DirectiveRollback && !m.BeforeNoReturn && m.Admission.Directive != ucv1.DirectiveRollback {
		w.fail("property 21: %s is rolled back and not known to be before its point of no return", m.Name)
	}
}

// checkStays: property 16. Who began stays with the FleetMigration, and in the wave, that let it go.
func (w *world) checkStays(m *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan) {
	if !isAdmitted(m.Admission) || w.migration(m.Admission.UID) == nil || p.State == fleet.OutOfScope {
		return
	}
	if p.Migration < 0 || plan.Migrations[p.Migration].UID != m.Admission.UID {
		w.fail("property 16: %s has begun and is counted elsewhere", m.Name)
	} else if p.Wave >= 0 && m.Admission.Wave != "" && plan.Migrations[p.Migration].Waves[p.Wave].Name != m.Admission.Wave {
		w.fail("property 16: %s has begun and changes its wave", m.Name)
	}
}

// checkSame: property 14. The plan does not depend on the order of what it is given, and a second one is the same.
func (w *world) checkSame(f fleet.Fleet, plan fleet.Plan) {
	if w.rng.IntN(20) > 0 {
		return
	}
	turned := fleet.Fleet{Migrations: slices.Clone(f.Migrations), Members: slices.Clone(f.Members)}
	slices.Reverse(turned.Members)
	slices.Reverse(turned.Migrations)
	(&fleet.Placer{}).Place(&turned)
	again := fleet.Decide(turned, w.now)
	slices.Reverse(again.Members)
	if diff := cmp.Diff(plan, again); diff != "" {
		w.fail("property 14: in another order the plan is another:\n%s", diff)
	}
}

func (w *world) maybeAdmitting(uid string) bool {
	return slices.ContainsFunc(w.fms, func(fm *ucv1.FleetMigration) bool {
		return slices.ContainsFunc(fm.Status.Admitting, func(a ucv1.AdmittingCluster) bool { return a.UID == uid })
	})
}

func (w *world) checkAdmission(m *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan) {
	if w.maybeAdmitting(m.UID) {
		w.again[m.UID] = true // The manager was killed before it wrote what was decided, and counted, then.
	} else {
		r := &plan.Migrations[p.Migration]
		w.checkGates(m, p, r)
		w.checkWindows(w.migration(r.UID), m)
		w.checkOrder(m, p, r)
	}
	if len(p.Obstacles) > 0 {
		w.fail("property 2: %s is admitted in spite of %v", m.Name, p.Obstacles)
	}
}

// checkGates of the FleetMigration, the Cluster and the wave.
func (w *world) checkGates(m *fleet.Member, p *fleet.MemberPlan, r *fleet.MigrationPlan) {
	fm := w.migration(r.UID)
	switch {
	case fm.Spec.Mode != ucv1.FleetRun, fm.Spec.Rollback != nil, r.Halt != nil, fm.DeletionTimestamp != nil, len(r.Problems) > 0:
		w.fail("property 2: %s is admitted by %s, which admits none", m.Name, fm.Name)
	case !m.Nodes.IsKnown() || !m.Blocking.IsKnown() || m.Blocking.Value() || m.Unreachable != "" || m.Paused:
		w.fail("property 8: %s is admitted although it is not known to be well", m.Name)
	case r.Waves[p.Wave].OpenedAt.IsZero():
		w.fail("property 3: %s is admitted and its wave is closed", m.Name)
	}
}

// checkOrder of the waves: property 3.
func (w *world) checkOrder(m *fleet.Member, p *fleet.MemberPlan, r *fleet.MigrationPlan) {
	fm, name := w.migration(r.UID), r.Waves[p.Wave].Name
	wave := slices.IndexFunc(fm.Spec.Waves, func(s ucv1.Wave) bool { return s.Name == name })
	for i := range wave {
		before := r.Waves[i]
		if before.PassedAt.IsZero() && before.State != ucv1.WaveEmpty && !openedBefore(fm, name) {
			w.fail("property 3: %s is admitted in wave %s before %s has passed", m.Name, name, before.Name)
		}
	}
}

// checkWindows: property 2.
func (w *world) checkWindows(fm *ucv1.FleetMigration, m *fleet.Member) {
	open := len(fm.Spec.Maintenance.Windows) == 0
	for _, of := range fm.Spec.Maintenance.Windows {
		parsed, err := window.Parse(of.MaintenanceWindow)
		if err != nil {
			w.fail("%v", err)
			return
		}
		selector, _ := metav1.LabelSelectorAsSelector(of.ClusterSelector)
		if of.ClusterSelector == nil || selector.Matches(m.Labels) {
			open = open || parsed.At(w.now).MayStart(w.now)
		}
	}
	for _, e := range fm.Spec.Maintenance.Exclusions {
		open = open && (w.now.Before(e.From.Time) || !w.now.Before(e.To.Time))
	}
	if !open {
		w.fail("property 2: %s is admitted outside of its windows", m.Name)
	}
}

func openedBefore(fm *ucv1.FleetMigration, wave string) bool {
	return slices.ContainsFunc(fm.Status.Waves, func(s ucv1.WaveStatus) bool { return s.Name == wave && s.OpenedAt != nil })
}

func (w *world) checkMigration(r *fleet.MigrationPlan, f fleet.Fleet) {
	fm := w.migration(r.UID)
	if fm == nil {
		return
	}
	c := r.Clusters
	if c.NotRequested+c.Ineligible+c.Queued+c.InFlight+c.Succeeded+c.Failed+c.RolledBack != c.Total {
		w.fail("property 13: %+v do not add up", c)
	}
	for _, was := range fm.Status.Waves {
		w.checkPassing(was, r)
	}
	w.checkResume(fm, r)
	w.checkFailures(fm, r, f)
}

// checkPassing of a wave, against what its status was.
func (w *world) checkPassing(was ucv1.WaveStatus, r *fleet.MigrationPlan) {
	at := slices.IndexFunc(r.Waves, func(s fleet.WavePlan) bool { return s.Name == was.Name })
	if at < 0 {
		return
	}
	if was.PassedAt != nil && r.Waves[at].State != ucv1.WavePassed {
		w.fail("property 3: wave %s had passed and is %s", was.Name, r.Waves[at].State)
	}
	if was.PassedAt == nil && !r.Waves[at].PassedAt.IsZero() && r.Waves[at].Clusters.Succeeded == 0 {
		w.fail("property 12: wave %s passes without one success", was.Name)
	}
}

// checkResume: property 6.
func (w *world) checkResume(fm *ucv1.FleetMigration, r *fleet.MigrationPlan) {
	was := fm.Status.Halt
	if was == nil || r.Halt != nil {
		return
	}
	if since := fm.Spec.Failures.CountSince; since == nil || since.Time.Before(was.At.Time) {
		w.fail("property 6: the halt of %s ends by itself", fm.Name)
	}
}

// checkFailures: property 5, by a judgment of its own.
func (w *world) checkFailures(fm *ucv1.FleetMigration, r *fleet.MigrationPlan, f fleet.Fleet) {
	failed := map[string]int{}
	for i := range f.Members {
		m := &f.Members[i]
		since, looked := failedSince(fm, m, w.now), fm.Spec.Failures.CountSince
		if !since.IsZero() && (looked == nil || since.After(looked.Time)) {
			failed[w.counted[m.UID]]++
		}
	}
	for at, spec := range fm.Spec.Waves {
		base := float64(r.Waves[at].Clusters.Total - r.Waves[at].Clusters.NotRequested)
		most := int(amount(spec.MaxFailures, base, 0))
		if n := failed[string(fm.UID)+"/"+spec.Name]; n > most && r.Halt == nil && fm.Spec.Mode != ucv1.FleetPlanOnly {
			w.fail("property 5: %d failed in wave %s, %d may, and %s is not halted", n, spec.Name, most, fm.Name)
		}
	}
}

// failedSince is when a failure began that counts by now; zero where there is none.
func failedSince(fm *ucv1.FleetMigration, m *fleet.Member, now time.Time) time.Time {
	begun := m.StartedAt
	if isAdmitted(m.Admission) {
		begun = m.Admission.AdmittedAt.Time
	}
	deadline := begun.Add(time.Duration(*fm.Spec.Failures.ProgressDeadlineSeconds)*time.Second + m.PausedFor)
	grace := time.Duration(*fm.Spec.Failures.GraceSeconds) * time.Second
	done := !m.CompletedAt.IsZero() && !m.CompletedAt.Before(begun)
	switch {
	case begun.IsZero(), m.RolledBack:
	case m.Stalled.Reason != "" && now.Sub(m.Stalled.Since) >= grace:
		return m.Stalled.Since
	case done && m.Verdict == slo.Violated:
		return m.VerdictAt
	case !done && goesOn(m) && !now.Before(deadline):
		return deadline
	}
	return time.Time{}
}

func goesOn(m *fleet.Member) bool { return !m.Paused && !directed(m, ucv1.DirectiveHoldRoll) }

// checkTruth after a pass: what was admitted in it did not exceed a limit of who admitted it.
func (w *world) checkTruth() {
	for _, c := range w.admissions {
		fm := w.migration(c.truth.Admission.UID)
		if fm == nil || w.again[c.truth.UID] {
			continue
		}
		w.checkBudgets(c)
		at := slices.IndexFunc(fm.Spec.Waves, func(s ucv1.Wave) bool { return s.Name == c.truth.Admission.Wave })
		w.checkWave(fm, fm.Spec.Waves[at])
		w.checkRate(fm)
	}
}

// checkRate of starts: property 1.
func (w *world) checkRate(fm *ucv1.FleetMigration) {
	hour := 0
	for _, c := range w.clusters {
		a := c.truth.Admission
		if a != nil && a.UID == string(fm.UID) && a.AdmittedAt != nil && a.AdmittedAt.After(w.now.Add(-time.Hour)) {
			hour++
		}
	}
	if most := fm.Spec.MaxStartsPerHour; most != nil && hour > int(*most) {
		w.fail("property 1: %d started within an hour by %s", hour, fm.Name)
	}
}

// checkBudgets of all FleetMigrations for a Cluster that one of them has admitted.
func (w *world) checkBudgets(c *cluster) {
	for _, fm := range w.fms {
		if fm.Spec.Mode == ucv1.FleetPlanOnly {
			continue
		}
		for _, b := range fm.Spec.Budgets {
			w.checkBudget(c, b)
		}
	}
}

func (w *world) checkBudget(c *cluster, b ucv1.FleetBudget) {
	clusters, nodes := w.migrating(c, b.Per)
	switch {
	case b.MaxConcurrency != nil && clusters > int(*b.MaxConcurrency):
		w.fail("property 1: %d migrate at once when %s is admitted, budget %s has %d", clusters, c.truth.Name, b.Name, *b.MaxConcurrency)
	case b.MaxNodes != nil && nodes > int(*b.MaxNodes) && nodes != int(c.truth.Nodes.Value()) || b.MaxNodes != nil && *b.MaxNodes == 0:
		w.fail("property 1: %d Nodes migrate at once when %s is admitted, budget %s has %d", nodes, c.truth.Name, b.Name, *b.MaxNodes)
	}
}

// migrating Clusters that have the same value of a label, and those of their Nodes that are not replaced yet.
func (w *world) migrating(like *cluster, label string) (clusters, nodes int) {
	for _, c := range w.clusters {
		m := &c.truth
		if m.Immediate && !migrates(&c.seen) {
			continue // A person let it go at once, and no cache has it yet.
		}
		if !migrates(m) || label != "" && m.Labels[label] != like.truth.Labels[label] {
			continue
		}
		clusters++
		if !m.RolledOut {
			nodes += int(m.Nodes.Value())
		}
	}
	return clusters, nodes
}

func migrates(m *fleet.Member) bool {
	on := !m.StartedAt.IsZero() || isAdmitted(m.Admission) || m.Immediate && m.Requested
	return on && m.CompletedAt.IsZero() && !m.RolledBack && m.OutOfScope == ""
}

// checkWave: concurrency, and property 4.
func (w *world) checkWave(fm *ucv1.FleetMigration, wave ucv1.Wave) {
	total, inFlight, succeeded := w.tally(fm, wave)
	most := max(1, int(amount(wave.MaxConcurrency, float64(total), 1)))
	if isZero(wave.MaxConcurrency) {
		most = 0
	}
	if inFlight > most {
		w.fail("property 1: %d of wave %s migrate at once, %d may", inFlight, wave.Name, most)
	}
	if n := wave.Canaries; n != nil && succeeded < int(*n) && inFlight > int(*n)-succeeded {
		w.fail("property 4: %d of wave %s migrate and %d of %d canaries have succeeded", inFlight, wave.Name, succeeded, *n)
	}
}

// tally of the Clusters that the last plan counts in a wave.
func (w *world) tally(fm *ucv1.FleetMigration, wave ucv1.Wave) (total, inFlight, succeeded int) {
	for _, c := range w.clusters {
		m := &c.truth
		if w.counted[m.UID] != string(fm.UID)+"/"+wave.Name {
			continue
		}
		total++
		// Who failed leaves its place, and may take it again when it recovers.
		if migrates(m) && m.Stalled.Reason == "" && failedSince(fm, &c.seen, w.now).IsZero() {
			inFlight++
		}
		if !m.CompletedAt.IsZero() && m.Verdict != "Violated" {
			succeeded++
		}
	}
	return total, inFlight, succeeded
}

// amount of a limit that is rounded down.
func amount(of any, base, otherwise float64) float64 {
	switch text, number := parse(of); text {
	case "":
		return otherwise
	case "%":
		return math.Floor(base * number / 100)
	default:
		return number
	}
}
