package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// world is a fleet with its truth, the caches that a manager sees of it, and a manager that may be killed between any two writes.
type world struct {
	rng      *rand.Rand
	now      time.Time
	clusters []*cluster
	fms      []*ucv1.FleetMigration
	placer   fleet.Placer
	log      []string
	err      error
	// killed at the next of so many writes; -1 for never.
	killIn int
	// admissions are those of this pass.
	admissions []*cluster
	faulty     bool
	attentive  bool
	serial     int
	// counted says in which wave the last plan counts a cluster, by UID.
	counted map[string]string
	// again are those that an earlier plan had admitted, by UID.
	again map[string]bool
	// admitted has the UIDs of those that a FleetMigration admitted.
	admitted map[string]bool
	policy   fleet.Policy
}

// cluster is the truth of a Cluster.
type cluster struct {
	seen  fleet.Member
	truth fleet.Member
	// lag is for how many passes the cache does not see a change.
	lag int
	// rolls and soaks are how long it takes; stalls is when it gets stuck, recovers after.
	rolls, soaks  time.Duration
	stallsAfter   time.Duration
	recoversAfter time.Duration
	violates      bool
	lostUntil     time.Time
	pausedAt      time.Time
	feature       bool
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%s ", w.now.Format("15:04:05"))+fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
		w.say("BROKEN: %v", w.err)
	}
}

func (w *world) id(of string) string { w.serial++; return fmt.Sprintf("%s-%d", of, w.serial) }

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

func (w *world) newCluster() {
	id := w.id("c")
	c := &cluster{
		rolls: time.Duration(1+w.rng.IntN(40)) * time.Minute, soaks: time.Duration(1+w.rng.IntN(10)) * time.Minute, feature: w.chance(0.8),
	}
	c.truth = fleet.Member{
		Namespace: "user", Name: id, UID: "uid-" + id, NamespaceLabels: labels.Set{},
		Labels: labels.Set{
			"tier": pick(w.rng, "canary", "prod", "rest", "typo"), "region": pick(w.rng, "a", "b", ""), "team": pick(w.rng, "x", "y"),
		},
		Nodes: observation.Known(int32(1 + w.rng.IntN(30))), Blocking: observation.Known(w.chance(0.05)),
	}
	if w.chance(0.1) {
		c.truth.Labels[ucv1.FleetPriorityLabel] = pick(w.rng, "5", "-3", "high")
	}
	if w.chance(0.03) {
		c.truth.OutOfScope = "External"
	}
	if w.chance(0.15) {
		c.stallsAfter = time.Duration(1+w.rng.IntN(30)) * time.Minute
		if w.chance(0.6) {
			c.recoversAfter = time.Duration(5+w.rng.IntN(120)) * time.Minute
		}
	}
	c.violates = w.chance(0.04)
	c.truth.Requested = c.feature
	w.clusters = append(w.clusters, c)
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// step lets a cluster go on.
func (w *world) step(c *cluster) {
	m := &c.truth
	m.Requested = c.feature
	switch {
	case m.Paused:
	case m.StartedAt.IsZero():
		if m.Requested && m.OutOfScope == "" && !m.RolledBack {
			w.start(c)
		}
	case m.CompletedAt.IsZero():
		w.roll(c)
	}
}

// roll lets a cluster go on that has started.
func (w *world) roll(c *cluster) {
	m := &c.truth
	took := w.now.Sub(m.StartedAt) - m.PausedFor
	if w.stuck(c, took) {
		return
	}
	switch {
	case directed(m, ucv1.DirectiveRollback):
		m.RollingBack, m.RolledBack = false, true
		return
	case directed(m, ucv1.DirectiveHoldRoll) && !m.RolledOut:
		m.PausedFor += time.Minute
		return
	}
	m.RolledOut = took >= c.rolls
	m.BeforeNoReturn = !m.RolledOut
	if m.RolledOut && took >= c.rolls+c.soaks {
		w.complete(c)
	}
}

// stuck says whether a cluster is, and notes when that begins and when it ends.
func (w *world) stuck(c *cluster, took time.Duration) bool {
	m := &c.truth
	stuck := c.stallsAfter > 0 && took >= c.stallsAfter && (c.recoversAfter == 0 || took < c.stallsAfter+c.recoversAfter)
	switch {
	case stuck && m.Stalled.Reason == "":
		m.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: w.now}
		w.say("%s is stuck", m.Name)
	case !stuck && m.Stalled.Reason != "":
		m.Stalled = fleet.Trouble{}
		w.say("%s recovers", m.Name)
	}
	return stuck
}

func directed(m *fleet.Member, directive ucv1.FleetDirective) bool {
	return m.Admission != nil && m.Admission.Directive == directive
}

func (w *world) complete(c *cluster) {
	m := &c.truth
	m.CompletedAt, m.HealthySince = w.now, w.now
	m.Verdict = pick(w.rng, slo.Met, slo.Met, slo.Inconclusive)
	if c.violates {
		m.Verdict = slo.Violated
	}
	m.VerdictAt = w.now
	w.say("%s is done: %s", m.Name, m.Verdict)
}

