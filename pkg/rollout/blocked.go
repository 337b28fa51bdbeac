package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// refusalPatience is how long a write may be refused before a person is called: the machine-controller's webhook refuses for five
// minutes what the cloud did not answer once.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/cloudprovider/cache/cloudprovidercache.go#L36
const refusalPatience = 10 * time.Minute

// noneBlocked holds when nothing is left that only a person can get rolled, or given back.
func noneBlocked(in fleet) outcome.Outcome {
	rolled, left := []pool{}, []pool{}
	for _, pool := range in.pools {
		if pool.done() {
			rolled = append(rolled, pool)
		} else {
			left = append(left, pool)
		}
	}
	if out := noneIn(in, left, orphanNames(in.view), "These cannot be rolled: "); !out.Holds {
		return out
	}
	return noneIn(in, rolled, nil, "These are rolled and serve, but their minReadySeconds cannot be given back: ")
}

// noneIn some pools is blocked, and there is nothing else. What is refused may be accepted soon, without a person.
func noneIn(in fleet, pools []pool, others []observation.Text, what string) outcome.Outcome {
	var blocked []observation.Text
	soon := len(others) == 0
	for _, pool := range pools {
		if pool.blocked.Words != "" {
			blocked = append(blocked, pool.blocked)
			soon = soon && pool.refused && in.now.Sub(pool.deployment.Refusal.Since) < refusalPatience
		}
	}
	blocked = append(blocked, others...)
	switch {
	case len(blocked) == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case soon:
		return outcome.Waits(ucv1.WaitingForMachinesReason, "Waiting for changes to be accepted: ", observation.Names(blocked), ".")
	}
	return outcome.Fails(blockedReason(in.pools), what, observation.Names(blocked), ".")
}

func orphanNames(view machineView) []observation.Text {
	var names []observation.Text
	for _, machine := range orphans(view) {
		// Not to be made again: the machine-controller boots a Machine with the bootstrap data of its MachineDeployment, and one that
		// has none waits for good.
		// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/util/machine.go#L58
		names = append(names, observation.Say(machine, " has no MachineDeployment; delete it or replace it with a MachineDeployment "+
			"of one replica"))
	}
	return names
}

// blockedReason singles out the case in which two owners pull at one field.
func blockedReason(pools []pool) string {
	if slices.ContainsFunc(pools, func(p pool) bool { return p.conflict }) {
		return ucv1.MachineDeploymentFieldConflictReason
	}
	return ucv1.BlockedMachinesReason
}

// asksNext is what we have to write about it next; empty: nothing. It is to be rolled, old Machines of it may go, or what the
// breaker took is to be given back. In a rollback its Machines do not become available before that.
func (p *pool) asksNext(view machineView) string {
	d := p.deployment
	switch grant, may := grantFor(view, d); {
	case p.state == Outdated:
		return rolls(view).Asks()
	case p.state == Rolling && may:
		return grant.action(d).Asks()
	case keepsOurs(d) && (p.done() || view.rollback):
		return returns(view, d).Asks()
	}
	return ""
}

// heedRefusal blocks a pool whose next write is refused. What is rolled stays so, and what is rolling, because the
// machine-controller may go on with it. That a canary like it is refused matters while there is to be one.
func (p *pool) heedRefusal(view machineView) {
	refusal := p.deployment.Refusal
	due := refusal.Asked == p.asksNext(view)
	if refusal.Of == observation.RefusedCanary {
		due = p.state == Outdated && view.canaryDue
	}
	if refusal.By == "" || p.blocked.Words != "" || !due {
		return
	}
	if !p.done() && refusal.Of != observation.RefusedStep {
		p.state = Blocked
	}
	p.refused, p.blocked = true, refusalOf(p.deployment)
}

func refusalOf(d observation.MachineDeployment) observation.Text {
	what := map[observation.RefusedWrite]string{
		observation.RefusedChange: "changes of ",
		observation.RefusedCanary: "a canary Machine like those of ",
		observation.RefusedStep:   "changes of Machines or MachineSets of ",
	}[d.Refusal.Of]
	return observation.Say(d.Refusal.By+" refuses "+what, d, "; a dry run shows why")
}
