package migration

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// The machine-controller calls a Node available as soon as it is Ready, with the taint that only the CCM takes away. So a
// CCM that breaks in the middle of a roll would let it replace everything by Nodes that nothing can run on. The breaker keeps
// that from happening, whether we run or not for a moment:
//
//	Node registers ──────── initialization deadline ────────┤ paused by us
//	        └ Ready ──────────────── minReadySeconds, ours ─────────────────┤ only now would it be available
//
// minReadySeconds is no part of the template: no Machine is replaced when it changes.
// https://github.com/kubermatic/machine-controller/blob/v1.61.0/pkg/controller/machinedeployment/sync.go

const (
	// maxGuarded and maxWarnings bound status.breaker.
	maxGuarded  = 200
	maxWarnings = 20
)

// BreakerFields are the whole intent of the circuit breaker for a MachineDeployment. What is not set is given back.
type BreakerFields struct {
	MinReadySeconds *int32
	Paused          bool
}

// Guard is how a MachineDeployment stands with the breaker, and with the canary.
type Guard struct {
	// PausedByUs says that the circuit breaker paused it, and nobody else wants that.
	PausedByUs bool
	// MinReadySeconds that it has, and whether they are ours; MinReadyOwner is who else wants them, or empty.
	MinReadySeconds int32
	MinReadyOurs    bool
	MinReadyOwner   string
	// AppliedAt is when our fields were last changed; zero: we have none.
	AppliedAt time.Time
	// Canary says that it is ours, for the canary.
	Canary bool
}

// heldByOthers: our own pause is not for a person to take back.
func (d MachineDeployment) heldByOthers() bool { return d.Paused && !d.PausedByUs }

// trip pauses a MachineDeployment that makes Nodes which are not initialized, and any while the objectives halt the roll. It rests
// on no row: what broke the CCM lets a row above Roll fail. Nil: nothing is to be paused, or it could not be looked at.
func (p *pass) trip() *Verb {
	if !p.armed() {
		return nil
	}
	view, verb, whys := p.fleet(), Verb{Kind: VerbPauseMachineDeployment}, []string(nil)
	for _, pool := range p.pools(view) {
		d := pool.deployment
		why, fields := p.tripsBy(view, pool), BreakerFields{MinReadySeconds: d.guard(), Paused: true}
		if why == "" || !view.replaces(d) {
			continue
		}
		if len(verb.Objects) > 0 && !equality.Semantic.DeepEqual(verb.Breaker, fields) {
			continue // In the next pass.
		}
		verb.Objects, verb.Breaker, whys = append(verb.Objects, d.Ref), fields, append(whys, d.String()+": "+why)
	}
	if len(verb.Objects) == 0 {
		return nil
	}
	verb.Why = "Pausing " + named(whys) + "."
	return &verb
}

// tripsBy is why it must not go on; empty: it may.
func (p *pass) tripsBy(view fleetView, pool pool) string {
	overdue := view.overdueNodes(pool.deployment)
	switch {
	case len(overdue) > 0:
		return fmt.Sprintf("not initialized %s after registering: %s", p.initializationDeadline(), named(overdue))
	case p.halted() && pool.old:
		return "the objectives for the CCM were violated"
	}
	return ""
}

// replaces says that more Machines of it will be made because we told it to roll.
func (v fleetView) replaces(deployment MachineDeployment) bool {
	return !deployment.Paused && !deployment.Deleting && toldToRoll(v, deployment, v.setsOf(deployment)) && !v.lastOnesProven(deployment)
}

// tripped puts the pause in place of what the walk concluded. A failure that is being answered goes first; any other stays beside the
// pause: a person who was called is not called off for one pass.
func (p *pass) tripped(before ucv1.Facts, decision Decision) Decision {
	after := p.facts
	p.facts = *before.DeepCopy()
	verb := p.trip()
	if verb == nil || (decision.Failure != nil && decision.Verb != nil) {
		p.facts = after
		return decision
	}
	decision = p.walkOnly()
	decision.Verb, decision.Wait = verb, nil
	if !p.o.Cluster.DeletionTimestamp.IsZero() {
		// The rows do not count for a deleted Cluster: they are walked to name the step.
		decision.Failure = nil
	}
	return decision
}

func (p *pass) initializationDeadline() time.Duration { return InitializationDeadline(p.o.Cluster) }

// guard is what of ours a MachineDeployment keeps.
func (d MachineDeployment) guard() *int32 {
	if !d.MinReadyOurs {
		return nil
	}
	return new(d.MinReadySeconds)
}

