package simulation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
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

// Pass is one pass of the controller between looking and acting: the others may act in between.
type Pass struct {
	decision migration.Decision
	// leases as they were seen, by what takes them.
	leases map[outcome.ActionKind]lease
}

// pass is one of which a test knows what was true at the moment of looking.
type pass struct {
	Pass
	cluster types.UID
	truth   truth
}

// step is one line of the controller: it looks and decides, or it acts and persists.
func (c *Controller) step() {
	w := c.world
	if w.now.Before(c.downUntil) || w.released {
		return
	}
	if c.pending == nil {
		c.passes++
		o := c.Observe()
		decision := migration.Decide(o, w.now)
		w.invariants.decided(w, o, decision)
		c.pending = &pass{Pass: Pass{decision, w.leases.releasable()}, cluster: w.cluster.UID, truth: w.truth()}
		c.report(decision)
		if c.killed(AfterDecide, decision) || w.chance(0.3) {
			return
		}
	}
	c.Apply(*c.pending)
	c.pending = nil
}

// Apply does the action and then persists the facts, in this order, as the controller's one deferred status write does.
func (c *Controller) Apply(p pass) {
	w := c.world
	if p.decision.Proofs != nil {
		w.proofs = p.decision.Proofs.ByNode
	}
	if p.decision.Action != nil {
		if w.leases.conflicts(p.Pass) {
			return
		}
		w.invariants.acting(w, p)
		if !c.act(p.Pass) || c.killed(BeforePersist, p.decision) {
			return
		}
	}
	if p.decision.Facts == nil {
		return
	}
	w.invariants.persisting(w, p)
	w.keep(*p.decision.Facts)
	// The status of a Cluster that is another one by now is refused.
	if !c.killed(BeforeStatus, p.decision) && p.cluster == w.cluster.UID {
		w.cluster.Status.Facts = *p.decision.Facts.DeepCopy()
	}
}

// killed ends the controller's process: it forgets everything and comes back after a while.
func (c *Controller) killed(point KillPoint, decision migration.Decision) bool {
	w := c.world
	planned := w.scenario.KillAt != nil && w.scenario.KillAt(c.passes, point, decision)
	if !planned && (!w.faulty() || !w.chance(w.scenario.Faults.Kill)) {
		return false
	}
	w.say("controller: killed %s", point)
	w.disturbed = w.now
	*c = *NewController(w)
	c.downUntil = w.now.Add(time.Duration(w.rng.IntN(20)) * tick)
	c.passes = w.invariants.passes
	return true
}

// act does one action; false means that it was killed in between.
func (c *Controller) act(p Pass) bool {
	w, action := c.world, *p.decision.Action
	switch action.Kind {
	case outcome.ActionRestoreAnnotations:
		w.annotate()
	case outcome.ActionTakeBaseline:
		w.baseline = new(c.seen)
	case outcome.ActionApplyAddons,
		outcome.ActionRollMachineDeployment,
		outcome.ActionSwitchDefaultClass,
		outcome.ActionCreateCanary,
		outcome.ActionRemoveCanary,
		outcome.ActionMarkMachines,
		outcome.ActionStepMachineSet,
		outcome.ActionReturnMinReady:
		return c.actOnEach(p)
	case outcome.ActionChangeArguments:
		w.controlPlane.changeArguments(*action.Arguments)
	case outcome.ActionKeepLeader:
		w.controlPlane.keepLeader(action.Objects[0].UID)
	case outcome.ActionRelease:
		w.keep(w.cluster.Status.Facts)
		w.released = true
	case outcome.ActionPruneAddons:
		w.addons.prune(action.Objects)
	case outcome.ActionOpenFence, outcome.ActionCloseFence, outcome.ActionAllowLock, outcome.ActionReleaseLock,
		outcome.ActionReleaseCCMLease, outcome.ActionRemoveLock:
		w.leases.change(action)
	case outcome.ActionFreeLease, outcome.ActionGrantLease, outcome.ActionRevokeLease:
		w.leases.changeRight(action)
	case outcome.ActionRecord:
	}
	return true
}

