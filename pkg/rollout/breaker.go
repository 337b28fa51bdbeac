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

func (r *roll) initializationDeadline() time.Duration {
	return observation.InitializationDeadline(r.o.Cluster)
}

// lookAfter is how long it is until a new Node that is not initialized is late, for the breaker or for the objectives: nothing
// happens then that would wake us, and the next pass would be a minute away. Zero: none is awaited.
func (r *roll) lookAfter() time.Duration {
	if !r.armed() {
		return 0
	}
	view, after := r.fleet(), time.Duration(0)
	for _, machine := range view.machines.Machines {
		if node, waits := view.awaited(machine); waits {
			for _, limit := range []time.Duration{slo.Objective, view.initialization} {
				// The API server's times are of whole seconds.
				after = observation.Sooner(after, limit+2*time.Second-r.now.Sub(node.CreatedAt))
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
func (r *roll) armed() bool {
	return r.facts.RollGeneration != "" && r.facts.CompletedAt == nil && !r.back() && r.seesMachines()
}

func (r *roll) seesMachines() bool {
	return r.o.Machines.IsKnown() && r.o.Nodes.IsKnown() && r.o.Provider.IsKnown()
}

// overdueNodes of new Machines are those that the CCM did not initialize in time, as "Node n of Machine m".
func (v machineView) overdueNodes(deployment observation.MachineDeployment) []observation.Text {
	var names []observation.Text
	for _, machine := range v.machinesOf(deployment) {
		if node, waits := v.awaited(machine); waits && v.now.Sub(node.CreatedAt) > v.initialization {
			names = append(names, observation.Say(node, " of ", machine))
		}
	}
	return names
}

// served says that the CCM initialized a Node.
func (v machineView) served(node observation.Node) bool {
	return !node.Uninitialized && v.identifies(node)
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

// overdue are the Nodes that trip the breaker, of those that are being rolled.
func (v machineView) overdue(pools []pool) []observation.Text {
	var names []observation.Text
	for _, pool := range pools {
		d := pool.deployment
		if !d.Deleting && toldToRoll(v, d, v.setsOf(d)) && !v.replaced(d) {
			names = append(names, v.overdueNodes(d)...)
			names = append(names, v.unlinkedNodes(d)...)
		}
	}
	return observation.SortTexts(names)
}

func (r *roll) breakerTripped(overdue []observation.Text) outcome.Outcome {
	return outcome.Fails(ucv1.BreakerTrippedReason, "Nothing more is rolled, and no further old Machine goes: not initialized "+
		r.initializationDeadline().String()+" after registering: ", observation.Names(overdue),
		". Look at the CCM's logs. The roll goes on when every new Node is initialized; delete a Machine that never will be."+r.offer())
}

// giveBack gives minReadySeconds back when it guards nothing any more. It is never given back while the MachineDeployment is
// paused: the machine-controller then scales an old MachineSet up.
func (r *roll) giveBack(view machineView, pools []pool) (outcome.Outcome, bool) {
	for _, pool := range pools {
		d := pool.deployment
		if !d.Deleting && d.MinReadyOurs && !d.Paused && r.mayReturn(view, pool) {
			return r.returns(d, "no more Machines of it are replaced"), true
		}
	}
	return outcome.Outcome{}, false
}

// mayReturn says that no further Machine is replaced by a roll of ours.
func (r *roll) mayReturn(view machineView, pool pool) bool {
	switch {
	case view.rollback:
		// Its template says in-tree again, or it was rolled already.
		return toldToRoll(view, pool.deployment, view.setsOf(pool.deployment))
	case toldToRoll(view, pool.deployment, view.setsOf(pool.deployment)):
		return view.replaced(pool.deployment)
	}
	// Whoever took our value out of the template lets it be rolled back, to Machines that are watched by no one.
	return pool.state == Blocked && !pool.conflict
}

func (r *roll) returns(d observation.MachineDeployment, because string) outcome.Outcome {
	r.unguard(d)
	action := outcome.Action{
		Kind: outcome.ActionReturnMinReady, Objects: []observation.Ref{d.Ref}, Versions: []string{d.Version},
		Why: "Giving minReadySeconds of " + d.String() + " back: " + because + ".",
	}
	if generation, _ := r.rollFacts(); d.RestartValue == *generation {
		action.RestartValue = d.RestartValue
	}
	return outcome.Does(action)
}

// returnAll is for the end of our responsibility: what is not being rolled now never will be, by us.
func (r *roll) returnAll(pools []pool) (outcome.Outcome, bool) {
	for _, pool := range pools {
		d := pool.deployment
		switch {
		case d.Deleting || !d.MinReadyOurs:
		case d.Paused:
			return outcome.Fails(ucv1.BlockedMachinesReason, "The Cluster is being deleted, and ", d, " is paused in the middle "+
				"of its roll; unpause it"), true
		case pool.state != Rolling:
			return r.returns(d, "the Cluster goes"), true
		}
	}
	return outcome.Outcome{}, false
}

// noteGuarded notes those whose minReadySeconds becomes ours: one that loses it to another owner is not taken again.
func (r *roll) noteGuarded(deployments []observation.MachineDeployment) {
	if r.facts.Breaker == nil {
		r.facts.Breaker = &ucv1.BreakerStatus{}
	}
	guarded := r.facts.Breaker.Guarded
	for _, d := range deployments {
		if !slices.Contains(guarded, d.UID) {
			guarded = append(guarded, d.UID)
		}
	}
	r.facts.Breaker.Guarded = guarded[max(0, len(guarded)-maxGuarded):]
}

// unguard forgets a MachineDeployment.
func (r *roll) unguard(d observation.MachineDeployment) {
	if breaker := r.facts.Breaker; breaker != nil {
		breaker.Guarded = slices.DeleteFunc(breaker.Guarded, func(uid string) bool { return uid == d.UID })
		r.dropEmptyBreaker()
	}
}

// dropEmptyBreaker: where all that was applied before is taken out of a struct, server-side apply makes it null, and the API
// server refuses that.
func (r *roll) dropEmptyBreaker() {
	if breaker := r.facts.Breaker; len(breaker.Guarded)+len(breaker.Joining) == 0 {
		r.facts.Breaker = nil
	}
}

// released says that minReadySeconds was ours and was taken from us in the middle of the roll: the machine-controller goes on
// without any proof.
func (v machineView) released(d observation.MachineDeployment) bool {
	return slices.Contains(v.guarded, d.UID) && !d.MinReadyOurs && !v.replaced(d)
}

func releasedPools(view machineView, pools []pool) []observation.Text {
	var names []observation.Text
	for _, pool := range pools {
		if d := pool.deployment; !view.rollback && !d.Deleting && view.released(d) {
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