// start is the gate of the migration table.
func (w *world) start(c *cluster) {
	m := &c.truth
	selected := observation.Known(slices.ContainsFunc(w.fms, func(fm *ucv1.FleetMigration) bool { return selects(fm, m) }))
	if w.faulty && w.chance(0.1) {
		selected = observation.Observed[bool]{}
	}
	if obstacle := fleet.Gate(m.Admission, m.Immediate, selected, w.policy); obstacle.Reason != "" {
		return
	}
	m.StartedAt, m.BeforeNoReturn = w.now, true
	free := w.policy == fleet.Optional && m.Admission == nil && !selected.Value()
	if !w.admitted[m.UID] && !m.Immediate && !free {
		w.fail("property 7: %s starts although no FleetMigration admitted it", m.Name)
	}
	w.say("%s starts", m.Name)
}

func selects(fm *ucv1.FleetMigration, m *fleet.Member) bool {
	s, err := metav1.LabelSelectorAsSelector(fm.Spec.ClusterSelector)
	return err == nil && s.Matches(m.Labels)
}

// observe what the caches have: each Cluster as it was up to some passes ago.
func (w *world) observe() fleet.Fleet {
	f := fleet.Fleet{}
	for _, c := range w.clusters {
		if c.lag > 0 {
			c.lag--
		} else {
			c.seen = c.truth
			if !w.now.After(c.lostUntil) {
				c.seen.Unreachable = ucv1.UnreachableReason
				c.seen.Nodes, c.seen.Blocking = observation.Observed[int32]{}, observation.Observed[bool]{}
			}
			if w.faulty && w.chance(0.1) {
				c.lag = 1 + w.rng.IntN(3)
			}
		}
		if c.seen.UID != "" {
			f.Members = append(f.Members, c.seen)
		}
	}
	for _, fm := range w.fms {
		f.Migrations = append(f.Migrations, fleet.Compile(fm.DeepCopy()))
	}
	w.rng.Shuffle(len(f.Members), func(i, j int) { f.Members[i], f.Members[j] = f.Members[j], f.Members[i] })
	w.rng.Shuffle(len(f.Migrations), func(i, j int) { f.Migrations[i], f.Migrations[j] = f.Migrations[j], f.Migrations[i] })
	w.placer.Place(&f)
	return f
}

func (w *world) byUID(uid string) *cluster {
	at := slices.IndexFunc(w.clusters, func(c *cluster) bool { return c.truth.UID == uid })
	if at < 0 {
		return nil
	}
	return w.clusters[at]
}

// write is false when the manager is killed before it.
func (w *world) write() bool {
	if w.killIn == 0 {
		return false
	}
	w.killIn--
	return true
}

// pass of the manager: decide, then write in the order that makes a kill between any two writes harmless.
func (w *world) pass() {
	f := w.observe()
	plan := fleet.Decide(f, w.now)
	w.admissions = nil
	w.checkPlan(f, plan)
	w.killIn = -1
	if w.faulty && w.chance(0.2) {
		w.killIn = w.rng.IntN(6)
	}
	for i := range plan.Migrations {
		if fm := w.migration(plan.Migrations[i].UID); fm != nil {
			if !w.write() {
				w.say("killed before the status of %s", fm.Name)
				return
			}
			fm.Status = *plan.Migrations[i].Status.DeepCopy()
		}
	}
	for i := range plan.Members {
		if !w.writeMember(&f.Members[i], &plan.Members[i], plan) {
			w.say("killed before %s", f.Members[i].Name)
			return
		}
	}
}

func (w *world) writeMember(seen *fleet.Member, p *fleet.MemberPlan, plan fleet.Plan) bool {
	c := w.byUID(seen.UID)
	wanted := p.Admission(plan, seen, w.now)
	if c == nil || wanted == nil {
		return true
	}
	if !w.write() {
		return false
	}
	old := c.truth.Admission
	if !cmp.Equal(old, seen.Admission) || !c.truth.StartedAt.Equal(seen.StartedAt) {
		return true // Refused by the resourceVersion: what was seen is older.
	}
	switch {
	case isAdmitted(wanted) && isAdmitted(old):
		wanted.AdmittedAt = old.AdmittedAt
	case isAdmitted(wanted):
		w.admit(c, wanted, p.SetFeature)
	}
	w.checkClaim(c, wanted)
	c.truth.Admission = wanted
	return true
}

// admit a cluster, which is written with its feature at once.
func (w *world) admit(c *cluster, wanted *ucv1.AdmissionStatus, setFeature bool) {
	w.admissions = append(w.admissions, c)
	w.admitted[c.truth.UID] = true
	if setFeature {
		c.feature = true
	}
	w.say("%s is admitted by %s in %s", c.truth.Name, wanted.FleetMigration, wanted.Wave)
}

// checkClaim before it is written: property 16.
func (w *world) checkClaim(c *cluster, wanted *ucv1.AdmissionStatus) {
	old := c.truth.Admission
	if old != nil && old.UID != wanted.UID && w.migration(old.UID) != nil && (isAdmitted(old) || !c.truth.StartedAt.IsZero()) {
		w.fail("property 16: %s started and loses its claim", c.truth.Name)
	}
}

func isAdmitted(a *ucv1.AdmissionStatus) bool { return a != nil && a.State == ucv1.AdmissionAdmitted }

func (w *world) migration(uid string) *ucv1.FleetMigration {
	at := slices.IndexFunc(w.fms, func(fm *ucv1.FleetMigration) bool { return fm.UID == types.UID(uid) })
	if at < 0 {
		return nil
	}
	return w.fms[at]
}

func (w *world) String() string { return strings.Join(w.log, "\n") }
