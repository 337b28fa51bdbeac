package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Guard is what the circuit breaker has to do with a MachineDeployment.
type Guard struct {
	// MinReady is minReadySeconds; ours says that we own it, owner who else does.
	MinReady int
	Ours     bool
	Owner    string
	Canary   bool
	// Exempt: its owner scaled it, paused it, made another revision or took minReadySeconds in the middle of the roll, so that more
	// than ours happens.
	Exempt bool
}

func (d *MachineDeployment) observeGuard() observation.Guard {
	g := d.Guard
	return observation.Guard{MinReadySeconds: int32(g.MinReady), MinReadyOurs: g.Ours, MinReadyOwner: g.Owner, Canary: g.Canary}
}

// takeGuard is our part of a MachineDeployment, in one write: what is not in it is given back.
func (d *MachineDeployment) takeGuard(action outcome.Action, now time.Time) {
	switch {
	case action.Endless:
		d.Guard.MinReady, d.Guard.Ours, d.Guard.Owner = rollout.EndlessMinReadySeconds, true, ""
	case d.Guard.Ours:
		d.Guard.MinReady, d.Guard.Ours = 0, false
	}
	if action.RestartValue != "" {
		d.Restart = action.RestartValue
	}
	d.Stored(now)
}

// returnMinReady gives minReadySeconds back; false: it is refused, by a webhook or because the MachineDeployment was changed
// since it was looked at.
func (c *Controller) returnMinReady(action outcome.Action) bool {
	d := c.world.Machines.deployment(action.Objects[0].UID)
	if d == nil || d.version() != action.VersionOf(action.Objects[0]) || !c.writes(d, observation.RefusedChange, action.Asks()) {
		return false
	}
	d.takeGuard(action, c.world.Now)
	return true
}

// mark Machines, one after the other; false means that it was killed in between, or refused.
func (c *Controller) mark(decision migration.Decision) bool {
	if !c.steps(*decision.Next()) {
		return false
	}
	for _, ref := range decision.Next().Objects {
		for _, m := range c.world.Machines.All {
			if m.UID == ref.UID {
				m.GoesFirst = true
			}
		}
		if c.world.Hooks.Fate.Killed(decision) {
			return false
		}
	}
	return true
}

// lower a MachineSet; false: it is refused where it or its MachineDeployment was changed since.
func (c *Controller) lower(action outcome.Action) bool {
	s := c.world.Machines.ToLower(action)
	if s == nil || !c.steps(action) {
		return false
	}
	s.Replicas = int(action.Step.Replicas)
	return true
}

// steps says whether changes of its Machines and MachineSets are accepted.
func (c *Controller) steps(action outcome.Action) bool {
	d := c.world.Machines.deployment(action.Step.Deployment.UID)
	return d == nil || c.writes(d, observation.RefusedStep, action.Asks())
}

// ToLower is the MachineSet that a step is of; nil where it is another one by now.
func (ms *Machines) ToLower(action outcome.Action) *MachineSet {
	for _, d := range ms.Deployments {
		if d.UID == action.Step.Deployment.UID && int64(d.Generation) != action.Step.Generation {
			return nil
		}
	}
	at := slices.IndexFunc(ms.Sets, func(s *MachineSet) bool {
		return s.UID == action.Objects[0].UID && s.version() == action.Step.Version
	})
	if at < 0 {
		return nil
	}
	return ms.Sets[at]
}

func (cl *Cloud) broken() bool { return cl.w.Now.Before(cl.BrokenUntil) }

// Recovering says that the cloud will answer again by itself.
func (cl *Cloud) Recovering() bool {
	return cl.broken() && cl.BrokenUntil.Sub(cl.w.Now) < time.Hour
}

// Guarded says that the breaker answers for it: nothing but our roll happens to it.
func (d *MachineDeployment) Guarded() bool {
	return !d.Guard.Exempt && !d.Guard.Canary && !d.Deleting
}
