package main

// A migration starts only with the plan that was approved, and what is foreseen is what would happen.
func approvals() []mutant {
	const rule = "approval"
	return []mutant{
		in(rule, "mode PlanOnly starts by itself", "start.WantsPlan", without("Mode")),
		in(rule, "any approval will do", "start.Approved", judged("Digest", `approved != ""`)),
		in(rule, "a plan that was kept starts a migration", "start.PlanLasts", never("Approval")),
		of(clusterControllerPackage, rule, "a plan of what was before counts", "Planner.observe", always("basis")),
		of(clusterControllerPackage, rule, "the plan of a Cluster that is gone is kept", "Planner.Reconcile",
			always("plans before -nil")),
		of(clusterControllerPackage, rule, "an old plan is approved", "Planner.observe", never("Approval")),
		of(clusterControllerPackage, rule, "a MachineDeployment that was paused meanwhile is in the plan", "basisOf", lacks("Paused")),
		in(rule, "a plan that could not be made is approved",
			"start.Approved", returns("CannotLook Plan", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in(rule, "no one is asked for an approval", "start.start", never("Approved")),
		of(simulationPackage, "plan", "what could not be looked at is known in the future", "unseen", never("seen")).
			onlyBy(simtestPackage),
		of(planPackage, "plan", "the digest has names of Machines in it",
			"Plan.digest", instead("Sequence", "append(p.Sequence(), p.Summary)")),
		of(planPackage, "plan", "the digest does not know what is done", "Plan.digest", lacks("Sequence")),
		of(userClusterPackage, "plan", "a request that is not dry comes through",
			"Session.DryRun", instead("NewDryRunClient -beside", "s.client")),
	}
}
