package simtest

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// KillPoint is a place between two lines of a pass.
type KillPoint string

// The places where the controller can be killed.
const (
	AfterDecide   KillPoint = "after deciding"
	WhileActing   KillPoint = "between two objects"
	BeforePersist KillPoint = "after acting, before its facts were persisted"
	BeforeStatus  KillPoint = "after its facts were recorded, before they were in the status"
)

// pass is one of which a test knows what was true at the moment of looking.
type pass struct {
	simulation.Pass
	cluster types.UID
	truth   truth
}

// Controller is the controller's process of a world that is tested: it may be killed, and others may act in the middle of a pass.
type Controller struct {
	*simulation.Controller

	world     *World
	pending   *pass
	passes    int
	downUntil time.Time
	cache     cache
}

func newController(w *World) *Controller {
	return &Controller{Controller: simulation.NewController(w.World), world: w, cache: cache{shown: map[string]time.Time{}}}
}

func (w *World) passOf(decision migration.Decision) simulation.Pass {
	return simulation.Pass{Decision: decision, Leases: w.Leases.Releasable()}
}

// step is one line of the controller: it looks and decides, or it acts and persists.
func (c *Controller) step() {
	w := c.world
	if w.Now.Before(c.downUntil) || w.Released {
		return
	}
	if c.pending == nil {
		c.passes++
		o, decision := c.look()
		w.invariants.decided(w, o, decision)
		c.pending = &pass{Pass: w.passOf(decision), cluster: w.Cluster.UID, truth: w.truth()}
		c.report(decision)
		if c.killed(AfterDecide, decision) || w.Chance(0.3) {
			return
		}
	}
	c.Apply(*c.pending)
	c.pending = nil
}

// look decides on what a cache serves, as the controller does: again, of what is read for it, where that may matter.
func (c *Controller) look() (observation.Observation, migration.Decision) {
	o := c.Observe()
	for read := (migration.Confirmation{}); ; {
		decision := migration.Decide(o, c.world.Now)
		needs := migration.NeedsOf(o.Cluster, o.Provider.Value(), c.world.Now)
		needed := migration.ConfirmationOf(o.Cluster, needs, decision)
		if !c.world.scenario.Faults.Confirms || read.Covers(needed) {
			return o, decision
		}
		read = read.And(needed)
		c.cache.refresh(&o, read)
		o.Nodes = baseline.WithProofs(o.Nodes, o.Proofs)
	}
}

// Apply does the action and then persists the facts, in this order, as the controller's one deferred status write does.
func (c *Controller) Apply(p pass) {
	w := c.world
	if p.Decision.Proofs != nil {
		w.Proofs = p.Decision.Proofs.ByNode
	}
	if p.Decision.Next() != nil {
		if w.Leases.Conflicts(p.Pass) {
			return
		}
		w.invariants.acting(w, p)
		if !c.Act(p.Pass) || c.killed(BeforePersist, p.Decision) {
			return
		}
	}
	if p.Decision.Next() != nil {
		c.cache.wrote(w.Now)
	}
	if p.Decision.Facts == nil {
		return
	}
	w.invariants.persisting(w, p)
	w.Keep(*p.Decision.Facts)
	// The status of a Cluster that is another one by now is refused.
	if !c.killed(BeforeStatus, p.Decision) && p.cluster == w.Cluster.UID {
		w.Cluster.Status.Facts = *p.Decision.Facts.DeepCopy()
	}
}

// killed ends the controller's process: it forgets everything and comes back after a while.
func (c *Controller) killed(point KillPoint, decision migration.Decision) bool {
	w := c.world
	planned := w.scenario.KillAt != nil && w.scenario.KillAt(c.passes, point, decision)
	if !planned && (!w.faulty() || !w.Chance(w.scenario.Faults.Kill)) {
		return false
	}
	w.Say("controller: killed %s", point)
	w.disturbed = w.Now
	*c = *newController(w)
	c.passes = w.invariants.passes
	c.downUntil = w.Now.Add(time.Duration(w.Rng.IntN(20)) * simulation.Tick)
	return true
}

// report writes the story: a line when the controller acts, or when what it says changes.
func (c *Controller) report(decision migration.Decision) {
	w := c.world
	before := w.last
	w.last = decision
	if decision.Next() != nil {
		w.Say("%s: %s: %s", decision.Step, decision.Next().Kind, decision.Next().Why)
	}
	if now := said(decision); now != said(before) && (decision.Next() == nil || decision.Calls() != nil || decision.Wait != nil) {
		w.Say("%s", now)
	}
}

// said is what a decision says besides its action.
func said(d migration.Decision) string {
	switch {
	case d.Calls() != nil:
		return string(d.Step) + ": STALLED " + d.Calls().Reason + ": " + d.Calls().Message
	case d.Wait != nil:
		return string(d.Step) + ": waits " + d.Wait.Reason + ": " + d.Wait.Message
	}
	return string(d.Step)
}
