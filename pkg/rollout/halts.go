package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// rollHalts before anything more is rolled: something of what was rolled is not as it should be.
func rollHalts(in fleet) outcome.Outcome {
	if overdue := overdueOf(in.view, in.pools); len(overdue) > 0 && !in.back() {
		return breakerTripped(in.input, overdue)
	}
	if released := releasedPools(in.view, in.pools); len(released) > 0 {
		return outcome.Fails(ucv1.MachineDeploymentFieldConflictReason, "minReadySeconds was ours while these are rolled, and was "+
			"changed: ", observation.Names(released),
			". Look at the new Nodes of their Machines, which the machine-controller replaces without any proof; nothing more is "+
				"rolled until they are done.")
	}
	if leftToRoll(in.pools) {
		if out := objectivesMet(in.input); !out.Holds {
			return out
		}
	}
	seen := lookAtBootstraps(in)
	if len(seen.late) > 0 {
		return bootstrapsLate(seen.late)
	}
	if out := kubeletsExternal(in.view); !out.Holds {
		return out
	}
	if late := append(lateMachines(in.view), latePools(in.view, in.pools)...); len(late) > 0 {
		return outcome.Fails(
			ucv1.NodesNotInitializedReason,
			observation.Say("Nothing more is rolled, these missed their deadline: ", observation.Names(late),
				". Look at the machine-controller's events of the Machine and at the CCM's logs; for one that does not go, at its Node's "+
					"PodDisruptionBudgets.").Also(drainTroubles(in.input)),
		)
	}
	if stuck := stuckPools(in, seen); len(stuck) > 0 {
		return outcome.Fails(
			ucv1.WaitingForMachinesReason,
			"Nothing more is rolled, no Machine came or began to go of ", observation.Names(stuck),
			". Look at the events of its MachineSets (a quota, a webhook), at its new Nodes, and at the machine-controller's logs.",
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// stuckPools are being rolled, lack Machines or have some that are to be replaced, and no Machine of theirs came or began to go
// within the deadline, although those that came had the time to become available: a quota or a webhook refuses Machines, or a new
// Node is not Ready, or bootstrap data that our next step waits for does not come. A Machine whose Node was never initialized has
// a deadline of its own.
func stuckPools(in fleet, seen bootstraps) []observation.Text {
	view := in.view
	var names []observation.Text
	for _, pool := range in.pools {
		d := pool.deployment
		patience := view.deadline
		if !d.MinReadyOurs {
			patience += time.Duration(d.MinReadySeconds) * time.Second
		}
		if _, ours := grantFor(view, d); ours && len(seen.awaited) == 0 {
			continue // What it waits for is our next step.
		}
		if pool.state == Rolling && view.lacks(d) && view.now.Sub(lastMoved(view, d)) > patience {
			name := observation.Say(d, " for ", patience)
			if len(pool.waitsFor) > 0 {
				name = observation.Say(name, ", of which these are not replaced or not proven: ", wording.Names(pool.waitsFor))
			}
			names = append(names, name)
		}
	}
	return names
}

func lateMachines(view machineView) []observation.Text {
	var names []observation.Text
	for _, machine := range view.machines.Machines {
		if !view.late(machine) {
			continue
		}
		what := " has no initialized Node"
		switch {
		case machine.Deleting:
			what = " is being deleted and does not go"
		case machine.Set == "" && machine.NodeName == "":
			what = " has no Node, and no MachineDeployment whose bootstrap data it could boot with"
		}
		names = append(names, observation.Say(machine, what))
	}
	return names
}

// noneLost of the Nodes of what is rolling. One keeps its own MachineDeployment from ending, and no other.
func noneLost(in fleet) outcome.Outcome {
	rolling := slices.ContainsFunc(in.pools, func(p pool) bool { return p.state == Rolling })
	if lost := lostMachines(in.view); rolling && len(lost) > 0 {
		return outcome.Fails(
			ucv1.NodesNotInitializedReason,
			"The Nodes of these Machines were initialized and are not Ready: ", observation.Names(lost),
			". Look at their kubelets and network plugins; where a Node cannot be fixed, delete its Machine.",
		)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func lostMachines(view machineView) []observation.Text {
	var names []observation.Text
	for _, machine := range view.machines.Machines {
		if node := view.nodes[machine.NodeName]; machine.NodeName != "" && !machine.Deleting && view.upToDate(machine) &&
			view.lost(node) {
			names = append(names, observation.Say(machine, ", since "+node.ReadyChangedAt.UTC().Format(time.RFC3339)))
		}
	}
	return names
}
