package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// guard is what the circuit breaker has to do with a MachineDeployment.
type guard struct {
	// minReady is minReadySeconds; ours says that we own it, owner who else does.
	minReady int
	ours     bool
	owner    string
	canary   bool
	// exempt: its owner scaled it, paused it, made another revision or took minReadySeconds in the middle of the roll, so that more
	// than ours happens.
	exempt bool
}

func (d *machineDeployment) observeGuard() observation.Guard {
	g := d.guard
	return observation.Guard{MinReadySeconds: int32(g.minReady), MinReadyOurs: g.ours, MinReadyOwner: g.owner, Canary: g.canary}
}

// takeGuard is our part of a MachineDeployment, in one write: what is not in it is given back.
func (d *machineDeployment) takeGuard(action outcome.Action) {
	switch {
	case action.Endless:
		d.guard.minReady, d.guard.ours, d.guard.owner = rollout.EndlessMinReadySeconds, true, ""
	case d.guard.ours:
		d.guard.minReady, d.guard.ours = 0, false
	}
	if action.RestartValue != "" {
		d.restart = action.RestartValue
	}
	d.generation++
}

// returnMinReady gives minReadySeconds back, unless the MachineDeployment was changed since it was looked at.
func (c *Controller) returnMinReady(action outcome.Action) {
	w := c.world
	at := slices.IndexFunc(w.machines.deployments, func(d *machineDeployment) bool { return d.uid == action.Objects[0].UID })
	if at >= 0 && w.machines.deployments[at].version() == action.VersionOf(action.Objects[0]) && !w.cloud.webhookRefuses() {
		w.machines.deployments[at].takeGuard(action)
	}
}

// mark Machines, one after the other; false means that it was killed in between.
func (c *Controller) mark(decision migration.Decision) bool {
	for _, ref := range decision.Action.Objects {
		for _, m := range c.world.machines.all {
			if m.uid == ref.UID {
				m.goesFirst = true
			}
		}
		if c.world.hooks.Killed(decision) {
			return false
		}
	}
	return true
}

// lower a MachineSet, unless it or its MachineDeployment was changed since.
func (c *Controller) lower(action outcome.Action) {
	if s := c.world.machines.toLower(action); s != nil {
		s.replicas = int(action.Step.Replicas)
	}
}

// toLower is the MachineSet that a step is of; nil where it is another one by now.
func (ms *Machines) toLower(action outcome.Action) *machineSet {
	for _, d := range ms.deployments {
		if d.uid == action.Step.Deployment.UID && int64(d.generation) != action.Step.Generation {
			return nil
		}
	}
	at := slices.IndexFunc(ms.sets, func(s *machineSet) bool {
		return s.uid == action.Objects[0].UID && s.version() == action.Step.Version
	})
	if at < 0 {
		return nil
	}
	return ms.sets[at]
}

// checkLowered: a step only takes Machines away.
func (i *invariants) checkLowered(w *World, action outcome.Action) {
	if s := w.machines.toLower(action); s != nil && int(action.Step.Replicas) >= s.replicas {
		i.fail("rule 10: MachineSet %s is raised from %d to %d", s.name, s.replicas, action.Step.Replicas)
	}
}

// TakeMinReady has the owner of a MachineDeployment set its minReadySeconds.
func TakeMinReady(w *World, name string, seconds int) {
	meddleWith(w, name, func(d *machineDeployment) { d.guard.minReady, d.guard.ours, d.guard.owner = seconds, false, "gitops" })
}

// GiveMinReadyUp has the owner leave the field to others.
func GiveMinReadyUp(w *World, name string) {
	meddleWith(w, name, func(d *machineDeployment) { d.guard.minReady, d.guard.owner = 0, "" })
}

// Pause or unpause a MachineDeployment, as its owner would.
func Pause(w *World, name string, paused bool) {
	meddleWith(w, name, func(d *machineDeployment) { d.paused = paused })
}

func meddleWith(w *World, name string, change func(*machineDeployment)) {
	for _, d := range w.machines.deployments {
		if d.name == name {
			change(d)
			d.generation++
			d.guard.exempt = true
		}
	}
}

// BreakCloud has the cloud answer no question about instances, until it is fixed.
func BreakCloud(w *World) { w.cloud.brokenUntil = w.now.Add(100 * time.Hour) }

// FixCloud ends that.
func FixCloud(w *World) { w.cloud.brokenUntil = w.now }

func (cl *Cloud) broken() bool { return cl.w.now.Before(cl.brokenUntil) }

// webhookRefuses: the machine-controller's webhook asks the cloud whether a MachineDeployment or a new Machine is valid. At every
// update, because it compares what it marshals with what the API server stored:
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments.go#L62
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/admission/machinedeployments_validation.go#L140
func (cl *Cloud) webhookRefuses() bool { return cl.w.traits.WebhookAsks && cl.broken() }

// recovering says that the cloud will answer again by itself.
func (cl *Cloud) recovering() bool {
	return cl.broken() && cl.brokenUntil.Sub(cl.w.now) < time.Hour
}