// lookAfter is how long it is until a new Node that is not initialized is late, for the breaker or for the objectives: nothing happens
// then that would wake us, and the next pass would be a minute away. Zero: none is awaited.
func (p *pass) lookAfter() time.Duration {
	if !p.armed() {
		return 0
	}
	view, after := p.fleet(), time.Duration(0)
	for _, machine := range view.machines.Machines {
		if node, waits := view.awaited(machine); waits {
			for _, limit := range []time.Duration{slo.Objective, view.initialization} {
				// The API server's times are of whole seconds.
				after = sooner(after, limit+2*time.Second-p.now.Sub(node.CreatedAt))
			}
		}
	}
	return after
}

// sooner of two times that are still to come; zero: none is.
func sooner(a, b time.Duration) time.Duration {
	if b > 0 && (a == 0 || b < a) {
		return b
	}
	return a
}

// awaited is the Node of a new Machine that is not initialized.
func (v fleetView) awaited(machine Machine) (Node, bool) {
	node, found := v.nodes[machine.NodeName]
	return node, found && machine.NodeName != "" && !machine.Deleting && v.upToDate(machine) && !v.served(node)
}

// armed says that the breaker watches a roll of ours.
func (p *pass) armed() bool {
	return p.facts.RollGeneration != "" && p.facts.CompletedAt == nil && !p.undoing() && p.seesMachines()
}

func (p *pass) seesMachines() bool {
	return p.o.Machines.IsKnown() && p.o.Nodes.IsKnown() && p.o.Provider.IsKnown()
}

// overdueNodes of new Machines are those that the CCM did not initialize in time, as "Node n of Machine m".
func (v fleetView) overdueNodes(deployment MachineDeployment) []string {
	var names []string
	for _, machine := range v.machinesOf(deployment) {
		node, found := v.nodes[machine.NodeName]
		if !found || machine.NodeName == "" || machine.Deleting || !v.upToDate(machine) {
			continue
		}
		if !v.served(node) && v.now.Sub(node.CreatedAt) > v.initialization {
			names = append(names, "Node "+node.Name+" of "+machine.String())
		}
	}
	return names
}

// served says that the CCM initialized a Node.
func (v fleetView) served(node Node) bool {
	return !node.Uninitialized && hasProviderID(node, v.prefix)
}

// lastOnesProven: every Machine that it is to have is there and proven, so that no more will be made.
func (v fleetView) lastOnesProven(deployment MachineDeployment) bool {
	proven := 0
	for _, machine := range v.machinesOf(deployment) {
		switch {
		case machine.Deleting || !v.upToDate(machine):
		case !v.proven(machine):
			return false
		default:
			proven++
		}
	}
	return proven >= int(deployment.Replicas)
}

// newOnesProven: no new Machine of it is unproven.
func (v fleetView) newOnesProven(deployment MachineDeployment) bool {
	return !slices.ContainsFunc(v.machinesOf(deployment), func(machine Machine) bool {
		return !machine.Deleting && v.upToDate(machine) && !v.proven(machine)
	})
}

// giveBack takes our pause back when every new Machine is proven, and gives minReadySeconds back when no more will be made.
// In an undo both go when the template says in-tree again: sooner, external Machines would be made unguarded.
func (p *pass) giveBack(view fleetView, pools []pool) (outcome, bool) {
	for _, pool := range pools {
		d := pool.deployment
		if d.Deleting || !d.PausedByUs && !d.MinReadyOurs {
			continue
		}
		if p.mayReturn(view, pool) {
			p.unguard(d)
			why := "Giving minReadySeconds of " + d.String() + " back: no more Machines of it are made."
			return does(Verb{Kind: VerbReturnMinReady, Objects: []Ref{d.Ref}, Why: why}), true
		}
		if out, busy := p.stillGuarded(view, d); busy {
			return out, true
		}
	}
	return outcome{}, false
}

// stillGuarded is for one of which more Machines are made: its pause is taken back, and minReadySeconds raised with the deadline.
func (p *pass) stillGuarded(view fleetView, d MachineDeployment) (outcome, bool) {
	switch {
	case view.undo:
	case d.PausedByUs && !p.halted() && view.newOnesProven(d):
		return does(Verb{
			Kind: VerbUnpauseMachineDeployment, Objects: []Ref{d.Ref}, Breaker: BreakerFields{MinReadySeconds: d.guard()},
			Why: "Taking our pause of " + d.String() + " back: every new Machine of it is proven.",
		}), true
	case d.MinReadyOurs && d.MinReadySeconds < p.guardSeconds():
		return does(p.guardVerb([]MachineDeployment{d})), true
	}
	return outcome{}, false
}

