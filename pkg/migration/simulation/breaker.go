package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// guard is what the circuit breaker has to do with a MachineDeployment.
type guard struct {
	// minReady is minReadySeconds; ours says that the breaker owns it, owner who else does.
	minReady int
	ours     bool
	owner    string
	// paused says that the pause is the breaker's.
	paused bool
	canary bool
	// exempt: its owner scaled it or made another revision in the middle of the roll, so that more than ours are made at once.
	exempt bool
}

func (d *machineDeployment) observeGuard() migration.Guard {
	g := d.guard
	return migration.Guard{
		PausedByUs: g.paused && d.paused, MinReadySeconds: int32(g.minReady), MinReadyOurs: g.ours, MinReadyOwner: g.owner, Canary: g.canary,
	}
}

func (w *World) minReady(s *machineSet) int {
	at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == s.deployment })
	if at < 0 {
		return 0
	}
	return w.deployments[at].guard.minReady
}

// guard applies the whole intent of the breaker's field manager: what is not in it is given back.
func (c *Controller) guard(decision migration.Decision) bool {
	w, fields := c.world, decision.Verb.Breaker
	for _, ref := range decision.Verb.Objects {
		at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.uid == ref.UID })
		if at < 0 {
			continue
		}
		d := w.deployments[at]
		switch {
		case fields.MinReadySeconds != nil:
			d.guard.minReady, d.guard.ours, d.guard.owner = int(*fields.MinReadySeconds), true, ""
		case d.guard.ours:
			d.guard.minReady, d.guard.ours = 0, false
		}
		if fields.Paused || d.guard.paused {
			d.paused, d.guard.paused = fields.Paused, fields.Paused
		}
		d.generation++
		if c.killed(WhileActing, decision) {
			return false
		}
	}
	return true
}

// TakeMinReady has the owner of a MachineDeployment set its minReadySeconds.
func (w *World) TakeMinReady(name string, seconds int) {
	for _, d := range w.deployments {
		if d.name == name {
			d.guard.minReady, d.guard.ours, d.guard.owner = seconds, false, "gitops"
			d.generation++
		}
	}
}

// BreakCloud has the cloud answer no question about instances, until it is mended.
func (w *World) BreakCloud() { w.cloudBrokenUntil = w.now.Add(100 * time.Hour) }

// MendCloud ends that.
func (w *World) MendCloud() { w.cloudBrokenUntil = w.now }

func (w *World) cloudBroken() bool { return w.now.Before(w.cloudBrokenUntil) }

// recovering says that the cloud will answer again by itself.
func (w *World) recovering() bool {
	return w.cloudBroken() && w.cloudBrokenUntil.Sub(w.now) < time.Hour
}

// breakCloud for a while.
func (w *World) breakCloud() {
	w.cloudBrokenUntil = w.upTo(5, 100)
	w.say("fault: the cloud answers no question about instances")
}

// longLook is how long passes may be away without the rule about unproven Machines being lifted: the margin of minReadySeconds is 30 s.
const longLook = 20 * tick

func (i *invariants) noteLook(w *World, o migration.Observation) {
	if !o.Machines.IsKnown() || !o.Nodes.IsKnown() || !o.Provider.IsKnown() {
		return
	}
	if w.now.Sub(i.looked) > longLook {
		i.lapsed = w.now
	}
	i.looked = w.now
}

// checkUnproven: while we run, no roll of ours has more Machines whose Node was never initialized than its bounds allow.
func (i *invariants) checkUnproven(w *World) {
	status := w.cluster.Status
	if !w.rolls() || w.now.Sub(i.looked) > longLook {
		return
	}
	for _, d := range w.deployments {
		if !d.guarded() || d.restart != status.RollGeneration {
			continue
		}
		unproven, oldest := w.uninitialized(d)
		if most := d.surge + d.unavailable; len(unproven) > most && oldest.After(i.lapsed) {
			i.fail("rule 10: %v of MachineDeployment %s are unproven at once, and %d may be", unproven, d.name, most)
		}
	}
}

func (w *World) rolls() bool {
	status := w.cluster.Status
	return !w.undoing() && status.RollGeneration != "" && status.CompletedAt == nil && !w.cluster.Spec.Paused
}

func (d *machineDeployment) guarded() bool {
	return !d.guard.exempt && !d.guard.canary && d.guard.owner == "" && !d.deleting
}

// uninitialized are the names of its new Machines whose Node was never initialized, and when the first of them was made.
func (w *World) uninitialized(d *machineDeployment) (names []string, oldest time.Time) {
	for _, s := range slices.DeleteFunc(w.setsOf(d), func(s *machineSet) bool { return !d.current(s) }) {
		for _, m := range w.machinesOf(s) {
			if n := w.nodeOf(m); n != nil && !n.tainted {
				continue
			}
			names = append(names, m.name)
			if oldest.IsZero() || m.createdAt.Before(oldest) {
				oldest = m.createdAt
			}
		}
	}
	return names, oldest
}

// checkGuarded: nothing is rolled that the breaker does not hold, unless somebody else owns the field.
func (i *invariants) checkGuarded(w *World, d *machineDeployment) {
	deadline := int(migration.InitializationDeadline(w.cluster).Seconds())
	if d.guard.owner == "" && (!d.guard.ours || d.guard.minReady <= deadline) {
		i.fail("rule 10: MachineDeployment %s is rolled with minReadySeconds %d", d.name, d.guard.minReady)
	}
}

// checkNothingLeft of canary and breaker at the end.
func (i *invariants) checkNothingLeft(w *World, when string) {
	if w.canaryDeployment() != nil || slices.ContainsFunc(w.machines, w.isCanary) {
		i.fail("rule 9: %s, and the canary is left", when)
	}
	for _, object := range w.canary.objects {
		if object.deletedAt.IsZero() {
			i.fail("rule 9: %s, and %s of the canary is left", when, object.kind)
		}
	}
	for _, d := range w.deployments {
		if d.guard.ours || d.guard.paused {
			i.fail("rule 10: %s, and what the breaker took of MachineDeployment %s is not given back", when, d.name)
		}
	}
}
