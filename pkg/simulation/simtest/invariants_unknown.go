package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// restsOn lists the facts that an action must not be emitted without.
func restsOn() map[outcome.ActionKind][]string {
	return map[outcome.ActionKind][]string{
		outcome.ActionTakeBaseline:       {"Inventory", "Addons", "Fence"},
		outcome.ActionApplyAddons:        {"Addons"},
		outcome.ActionPruneAddons:        {"Addons"},
		outcome.ActionAllowLock:          {"Lock", "Addons", "Fence"},
		outcome.ActionReleaseLock:        {"Lock", "ControlPlane", "KCMLease"},
		outcome.ActionGrantLease:         {"ControlPlane", "KCMLease"},
		outcome.ActionRevokeLease:        {"ControlPlane"},
		outcome.ActionReleaseCCMLease:    {"CCMLease", "Fence", "Nodes", "ControlPlane"},
		outcome.ActionRemoveLock:         {"Lock", "ControlPlane", "Addons", "KCMLease"},
		outcome.ActionOpenFence:          {"Fence", "ControlPlane", "Nodes", "Addons", "CCMLease", "OtherManagers"},
		outcome.ActionSwitchDefaultClass: {"StorageClasses", "Provider"},
		outcome.ActionRenameLoadBalancers: {
			"OldLoadBalancers",
			"Provider",
		},
		outcome.ActionCreateCanary: {
			"StorageClasses",
			"Provider",
			"Machines",
			"Nodes",
			"ControlPlane",
			"CCMLease",
			"Canary",
			"Baseline",
		},
		outcome.ActionRemoveCanary:   {"Machines", "Canary"},
		outcome.ActionReturnMinReady: {"Machines", "Nodes"},
		outcome.ActionMarkMachines:   {"Machines", "Nodes", "ControlPlane", "CCMLease", "Provider", "Measured"},
		outcome.ActionStepMachineSet: {"Machines", "Nodes", "ControlPlane", "CCMLease", "Provider", "Measured"},

		outcome.ActionRollMachineDeployment: {"Machines", "Nodes", "ControlPlane", "CCMLease", "Provider", "Measured"},
	}
}

// checkUnknown takes one fact away, in every pass another: no step may pass, and no action may rest on it.
func (i *invariants) checkUnknown(w *World, o observation.Observation, d migration.Decision) {
	fact := FactNames()[i.passes%len(FactNames())]
	Forget(&o, fact)
	without := migration.Decide(o, w.Now)
	drift := rollsNothingBack(w, o, fact)
	if position(without.Step) > position(d.Step) && !drift && !keptFromGoing(w, d, without) && !rollbackTurned(w) {
		i.fail("rule 3: without %s, step %s passes and %s is reached", fact, d.Step, without.Step)
	}
	if without.Next() == nil ||
		slices.Contains([]outcome.ActionKind{outcome.ActionRestoreAnnotations, outcome.ActionCloseFence}, without.Next().Kind) {
		return
	}
	// What is left of the probe goes first where it is seen; a deletion does not wait for it where it cannot be looked at.
	drift = drift || fact == "Probe" && does(without, outcome.ActionRelease)
	if !drift && !sameBut(d, without) {
		i.fail("rule 3: without %s, step %s does %s", fact, without.Step, without.Next().Kind)
	}
	i.checkRestsOn(w, without, fact)
}

// keptFromGoing: a deleted Cluster that may go stands at the step that it is at; what keeps it is told at the step that it would
// leave half done.
func keptFromGoing(w *World, d, without migration.Decision) bool {
	return !w.Cluster.DeletionTimestamp.IsZero() && (does(d, outcome.ActionRelease) || without.Next() == nil)
}

func does(d migration.Decision, kind outcome.ActionKind) bool {
	return d.Next() != nil && d.Next().Kind == kind
}

// checkRestsOn: without Nodes, no one has to lead.
func (i *invariants) checkRestsOn(w *World, without migration.Decision, fact string) {
	facts := factsOf(w, without)
	ledForNoOne := fact == "CCMLease" && (len(w.Nodes.All) == 0 || without.Step == ucv1.StepRollbackRoll)
	inTree := fact == "Measured" && without.Step == ucv1.StepRollbackRoll
	if slices.Contains(facts, fact) && !ledForNoOne && !inTree {
		i.fail("rule 3: %s does not look at %s", without.Next().Kind, fact)
	}
}
