package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
)

// The machine-controller calls a Node available as soon as it is Ready, with the taint that only the CCM takes away, and it
// scales even a paused MachineDeployment: when all new Machines are available, the old ones go to 0. So no write of ours that has
// to come in time can hold a roll. The breaker holds by construction instead:
//
//	one write: forceRestart and an endless minReadySeconds ─► no new Machine is ever available, and the machine-controller
//	                                                          replaces no more than maxSurge + maxUnavailable by itself
//	a new Machine is proven ─► we lower the old MachineSet by one (steps.go) ─► the machine-controller makes the next one
//	all are proven, no old one is left, not paused ─► minReadySeconds is given back
//
// A manager that is dead, a write that is refused and a pause by others grant nothing. minReadySeconds is no part of the
// template, and a new MachineSet takes its value when it is made: in one write with forceRestart, the old MachineSet keeps its
// own.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/sync.go (scale,
// getNewMachineSet) https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/rolling.go
// (reconcileOldMachineSets)

// EndlessMinReadySeconds is longer than any roll: 68 years.
const EndlessMinReadySeconds = 1<<31 - 1

// maxGuarded bounds the lists of status.breaker.
const maxGuarded = 200

func initializationDeadline(in input) time.Duration {
	return observation.InitializationDeadline(in.o.Cluster)
}

// lookAfter is how long it is until a new Node that is not initialized is late, for the breaker or for the objectives: nothing
// happens then that would wake us, and the next pass would be a minute away. Zero: none is awaited.
func lookAfter(in input) time.Duration {
	if !armed(in) {
		return 0
	}
	view, after := viewOf(in), time.Duration(0)
	for _, machine := range view.machines.Machines {
		if node, waits := view.awaited(machine); waits {
			for _, limit := range []time.Duration{slo.Objective, view.initialization} {
				// The API server's times are of whole seconds.
				after = observation.Sooner(after, limit+2*time.Second-in.now.Sub(node.CreatedAt))
			}
		}
	}
	return after
}

// awaited is the Node of a new Machine that is not initialized.
func (v machineView) awaited(machine observation.Machine) (observation.Node, bool) {
	node, found := v.nodes[machine.NodeName]
	return node, found && machine.NodeName != "" && !machine.Deleting && v.upToDate(machine) && !v.served(node)
}

// armed says that the breaker watches a roll of ours.
func armed(in input) bool {
	return in.facts.RollGeneration != "" && in.facts.CompletedAt == nil && !in.back() && seesMachines(in)
}

func seesMachines(in input) bool {
	return in.o.Machines.IsKnown() && in.o.Nodes.IsKnown() && in.o.Provider.IsKnown()
}

// overdueNodes of new Machines are those that the CCM did not initialize in time, as "Node n of Machine m".
func overdueNodes(v machineView, deployment observation.MachineDeployment) []observation.Text {
	var names []observation.Text
	for _, machine := range v.machinesOf(deployment) {
		if node, waits := v.awaited(machine); waits && v.now.Sub(node.CreatedAt) > v.initialization {
			names = append(names, observation.Say(node, " of ", machine))
		}
	}
	return names
}

// replaced says that every Machine that it is to have is there and proven, and that no MachineSet but the current one has any.
func (v machineView) replaced(deployment observation.MachineDeployment) bool {
	proven := 0
	for _, set := range v.setsOf(deployment) {
		switch {
		case !set.Current && set.Replicas > 0:
			return false
		case set.Current:
			proven += len(v.only(set, v.proven))
		}
	}
	return proven >= int(deployment.Replicas)
}

// overdueOf are the Nodes that trip the breaker, of those that are being rolled.
func overdueOf(v machineView, pools []pool) []observation.Text {
	var names []observation.Text
	for _, pool := range pools {
		d := pool.deployment
		if !d.Deleting && toldToRoll(v, d, v.setsOf(d)) && !v.replaced(d) {
			names = append(names, overdueNodes(v, d)...)
			names = append(names, unlinkedNodes(v, d)...)
		}
	}
	return observation.SortTexts(names)
}

func breakerTripped(in input, overdue []observation.Text) outcome.Outcome {
	return outcome.Fails(ucv1.BreakerTrippedReason, observation.Say("Nothing more is rolled, and no further old Machine goes: not "+
		"initialized within "+initializationDeadline(in).String()+": ", observation.Names(overdue),
		". Look at the CCM's logs, and delete the Machine of a Node that cannot recover; the roll goes on when every new Node is "+
			"initialized.").
		Also(in.offer()))
}

// giveBack gives minReadySeconds back when it guards nothing any more. It is never given back while the MachineDeployment is
// paused: the machine-controller then scales an old MachineSet up.
func giveBack(in fleet) (outcome.Outcome, bool) {
	for _, pool := range in.pools {
		d := pool.deployment
		if keepsOurs(d) && !d.Paused && !returnRefused(in.view, d) && mayReturn(in, pool) {
			return returnMinReady(in.input, d, "no more Machines of it are replaced"), true
		}
	}
	return outcome.Outcome{}, false
}

