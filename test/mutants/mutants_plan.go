package main

// A migration starts only with the plan that was approved, and what is foreseen is what would happen.
func approvals() []mutant {
	const planPackage = "pkg/migration/plan"
	foreseen := func(name, file, old, changed string, packages ...string) mutant {
		return mutant{rule: "plan", name: name, file: file, old: old, new: changed, packages: packages}
	}
	return []mutant{
		in("approval", "mode PlanOnly starts by itself", "approval.go", "cluster.Spec.Mode == ucv1.PlanOnlyMode || ", ""),
		in("approval", "any approval will do", "approval.go", "case approved == plan.Digest:", "case approved != \"\":"),
		in("approval", "a plan that was kept starts a migration", "approval.go", "f.Digest != cluster.Spec.Approval.PlanDigest && ", ""),
		in("approval", "a plan that could not be made is approved", "approval.go",
			"		return cannotLook(\"what the migration would do\", p.o.Plan.Why())", "		return holds(ucv1.HoldsReason, \"\")"),
		in("approval", "nobody is asked for an approval", "start.go", "if out := p.approved(); !out.holds {", "if out := p.approved(); false && !out.holds {"),
		foreseen("what could not be looked at is known in the future", "pkg/migration/simulation/start.go",
			"	if !seen.IsKnown() {", "	if false {", simulationPackage),
		foreseen("the digest has names of Machines in it", "pkg/migration/plan/digest.go",
			"Verbs: p.Sequence(), Outcome:", "Verbs: append(p.Sequence(), p.Summary), Outcome:", planPackage),
		foreseen("the digest does not know what is done", "pkg/migration/plan/digest.go", "Verbs: p.Sequence(), Outcome:", "Outcome:", planPackage),
		foreseen("a request that is not dry comes through", "pkg/usercluster/plan.go",
			"newSession(client.NewDryRunClient(s.client), s.clock", "newSession(s.client, s.clock", "pkg/usercluster"),
	}
}