// actOnEach is for actions of the user cluster, which may write several objects; false means that it was killed in between.
func (c *Controller) actOnEach(p Pass) bool {
	switch p.decision.Action.Kind {
	case outcome.ActionApplyAddons:
		return c.applyAddons(*p.decision.Action, p.decision)
	case outcome.ActionRollMachineDeployment:
		return c.roll(*p.decision.Action, p.decision)
	case outcome.ActionStepMachineSet:
		c.lower(*p.decision.Action)
		return true
	case outcome.ActionReturnMinReady:
		c.returnMinReady(*p.decision.Action)
		return true
	case outcome.ActionCreateCanary:
		return c.createCanary(p.decision)
	case outcome.ActionRemoveCanary:
		return c.removeCanary(p.decision)
	case outcome.ActionSwitchDefaultClass:
		return c.switchDefaultClass(p)
	default:
		return c.mark(p.decision)
	}
}

func (c *Controller) applyAddons(action outcome.Action, decision migration.Decision) bool {
	w := c.world
	set := &w.addons.csi
	switch action.AddonSet {
	case outcome.CCMSet:
		set = &w.addons.ccm
		w.ccm.inherited = *w.facts().Inherited
		w.ccm.armed = w.needsOf(w.facts()).Lock
		w.ccm.cloudNode = w.ccm.wantsCloudNode()
	case outcome.ProbeSet:
		set = &w.addons.probe
	case outcome.CSISet:
	}
	for _, object := range action.Objects {
		set.present[object], set.stale[object] = true, false
		if w.hooks.Killed(decision) {
			return false
		}
	}
	set.adopted()
	return true
}

func (c *Controller) roll(action outcome.Action, decision migration.Decision) bool {
	w := c.world
	if w.cloud.webhookRefuses() {
		return false
	}
	done := true
	for _, object := range action.Objects {
		at := slices.IndexFunc(w.machines.deployments, func(d *machineDeployment) bool { return d.uid == object.UID })
		if at < 0 {
			continue
		}
		d := w.machines.deployments[at]
		if d.version() != action.VersionOf(object) {
			done = false // Each is tried.
			continue
		}
		w.hooks.Rolls(d, action)
		d.takeGuard(action)
		if w.hooks.Killed(decision) {
			return false
		}
	}
	return done
}

func (cp *ControlPlane) changeArguments(change outcome.ArgumentChange) {
	at := slices.IndexFunc(cp.workloads, func(d *workload) bool { return d.uid == change.Target.UID })
	if at < 0 {
		return
	}
	cp.w.leases.lock.file = cp.w.leases.lock.file || change.Mount != nil
	cp.patch(cp.workloads[at], change)
}

// patch makes a new template only if something changes, as the API server does.
func (cp *ControlPlane) patch(d *workload, change outcome.ArgumentChange) {
	arguments := maps.Clone(d.arguments)
	for _, flag := range change.Set {
		arguments[strings.TrimLeft(flag.Name, "-")] = flag.Value
	}
	for _, name := range change.Remove {
		delete(arguments, strings.TrimLeft(name, "-"))
	}
	if !maps.Equal(arguments, d.arguments) {
		d.arguments = arguments
		d.generation++
	}
}

// report writes the story: a line when the controller acts, or when what it says changes.
func (c *Controller) report(decision migration.Decision) {
	w := c.world
	before := w.last
	w.last = decision
	if decision.Action != nil {
		w.say("%s: %s: %s", decision.Step, decision.Action.Kind, decision.Action.Why)
	}
	if now := said(decision); now != said(before) && (decision.Action == nil || decision.Failure != nil || decision.Wait != nil) {
		w.say("%s", now)
	}
}

// said is what a decision says besides its action.
func said(d migration.Decision) string {
	switch {
	case d.Failure != nil:
		return string(d.Step) + ": STALLED " + d.Failure.Reason + ": " + d.Failure.Message
	case d.Wait != nil:
		return string(d.Step) + ": waits " + d.Wait.Reason + ": " + d.Wait.Message
	}
	return string(d.Step)
}
