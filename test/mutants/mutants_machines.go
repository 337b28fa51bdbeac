package main

// inPlan makes a mutant of the rollout's budget.
func inPlan(name, old, changed string) mutant {
	return mutant{
		rule: "4 budget", name: name, file: "pkg/rollout/plan.go", old: old, new: changed,
		packages: []string{rolloutPackage, migrationPackage, simulationPackage},
	}
}

// Rule 4: budgets hold, whoever caused the disruption.
func budgets() []mutant {
	return []mutant{
		inPlan("disruptions of others are not counted", "case pool.State == Rolling || pool.Disrupted:", "case pool.State == Rolling:"),
		inPlan("no canary is waited for", "	if !canaryProven {", "	if false {"),
		inPlan("what rolls is not counted", "budget-len(used)", "budget"),
		inPlan("a budget that cannot be read allows one", "	case err != nil:\n\t\treturn 0, err", "	case err != nil:\n\t\treturn 1, nil"),
		in("4 budget", "a tainted Node serves", "machines.go", "found && node.Ready && !node.Uninitialized", "found && node.Ready"),
		in("4 budget", "a Machine that is going serves", "roll.go",
			"machine.Deleting || !view.serves(machine)", "!view.serves(machine)"),
	}
}

// Rule 5: nothing is rolled twice, nothing while the CCM is not healthy.
func rolls() []mutant {
	return []mutant{
		in("5 once", "the forceRestart value is used before it is persisted", "roll.go",
			"		return records(\"Recording the forceRestart value, so that nothing is ever rolled twice.\"), true\n", ""),
		in("5 once", "the forceRestart value is made anew", "roll.go", "if generation, _ := p.rollFacts(); *generation == \"\" {",
			"if generation, _ := p.rollFacts(); len(pools)%7 < 7 {"),
		in("5 once", "a value that its owner took out is applied again", "roll.go",
			"return view.generation != \"\" && slices.ContainsFunc(sets", "return view.generation == \"-\" && slices.ContainsFunc(sets"),
		in("5 once", "what was told to roll is told again", "roll.go",
			"	if view.generation != \"\" && deployment.RestartValue == view.generation {\n\t\treturn true\n\t}\n", ""),
		in("5 healthy", "a Lease that stands still is a leader", "handover.go",
			"if !lease.renewed(p.now) {", "if false {"),
		in("5 healthy", "the first look at a Lease is a renewal", "handover.go", "l.ChangedAt.After(l.WatchedAt) && ", ""),
		in("5 healthy", "the CCM need not lead", "control_plane_rows.go",
			"	case out.holds:\n\t\treturn out\n\tcase !known:", "	case out.holds || known:\n\t\treturn holds(ucv1.HoldsReason, \"\")\n\tcase !known:"),
		in("5 flags", "an old pod of the machine-controller may still answer", "control_plane_rows.go",
			"		if !deployment.RolledOut {", "		if false {"),
		in("5 flags", "one of the machine-controller's Deployments is enough", "control_plane_rows.go",
			"	for _, deployment := range deployments {\n\t\tif !deployment.Arguments.Understood() {",
			"	for _, deployment := range deployments[:1] {\n\t\tif !deployment.Arguments.Understood() {"),
	}
}

// The up-to-date rule.
func upToDate() []mutant {
	return []mutant{
		in("up-to-date", "the annotation alone proves the kubelet", "machines.go", "		return v.wanted(set)\n", "		return set.UID != \"\"\n"),
		in("up-to-date", "the revision alone proves the kubelet", "machines.go", "if (machine.Annotation == \"true\") == v.undo {", "if (machine.Annotation == \"true\") && v.undo {"),
		in("up-to-date", "a revision of the second of the flags is up-to-date", "machines.go",
			"!v.configuredAt.IsZero() && set.CreatedAt.After(v.configuredAt)", "!v.configuredAt.IsZero() && !set.CreatedAt.Before(v.configuredAt)"),
		in("up-to-date", "flags that were lost leave their time behind", "control_plane_rows.go",
			"	if p.facts.MachineControllerConfiguredAt != nil {\n\t\tp.facts", "	if false {\n\t\tp.facts"),
	}
}

// Rule 6: every trouble has a defined, visible outcome.
func troubles() []mutant {
	return []mutant{
		in("6 visible", "standalone Machines are overlooked", "roll.go", "range view.orphans() {", "range view.orphans()[:0] {"),
		in("6 visible", "paused MachineDeployments count as done", "roll.go",
			"	case deployment.heldByOthers():\n\t\tpl.state, pl.blocked = rollout.Blocked, deployment.String()+\" is paused; unpause it\"",
			"	case deployment.heldByOthers():\n\t\tpl.state = rollout.Done"),
		in("6 visible", "Nodes without a Machine are overlooked", "verify.go",
			"return \"has no Machine (accept it in spec.rollout.acceptNodes or delete it)\"", "return \"\""),
		in("6 visible", "deletions may take forever", "machines.go",
			"	case machine.Deleting:\n\t\tsince = machine.DeletingSince", "	case machine.Deleting:\n\t\treturn false"),
		in("6 visible", "a Node may be NotReady forever", "machines.go", "v.now.Sub(node.ReadyChangedAt) > v.deadline", "false"),
		in("6 visible", "a MachineDeployment may wait for Machines forever", "roll_halts.go", "view.lacks(d) && view.now", "false && view.now"),
		in("6 visible", "a cluster without Nodes waits for a leader", "handover.go",
			"	case len(nodes) == 0:\n\t\treturn p.finishWithoutNodes()", "	case len(nodes) < 0:\n\t\treturn p.finishWithoutNodes()"),
		in("6 visible", "a cluster without Nodes waits for its addons", "addons.go", "case unschedulable && len(nodes) == 0:", "case unschedulable && len(nodes) < 0:"),
	}
}

// Facts that the world cannot say again.
func facts() []mutant {
	return []mutant{
		in("facts", "what a pass would have done is recorded although it did something else", "decide.go", "	p.facts = facts\n", "	_ = facts\n"),
		{
			rule: "facts", name: "what was done is not told when its status was refused", file: "controllers/cluster/cluster_report.go",
			old: "r.untold.keep(key, verbsOf(entriesOf(s, after)))", new: "r.untold.keep(key, nil)", packages: []string{"controllers/cluster"},
		},
		in("facts", "a full list of processes forgets one that may run", "handover.go", "drop := most > 0 && process.EndedAt != nil", "drop := most > 0"),
		in("facts", "a paused cluster is changed", "decide.go", "	if o.Cluster.Spec.Paused {", "	if false {"),
		in("facts", "a changed baseline is believed", "verify.go", "case before.Digest() != p.facts.Baseline.Digest:", "case false:"),
	}
}