// mayReturn says that no further Machine is replaced by a roll of ours.
func mayReturn(in fleet, pool pool) bool {
	switch {
	case in.view.rollback:
		// Its template says in-tree again, or it was rolled already.
		return toldToRoll(in.view, pool.deployment, in.view.setsOf(pool.deployment))
	case toldToRoll(in.view, pool.deployment, in.view.setsOf(pool.deployment)):
		return in.view.replaced(pool.deployment)
	}
	// Whoever took our value out of the template lets it be rolled back, to Machines that are watched by no one. Where only our roll
	// is refused, it is still to come.
	return pool.state == Blocked && !pool.conflict && !pool.refused
}

func returnMinReady(in input, d observation.MachineDeployment, because string) outcome.Outcome {
	action := returns(viewOf(in), d)
	action.Objects, action.Versions = []observation.Ref{d.Ref}, []string{d.Version}
	action.Why = "Giving minReadySeconds of " + d.String() + " back: " + because + "."
	return in.adds(outcome.Does(action), func(facts *ucv1.Facts) { unguard(facts, d) })
}

// returns is what is asked of a MachineDeployment that gets minReadySeconds back.
func returns(v machineView, d observation.MachineDeployment) outcome.Action {
	action := outcome.Action{Kind: outcome.ActionReturnMinReady}
	if d.RestartValue == v.generation {
		action.RestartValue = d.RestartValue
	}
	return action
}

// returnAll is for the end of our responsibility: what is not being rolled now never will be, by us.
func returnAll(in fleet) (outcome.Outcome, bool) {
	for _, pool := range in.pools {
		if d := pool.deployment; keepsOurs(d) && !d.Paused && !returnRefused(in.view, d) && pool.state != Rolling {
			return returnMinReady(in.input, d, "the Cluster goes"), true
		}
	}
	return outcome.Outcome{}, false
}

// keptBack is what a deleted Cluster cannot give back; it comes behind what is still being rolled.
func keptBack(in fleet) (outcome.Outcome, bool) {
	var kept []observation.Text
	soon := true
	for _, pool := range in.pools {
		switch d := pool.deployment; {
		case !keepsOurs(d) || in.facts.RollGeneration == "":
		case d.Paused:
			kept, soon = append(kept, observation.Say(d, " is paused in the middle of its roll; unpause it")), false
		case returnRefused(in.view, d) || pool.refused:
			kept, soon = append(kept, refusalOf(d)), soon && in.now.Sub(d.Refusal.Since) < refusalPatience
		}
	}
	switch {
	case len(kept) == 0:
		return outcome.Outcome{}, false
	case soon:
		return outcome.Waits(ucv1.WaitingForMachinesReason, "Waiting for changes to be accepted: ", observation.Names(kept)), true
	}
	return outcome.Fails(ucv1.BlockedMachinesReason, "The Cluster is being deleted, and ", observation.Names(kept)), true
}

func keepsOurs(d observation.MachineDeployment) bool { return !d.Deleting && d.MinReadyOurs }

// returnRefused: what is refused of a canary, of its Machines, or of a roll says nothing of it.
func returnRefused(v machineView, d observation.MachineDeployment) bool {
	return d.Refusal.By != "" && d.Refusal.Asked == returns(v, d).Asks()
}

// noteGuarded notes one whose minReadySeconds becomes ours: one that loses it to another owner is not taken again.
func noteGuarded(facts *ucv1.Facts, d observation.MachineDeployment) {
	if facts.Breaker == nil {
		facts.Breaker = &ucv1.BreakerStatus{}
	}
	guarded := facts.Breaker.Guarded
	if !slices.Contains(guarded, d.UID) {
		guarded = append(guarded, d.UID)
	}
	facts.Breaker.Guarded = guarded[max(0, len(guarded)-maxGuarded):]
}

// unguard forgets a MachineDeployment.
func unguard(facts *ucv1.Facts, d observation.MachineDeployment) {
	if breaker := facts.Breaker; breaker != nil {
		breaker.Guarded = slices.DeleteFunc(breaker.Guarded, func(uid string) bool { return uid == d.UID })
		dropEmptyBreaker(facts)
	}
}

// dropEmptyBreaker: where all that was applied before is taken out of a struct, server-side apply makes it null, and the API
// server refuses that.
func dropEmptyBreaker(facts *ucv1.Facts) {
	if breaker := facts.Breaker; len(breaker.Guarded)+len(breaker.Joining) == 0 {
		facts.Breaker = nil
	}
}

// released says that minReadySeconds was ours and was taken from us in the middle of the roll: the machine-controller goes on
// without any proof.
func released(v machineView, d observation.MachineDeployment) bool {
	return slices.Contains(v.guarded, d.UID) && !d.MinReadyOurs && !v.replaced(d)
}

func releasedPools(view machineView, pools []pool) []observation.Text {
	var names []observation.Text
	for _, pool := range pools {
		if d := pool.deployment; !view.rollback && !d.Deleting && released(view, d) {
			names = append(names, observation.Say(d, ", by "+minReadyOwner(d)))
		}
	}
	return names
}

func minReadyOwner(d observation.MachineDeployment) string {
	if d.MinReadyOwner == "" {
		return "another client"
	}
	return d.MinReadyOwner
}

func deploymentsOf(pools []pool, intents []Intent) []observation.MachineDeployment {
	var deployments []observation.MachineDeployment
	for _, intent := range intents {
		for _, pool := range pools {
			if pool.name() == intent.Name {
				deployments = append(deployments, pool.deployment)
			}
		}
	}
	return deployments
}
