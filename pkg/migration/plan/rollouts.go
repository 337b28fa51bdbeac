package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// rollouts are the MachineDeployments in the order in which they are told to roll. Those that were told before come first, unless
// no Machine of theirs is left to go.
func rollouts(in Input, future simulation.Future) []Rollout {
	list := []Rollout{}
	machines := in.Start.Observation.Machines.Value()
	told := toldLater(future)
	for _, deployment := range machines.Deployments {
		if planned := rolloutOf(
			in,
			deployment,
			future.Replaced,
		); !told[deployment.UID] && !deployment.Canary &&
			len(planned.Machines) > 0 {
			list = append(list, planned)
		}
	}
	for _, pass := range future.Passes {
		if pass.Decision.Next().Kind != outcome.ActionRollMachineDeployment {
			continue
		}
		for _, ref := range pass.Decision.Next().Objects {
			at := slices.IndexFunc(machines.Deployments, func(d observation.MachineDeployment) bool { return d.UID == ref.UID })
			if at >= 0 {
				list = append(list, rolloutOf(in, machines.Deployments[at], future.Replaced))
			}
		}
	}
	return list
}

func toldLater(future simulation.Future) map[string]bool {
	told := map[string]bool{}
	for _, pass := range future.Passes {
		if pass.Decision.Next().Kind == outcome.ActionRollMachineDeployment {
			for _, ref := range pass.Decision.Next().Objects {
				told[ref.UID] = true
			}
		}
	}
	return told
}

func rolloutOf(in Input, deployment observation.MachineDeployment, replaced []observation.Ref) Rollout {
	planned := Rollout{Object: deployment.String(), Replicas: deployment.Replicas, Machines: []string{}}
	nodes := map[string]bool{}
	for _, ref := range replaced {
		machine, owned := machineOf(in, ref, deployment)
		if !owned {
			continue
		}
		planned.Machines = append(planned.Machines, machine.Namespace+"/"+machine.Name)
		nodes[machine.NodeName] = true
	}
	if pods, known := in.Pods.Get(); known {
		count := 0
		for node := range nodes {
			count += pods.OnNode[node]
		}
		planned.Pods = &count
		planned.Budgets = budgetsOn(pods, nodes)
	}
	pool := poolOf(in, deployment)
	planned.Disruption = disruption(pool, planned)
	planned.Seconds = rolloutSeconds(in, pool, len(planned.Machines))
	return planned
}

// machineOf finds a Machine that was there at the start, if it is one of the MachineDeployment.
func machineOf(in Input, ref observation.Ref, deployment observation.MachineDeployment) (observation.Machine, bool) {
	seen := in.Start.Observation.Machines.Value()
	at := slices.IndexFunc(seen.Machines, func(m observation.Machine) bool { return m.UID == ref.UID })
	if at < 0 {
		return observation.Machine{}, false
	}
	machine := seen.Machines[at]
	owned := slices.ContainsFunc(seen.Sets, func(s observation.MachineSet) bool {
		return machine.Set != "" && s.UID == machine.Set && s.Deployment == deployment.UID
	})
	return machine, owned
}

// budgetsOn are those with pods on the Nodes; the worst ones first.
func budgetsOn(pods Pods, nodes map[string]bool) []Budget {
	var budgets []Budget
	for _, budget := range pods.Budgets {
		here := 0
		for _, node := range budget.Nodes {
			if nodes[node] {
				here++
			}
		}
		if here > 0 {
			budgets = append(budgets, Budget{Name: budget.Name, Pods: here, Allowed: budget.Allowed})
		}
	}
	slices.SortFunc(budgets, func(a, b Budget) int {
		return cmp.Or(cmp.Compare(a.Allowed, b.Allowed), strings.Compare(a.Name, b.Name))
	})
	return budgets
}

// poolOf falls back to the machine-controller's defaults: https://github.com/kubermatic/machine-controller (one more, none
// fewer).
func poolOf(in Input, deployment observation.MachineDeployment) Pool {
	if pool, found := in.Pools[deployment.UID]; found {
		return pool
	}
	return Pool{MaxSurge: 1}
}

func disruption(pool Pool, planned Rollout) string {
	text := fmt.Sprintf("Up to %d Machines more and %d fewer than %d at once.", pool.MaxSurge, pool.MaxUnavailable, planned.Replicas)
	var stuck []string
	for _, budget := range planned.Budgets {
		if budget.Allowed == 0 {
			stuck = append(stuck, budget.Name)
		}
	}
	if len(stuck) > 0 {
		text += " No pod may go now by PodDisruptionBudget " + strings.Join(stuck, ", ") + ": the drain waits for it."
	}
	return text
}

const (
	// assumedMachine is how long a Machine takes to become a Node where none shows it, and assumedDrain how long its pods take to
	// go.
	assumedMachine = 5 * time.Minute
	assumedDrain   = time.Minute
)

// machineTime is how long the Machines of this cluster took: the median of those that have a Node.
func machineTime(in Input) (took time.Duration, samples int) {
	created := map[string]time.Time{}
	for _, node := range in.Start.Observation.Nodes.Value() {
		created[node.Name] = node.CreatedAt
	}
	var times []time.Duration
	for _, machine := range in.Start.Observation.Machines.Value().Machines {
		if at, found := created[machine.NodeName]; found && at.After(machine.CreatedAt) {
			times = append(times, at.Sub(machine.CreatedAt))
		}
	}
	if len(times) == 0 {
		return assumedMachine, 0
	}
	slices.Sort(times)
	return times[len(times)/2], len(times)
}

// rolloutSeconds goes by batches of as many Machines as may be replaced at once.
func rolloutSeconds(in Input, pool Pool, machines int) int64 {
	if machines == 0 {
		return 0
	}
	batch := max(int(pool.MaxSurge+pool.MaxUnavailable), 1)
	batches := (machines + batch - 1) / batch
	took, _ := machineTime(in)
	each := took + assumedDrain
	return int64((time.Duration(batches) * each).Seconds())
}
