package simulation

import (
	"maps"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Pass is one pass of the controller between looking and acting: the others may act in between.
type Pass struct {
	Decision migration.Decision
	// Leases as they were seen, by what takes them.
	Leases map[outcome.ActionKind]Lease
}

// Act does one action; false means that it was refused, or killed in between.
func (c *Controller) Act(p Pass) bool {
	w, action := c.world, *p.Decision.Next()
	switch action.Kind {
	case outcome.ActionRestoreAnnotations:
		w.annotate()
	case outcome.ActionTakeBaseline:
		w.Baseline = new(c.seen)
	case outcome.ActionApplyAddons,
		outcome.ActionRollMachineDeployment,
		outcome.ActionSwitchDefaultClass,
		outcome.ActionCreateCanary,
		outcome.ActionRemoveCanary,
		outcome.ActionMarkMachines,
		outcome.ActionStepMachineSet,
		outcome.ActionReturnMinReady,
		outcome.ActionRenameLoadBalancers:
		return c.actOnEach(p)
	case outcome.ActionChangeArguments, outcome.ActionKeepLeader, outcome.ActionTouch:
		w.ControlPlane.change(action)
	case outcome.ActionRelease:
		w.Keep(w.Cluster.Status.Facts)
		w.Released = true
	case outcome.ActionPruneAddons:
		w.Addons.prune(action.Objects)
	case outcome.ActionOpenFence, outcome.ActionCloseFence, outcome.ActionAllowLock, outcome.ActionReleaseLock,
		outcome.ActionReleaseCCMLease, outcome.ActionRemoveLock:
		w.Leases.change(action)
	case outcome.ActionFreeLease, outcome.ActionGrantLease, outcome.ActionRevokeLease:
		w.Leases.changeRight(action)
	case outcome.ActionRecord:
	}
	return true
}

// actOnEach is for actions of the user cluster, which may write several objects; false means as much as that of Act.
func (c *Controller) actOnEach(p Pass) bool {
	switch p.Decision.Next().Kind {
	case outcome.ActionApplyAddons:
		return c.applyAddons(*p.Decision.Next(), p.Decision)
	case outcome.ActionRollMachineDeployment:
		return c.roll(*p.Decision.Next(), p.Decision)
	case outcome.ActionStepMachineSet:
		return c.lower(*p.Decision.Next())
	case outcome.ActionReturnMinReady:
		return c.returnMinReady(*p.Decision.Next())
	case outcome.ActionCreateCanary:
		return c.createCanary(p.Decision)
	case outcome.ActionRemoveCanary:
		return c.removeCanary(p.Decision)
	case outcome.ActionSwitchDefaultClass:
		return c.switchDefaultClass(p)
	case outcome.ActionRenameLoadBalancers:
		return c.rename(p)
	default:
		return c.mark(p.Decision)
	}
}

func (c *Controller) applyAddons(action outcome.Action, decision migration.Decision) bool {
	w := c.world
	set := &w.Addons.CSI
	switch action.AddonSet {
	case outcome.CCMSet:
		set = &w.Addons.CCM
		w.CCM.Inherited = *w.Facts().Inherited
		w.CCM.armed = w.NeedsOf(w.Facts()).Lock
		w.CCM.CloudNode = w.CCM.WantsCloudNode()
	case outcome.ProbeSet:
		set = &w.Addons.Probe
	case outcome.CSISet:
	}
	for _, object := range action.Objects {
		set.Present[object], set.stale[object] = true, false
		if w.Hooks.Fate.Killed(decision) {
			return false
		}
	}
	set.adopted()
	return true
}

func (c *Controller) roll(action outcome.Action, decision migration.Decision) bool {
	w := c.world
	done := true
	for _, object := range action.Objects {
		d := w.Machines.deployment(object.UID)
		if d == nil {
			continue
		}
		if d.version() != action.VersionOf(object) || !c.writes(d, observation.RefusedChange, action.Asks()) {
			done = false // Each is tried.
			continue
		}
		w.Hooks.Witness.Rolls(d, action)
		d.takeGuard(action, w.Now)
		if w.Hooks.Fate.Killed(decision) {
			return false
		}
	}
	return done
}

func (cp *ControlPlane) change(action outcome.Action) {
	switch action.Kind {
	case outcome.ActionKeepLeader:
		cp.keepLeader(action.Objects[0].UID)
	case outcome.ActionTouch:
		cp.touched(cp.KCM())
	default:
		cp.changeArguments(*action.Arguments)
	}
}

func (cp *ControlPlane) changeArguments(change outcome.ArgumentChange) {
	at := slices.IndexFunc(cp.Workloads, func(d *Workload) bool { return d.UID == change.Target.UID })
	if at < 0 {
		return
	}
	cp.w.Leases.Lock.File = cp.w.Leases.Lock.File || change.Mount != nil
	cp.Patch(cp.Workloads[at], change)
}

// Patch makes a new template only if something changes, as the API server does.
func (cp *ControlPlane) Patch(d *Workload, change outcome.ArgumentChange) {
	arguments := maps.Clone(d.Arguments)
	for _, flag := range change.Set {
		arguments[strings.TrimLeft(flag.Name, "-")] = flag.Value
	}
	for _, name := range change.Remove {
		delete(arguments, strings.TrimLeft(name, "-"))
	}
	if !maps.Equal(arguments, d.Arguments) {
		d.Arguments = arguments
		d.Generation++
		cp.touched(d)
	}
}
