package rollout

import (
	"fmt"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// pool is a MachineDeployment with its state against the wanted kubelet configuration.
type pool struct {
	deployment observation.MachineDeployment
	state      State
	// disrupted says that not all of its Machines serve, whoever caused that.
	disrupted bool
	// old says that it has Machines that are still to be replaced.
	old bool
	// blocked says what a person must do, waitsFor names what it waits for by itself.
	blocked           observation.Text
	conflict, refused bool
	waitsFor          []string
}

func (p *pool) name() string { return p.deployment.Namespace + "/" + p.deployment.Name }

func (p *pool) done() bool { return p.state == Done }

// next replaces Machines, MachineDeployment by MachineDeployment. What cannot be rolled does not hold up the others; it is
// reported when they are done.
func next(in input) outcome.Outcome {
	if in.o.Machines.IsAbsent() {
		return outcome.Holds(ucv1.HoldsReason, "The cluster has no Machines: the machine-controller's CRDs are not there.")
	}
	if out := seesRoll(in); !out.Holds {
		return out
	}
	fleet := noteJoining(noteRolled(fleetOf(in)))
	return fleet.handsOn(roll(fleet))
}

// roll lets go, makes or waits for what is next.
func roll(in fleet) outcome.Outcome {
	if out, busy := giveBackAndRemoveCanary(in); busy {
		return out
	}
	if out := rollHalts(in); !out.Holds {
		return out
	}
	if out, busy := rollOn(in); busy {
		return out
	}
	if out := noneLost(in); !out.Holds {
		return out
	}
	if waiting := waitingPools(in); len(waiting) > 0 {
		return waitsForMachines(in.input, "Waiting for the Machines of ", observation.Names(waiting), ".")
	}
	if out := noneBlocked(in); !out.Holds {
		return out
	}
	if going := goingMachines(in.view); len(going) > 0 {
		return waitsForMachines(in.input, "Waiting for Machines to go: ", observation.Names(going), ".")
	}
	if out, left := removeCanary(in); left {
		return out
	}
	return outcome.Holds(ucv1.HoldsReason, "Every MachineDeployment is rolled and every Machine is up-to-date.")
}

// seesRoll says whether all is seen that the roll goes by.
func seesRoll(in input) outcome.Outcome {
	switch {
	case !in.o.Machines.IsKnown():
		return outcome.CannotLook("the Machines", in.o.Machines.Why())
	case !in.o.Nodes.IsKnown():
		return outcome.CannotLook("the Nodes", in.o.Nodes.Why())
	case in.o.Proofs.IsUnknown():
		return outcome.CannotLook("the proofs that were kept of kubelets", in.o.Proofs.Why())
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// rollOn lets the next Machines go, or begins with the next MachineDeployments.
func rollOn(in fleet) (outcome.Outcome, bool) {
	if _, err := Allowed(in.o.Cluster.Spec.Rollout.MaxConcurrent, len(in.pools)); err != nil {
		return outcome.Fails(ucv1.InputInvalidReason, "spec.rollout.maxConcurrent allows nothing: "+err.Error()+"."), true
	}
	if out, due := stepNext(in); due {
		return out, true
	}
	if out := bootstrapsExternal(in); !out.Holds {
		return out, true
	}
	return rollNext(in)
}

// giveBackAndRemoveCanary gives back what the breaker took and takes a canary away that is not needed any more. It does not wait
// for that: what is left of a canary only keeps the row from holding.
func giveBackAndRemoveCanary(in fleet) (outcome.Outcome, bool) {
	if out, busy := giveBack(in); busy {
		return out, true
	}
	if canaryWanted(in) {
		return outcome.Outcome{}, false
	}
	out, _ := removeCanary(in)
	return out, out.Action != nil || out.Wait != nil && out.Wait.Unknown
}

// rollNext starts the next MachineDeployments if the CCM can serve their Nodes and the budget allows it.
func rollNext(in fleet) (outcome.Outcome, bool) {
	plan := make([]Pool, 0, len(in.pools))
	for _, pool := range in.pools {
		plan = append(plan, Pool{
			Name: pool.name(), Replicas: pool.deployment.Replicas, State: pool.state,
			Disrupted: pool.disrupted, Turning: in.back() && pool.disrupted,
		})
	}
	intents, held := Plan(plan, in.o.Cluster.Spec.Rollout.MaxConcurrent, in.o.Cluster.Spec.Rollout.Order, canaryProven(in))
	if held != "" && !slices.ContainsFunc(in.pools, consumesBudget) {
		return outcome.Waits(ucv1.WaitingForBudgetReason, held), true
	}
	if len(intents) == 0 {
		return outcome.Outcome{}, false
	}
	if out := startGates(in.input); !out.Holds {
		return out, true
	}
	if in.generation() == "" {
		return in.records("Recording the forceRestart value, so that nothing is ever rolled twice.", in.generates), true
	}
	if out := canaryFirst(in, intents); !out.Holds {
		return out, true
	}
	if out := volumesRegistered(in.input); !out.Holds {
		return out, true
	}
	return rollOut(in, intents), true
}

// consumesBudget says that it uses the budget up, and is named for it: it rolls, or is blocked and does not serve. One that is
// blocked and serves holds up no other.
func consumesBudget(p pool) bool { return p.state == Rolling || p.blocked.Words != "" && p.disrupted }

// canaryProven says that the canary, or a MachineDeployment that we rolled, is done: until then only one is rolled, whatever the
// budget.
func canaryProven(in fleet) bool {
	switch {
	case canaryKind(in.input) == ucv1.NoCanary:
		return true
	case canaryKind(in.input) == ucv1.CanaryMachine && !in.back() && in.facts.Canary != nil && in.facts.Canary.ProvenAt != nil:
		return true
	}
	return slices.ContainsFunc(in.pools, func(pool pool) bool {
		return pool.done() && pool.deployment.Replicas > 0 && in.generation() != "" && pool.deployment.RestartValue == in.generation()
	})
}

// rollGates hold before Machines are replaced. In-tree Nodes need no one to initialize them.
func rollGates(in input) outcome.Outcome {
	if in.back() {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	for _, gate := range in.gates {
		if out := gate(); !out.Holds {
			return out
		}
	}
	return measured(in)
}

// startGates hold before another MachineDeployment begins.
func startGates(in input) outcome.Outcome {
	if out := rollGates(in); !out.Holds || in.back() || !in.o.Cluster.Directed(ucv1.DirectiveHoldRoll) {
		return out
	}
	return outcome.Waits(ucv1.HeldByFleetReason, "FleetMigration "+in.o.Cluster.Status.Admission.FleetMigration+
		" holds the roll: no further MachineDeployment begins. Those that have begun go on.")
}

// maxRolled is the bound of status.rolledMachineDeployments.
const maxRolled = 200

func rollOut(in fleet, intents []Intent) outcome.Outcome {
	action := rolls(in.view)
	deployments := deploymentsOf(in.pools, intents)
	for _, deployment := range deployments {
		action.Objects, action.Versions = append(action.Objects, deployment.Ref), append(action.Versions, deployment.Version)
	}
	action.Why = "Rolling " + wording.Names(observation.RefNames(action.Objects)) + ": " + intents[0].Why + "."
	return in.adds(outcome.Does(action), func(facts *ucv1.Facts) {
		rolled := in.rolled(facts)
		for _, deployment := range deployments {
			*rolled = append(*rolled, deployment.UID)
			if action.Endless {
				noteGuarded(facts, deployment)
			} else {
				unguard(facts, deployment)
			}
		}
		*rolled = (*rolled)[max(0, len(*rolled)-maxRolled):]
	})
}

// rolls is what is asked of a MachineDeployment that is to be rolled. In-tree Nodes need no one to initialize them, so a
// rollback gives minReadySeconds back in the same write.
func rolls(v machineView) outcome.Action {
	return outcome.Action{Kind: outcome.ActionRollMachineDeployment, RestartValue: v.generation, Endless: !v.rollback}
}

// noteRolled is for a pass that gave the value, or gave minReadySeconds back, and whose status was refused.
func noteRolled(in fleet) fleet {
	generation := in.generation()
	if generation == "" {
		return in
	}
	return in.notes(func(facts *ucv1.Facts) {
		rolled := in.rolled(facts)
		for _, pool := range in.pools {
			d := pool.deployment
			switch {
			case d.RestartValue != generation:
				continue
			case d.MinReadyOurs && !slices.Contains(in.view.guarded, d.UID):
				noteGuarded(facts, d)
			case !d.MinReadyOurs && in.view.replaced(d):
				unguard(facts, d)
			}
			if len(*rolled) < maxRolled && !slices.Contains(*rolled, d.UID) {
				*rolled = append(*rolled, d.UID)
			}
		}
	})
}

func poolsOf(view machineView) []pool {
	pools := make([]pool, 0, len(view.machines.Deployments))
	for _, deployment := range view.machines.Deployments {
		pl := judgePool(view, deployment)
		pl.heedRefusal(view)
		pools = append(pools, pl)
	}
	slices.SortFunc(pools, func(a, b pool) int { return strings.Compare(a.deployment.String(), b.deployment.String()) })
	return pools
}

// judgePool decides where one MachineDeployment stands:
//
//	its newest MachineSet is wanted ─► all Machines there, up-to-date and proven ─► done, else rolling
//	it is not ──────────────────────► deleting: waits; paused: blocked; our value was taken out: blocked; else outdated
func judgePool(view machineView, deployment observation.MachineDeployment) pool {
	machines, sets := view.machinesOf(deployment), view.setsOf(deployment)
	pl := pool{
		deployment: deployment,
		disrupted:  !deployment.Deleting && (!deployment.Settled || len(machines) < int(deployment.Replicas)),
	}
	for _, machine := range machines {
		pl.look(view, machine)
	}
	switch {
	case deployment.Deleting:
		pl.state = Done
		if len(machines) > 0 {
			pl.state = Rolling
		}
	case toldToRoll(view, deployment, sets):
		pl.follow()
	case deployment.Paused:
		pl.state, pl.blocked = Blocked, observation.Say(deployment, " is paused; unpause it")
	case takenOut(view, deployment, sets):
		pl.state, pl.conflict = Blocked, true
		pl.blocked = observation.Say(deployment, " lost annotation "+ucv1.ForceRestartAnnotation+
			" of its template to another owner; let that keep the value "+view.generation)
	default:
		pl.state = Outdated
		if why := unguardable(deployment); why.Words != "" && !view.rollback {
			pl.state, pl.blocked = Blocked, why
		}
	}
	return pl
}

// unguardable is why the breaker cannot hold a MachineDeployment; empty: it can.
func unguardable(deployment observation.MachineDeployment) observation.Text {
	if deployment.MinReadyOwner == "" {
		return deployment.LimitProblem
	}
	return observation.Say("minReadySeconds of ", deployment, " is ", deployment.MinReadySeconds, ", by "+deployment.MinReadyOwner+
		", and the roll has to hold that field; take it out there")
}

// look takes one of the pool's Machines into account. The machine-controller calls a Node available while it is tainted,
// and forgets Machines that are going.
func (p *pool) look(view machineView, machine observation.Machine) {
	if machine.Deleting || !view.serves(machine) {
		p.disrupted = true
	}
	if !machine.Deleting && !view.upToDate(machine) {
		p.old = true
	}
	if machine.Deleting || !view.upToDate(machine) || !view.proven(machine) {
		p.waitsFor = append(p.waitsFor, machine.Name)
	}
}

// follow is for a pool that was told to roll.
func (p *pool) follow() {
	p.state = Rolling
	replaced := len(p.waitsFor) == 0 && !p.disrupted
	switch {
	case p.deployment.Paused && (!replaced || p.deployment.MinReadyOurs):
		p.state, p.blocked = Blocked, observation.Say(p.deployment, " is paused; unpause it")
	case replaced:
		p.state = Done
	}
}

// toldToRoll: the template carries our value, or its MachineSet was made after the flags were in place anyway.
func toldToRoll(view machineView, deployment observation.MachineDeployment, sets []observation.MachineSet) bool {
	if view.generation != "" && deployment.RestartValue == view.generation {
		return true
	}
	return slices.ContainsFunc(sets, func(set observation.MachineSet) bool { return set.Current && view.wanted(set) })
}

// takenOut: it was told to roll, or a revision of ours exists, but the template is not it any more. It is not applied
// again: two owners would roll the Machines forever.
func takenOut(view machineView, deployment observation.MachineDeployment, sets []observation.MachineSet) bool {
	if slices.Contains(view.rolled, deployment.UID) {
		return true
	}
	return view.generation != "" &&
		slices.ContainsFunc(sets, func(set observation.MachineSet) bool { return set.RestartValue == view.generation })
}

// waitingPools are those that are rolling and that nothing but time keeps from it, with how far they are.
func waitingPools(in fleet) []observation.Text {
	var rolling []observation.Text
	for _, pool := range in.pools {
		if d := pool.deployment; pool.state == Rolling && !pool.refused {
			rolling = append(rolling, observation.Say(d.Ref, fmt.Sprintf(" (%d of %d replaced)", in.view.countReplaced(d), d.Replicas)))
		}
	}
	return rolling
}

// rollsOn are those of which the machine-controller may replace Machines although the Cluster is paused. One that is paused
// itself is scaled all the same while it is rolled: only without the breaker, in a rollback, does its own pause hold.
func rollsOn(in input) string {
	if !in.o.Machines.IsKnown() || !in.o.Nodes.IsKnown() || in.facts.RollGeneration == "" || in.facts.CompletedAt != nil {
		return ""
	}
	fleet, names := fleetOf(in), []string{}
	for _, pool := range fleet.pools {
		d := pool.deployment
		if d.Paused && scaledWhilePaused(fleet.view, d) || !d.Paused && pool.state == Rolling {
			names = append(names, d.String())
		}
	}
	return wording.Names(names)
}

func scaledWhilePaused(v machineView, d observation.MachineDeployment) bool {
	return !v.rollback && toldToRoll(v, d, v.setsOf(d)) && !v.replaced(d)
}

func goingMachines(view machineView) []observation.Ref {
	var going []observation.Ref
	for _, machine := range view.machines.Machines {
		if machine.Deleting {
			going = append(going, machine.Ref)
		}
	}
	return going
}