// breakCloud for a while.
func breakCloud(w *World) {
	w.cloud.brokenUntil = w.upTo(5, 100)
	w.say("fault: the cloud answers no question about instances")
}

// checkUnproven: no roll of ours has more Machines whose Node was never initialized than its bounds allow, whether we run or not.
func (i *invariants) checkUnproven(w *World) {
	status := w.facts()
	if w.undoing() || status.RollGeneration == "" || status.CompletedAt != nil {
		return
	}
	for _, d := range w.machines.deployments {
		if !d.guarded() || d.restart != status.RollGeneration || !d.guard.ours {
			continue
		}
		unproven := uninitialized(w, d)
		if most := d.surge + d.mayBeUnavailable(); len(unproven) > most {
			i.fail("rule 10: %v of MachineDeployment %s are unproven at once, and %d may be", unproven, d.name, most)
		}
	}
}

func (d *machineDeployment) guarded() bool {
	return !d.guard.exempt && !d.guard.canary && !d.deleting
}

// uninitialized are the names of its new Machines whose Node was never initialized.
func uninitialized(w *World, d *machineDeployment) (names []string) {
	for _, s := range slices.DeleteFunc(w.machines.setsOf(d), func(s *machineSet) bool { return !d.current(s) }) {
		for _, m := range w.machines.of(s) {
			if n := w.nodes.of(m); n != nil && (n.initialized || !n.tainted) {
				continue
			}
			names = append(names, m.name)
		}
	}
	return names
}

// checkStep: what we let go never leaves fewer Machines that serve than replicas − maxUnavailable, unless what goes does not
// serve itself; whichever Machine the machine-controller takes. It holds at the moment of looking, for all but that is not ours.
func (i *invariants) checkStep(w *World, d migration.Decision) {
	if d.Action == nil || d.Action.Kind != outcome.ActionStepMachineSet {
		return
	}
	for _, deployment := range w.machines.deployments {
		if deployment.uid != d.Action.Step.Deployment.UID {
			continue
		}
		if deployment.paused {
			i.fail("rule 10: a step of MachineDeployment %s, which is paused", deployment.name)
		}
		serving, lost := servingAfter(w, deployment, *d.Action)
		if least := deployment.replicas - deployment.mayBeUnavailable(); lost > 0 && serving-lost < least {
			i.fail(
				"rule 10: a step of MachineDeployment %s leaves %d Machines that serve of at least %d",
				deployment.name,
				serving-lost,
				least,
			)
		}
	}
}

// servingAfter are the Machines of a MachineDeployment that serve, and how many of them a step may take at most.
func servingAfter(w *World, d *machineDeployment, step outcome.Action) (serving, lost int) {
	for _, s := range w.machines.setsOf(d) {
		members, preferred := 0, 0
		for _, m := range w.machines.of(s) {
			n := w.nodes.of(m)
			if n == nil || m.node == "" || !n.ready || n.tainted {
				continue
			}
			members++
			if m.goesFirst {
				preferred++
			}
		}
		serving += members
		if s.uid == step.Objects[0].UID {
			lost = min(members, s.replicas-int(step.Step.Replicas))
			if marked := marked(w, s); marked >= lost {
				lost = min(lost, preferred)
			}
		}
	}
	return serving, lost
}

func marked(w *World, s *machineSet) int {
	return len(slices.DeleteFunc(w.machines.of(s), func(m *machine) bool { return !m.goesFirst }))
}

// checkGuarded: nothing is rolled that the breaker does not hold, and what another owner holds is not rolled.
func (i *invariants) checkGuarded(w *World, d migration.Decision) {
	if d.Action == nil || d.Action.Kind != outcome.ActionRollMachineDeployment || w.undoing() {
		return
	}
	if !d.Action.Endless {
		i.fail("rule 10: a MachineDeployment is rolled without the breaker")
	}
	for _, deployment := range w.machines.deployments {
		if deployment.guard.owner != "" &&
			slices.ContainsFunc(d.Action.Objects, func(ref observation.Ref) bool { return ref.UID == deployment.uid }) {
			i.fail("rule 10: MachineDeployment %s is rolled, its minReadySeconds is that of %s", deployment.name, deployment.guard.owner)
		}
	}
}

// checkNothingLeft of canary and breaker at the end.
func (i *invariants) checkNothingLeft(w *World, when string) {
	if w.canary.deployment() != nil || slices.ContainsFunc(w.machines.all, w.canary.has) {
		i.fail("rule 9: %s, and the canary is left", when)
	}
	for _, object := range w.canary.objects {
		if object.deletedAt.IsZero() {
			i.fail("rule 9: %s, and %s of the canary is left", when, object.kind)
		}
	}
	for _, d := range w.machines.deployments {
		if d.guard.ours {
			i.fail("rule 10: %s, and what the breaker took of MachineDeployment %s is not given back", when, d.name)
		}
	}
}