// mayReturn says that no new Machine will be made by a roll of ours.
func (p *pass) mayReturn(view fleetView, pool pool) bool {
	told := toldToRoll(view, pool.deployment, view.setsOf(pool.deployment))
	switch {
	case pool.done():
		return true
	case view.undo:
		return told
	case told:
		return !pool.deployment.Paused && view.lastOnesProven(pool.deployment)
	}
	// Whoever took our value out of the template lets it be rolled back, to Machines that nobody watches.
	return pool.state == rollout.Blocked && !pool.conflict
}

// returnAll is for the end of our responsibility: what is not being rolled now never will be, by us.
func (p *pass) returnAll(pools []pool) (outcome, bool) {
	for _, pool := range pools {
		d := pool.deployment
		if pool.state != rollout.Rolling && !d.Deleting && (d.PausedByUs || d.MinReadyOurs) {
			p.unguard(d)
			return does(Verb{Kind: VerbReturnMinReady, Objects: []Ref{d.Ref}, Why: "Giving minReadySeconds of " + d.String() + " back: the Cluster goes."}), true
		}
	}
	return outcome{}, false
}

func (p *pass) guardSeconds() int32 { return p.o.Deadlines.guardSeconds(p.initializationDeadline()) }

func (p *pass) breaker() *ucv1.BreakerStatus {
	if p.facts.Breaker == nil {
		p.facts.Breaker = &ucv1.BreakerStatus{}
	}
	return p.facts.Breaker
}

// unguard forgets a MachineDeployment. Nothing is left of a status that is empty: where all that was applied before is taken out of a
// struct, server-side apply makes it null, and the API server refuses that.
func (p *pass) unguard(d MachineDeployment) {
	breaker := p.facts.Breaker
	if breaker == nil {
		return
	}
	breaker.Guarded = slices.DeleteFunc(breaker.Guarded, func(uid string) bool { return uid == d.UID })
	if len(breaker.Guarded) == 0 && len(breaker.Warnings) == 0 {
		p.facts.Breaker = nil
	}
}

// guards takes minReadySeconds of those that are to be rolled, before they are. Who wants another value keeps it.
func (p *pass) guards(pools []pool, intents []rollout.Intent) (outcome, bool) {
	if p.undoing() {
		return outcome{}, false
	}
	var needed []MachineDeployment
	for _, d := range deploymentsOf(pools, intents) {
		lost := p.facts.Breaker != nil && slices.Contains(p.facts.Breaker.Guarded, d.UID) && !d.MinReadyOurs
		if !d.MinReadyOurs && d.MinReadyOwner == "" && !lost {
			needed = append(needed, d)
		}
	}
	if len(needed) == 0 {
		p.warn(pools, intents)
		return outcome{}, false
	}
	return does(p.guardVerb(needed)), true
}

func (p *pass) guardVerb(deployments []MachineDeployment) Verb {
	seconds := p.guardSeconds()
	verb := Verb{Kind: VerbOwnMinReady, Breaker: BreakerFields{MinReadySeconds: &seconds}}
	guarded := p.breaker().Guarded
	for _, d := range deployments {
		verb.Objects = append(verb.Objects, d.Ref)
		if !slices.Contains(guarded, d.UID) {
			guarded = append(guarded, d.UID)
		}
	}
	p.facts.Breaker.Guarded = guarded[max(0, len(guarded)-maxGuarded):]
	verb.Why = fmt.Sprintf("Taking minReadySeconds of %s, %d while it is rolled: a Node that is not initialized must not count as available.",
		named(refNames(verb.Objects)), seconds)
	return verb
}

// warn says of those that are rolled with the value of somebody else what that means.
func (p *pass) warn(pools []pool, intents []rollout.Intent) {
	for _, d := range deploymentsOf(pools, intents) {
		if d.MinReadyOurs || d.MinReadySeconds >= p.guardSeconds() {
			continue
		}
		owner := d.MinReadyOwner
		if owner == "" {
			owner = "somebody else"
		}
		warning := fmt.Sprintf("%s: minReadySeconds is %d, by %s, and not the %d of the circuit breaker. Should the CCM stop working, more Nodes "+
			"can be replaced before that is noticed than maxSurge and maxUnavailable allow.", d, d.MinReadySeconds, owner, p.guardSeconds())
		if breaker := p.breaker(); !slices.Contains(breaker.Warnings, warning) {
			breaker.Warnings = append(breaker.Warnings, warning[:min(len(warning), 512)])
			breaker.Warnings = breaker.Warnings[max(0, len(breaker.Warnings)-maxWarnings):]
		}
	}
}

func deploymentsOf(pools []pool, intents []rollout.Intent) []MachineDeployment {
	var deployments []MachineDeployment
	for _, intent := range intents {
		for _, pool := range pools {
			if pool.name() == intent.Name {
				deployments = append(deployments, pool.deployment)
			}
		}
	}
	return deployments
}
