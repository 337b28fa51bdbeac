package main

const (
	migrationPackage  = "pkg/migration"
	simulationPackage = "pkg/migration/simulation"
	rolloutPackage    = "pkg/rollout"

	leaderMigrationPackage = "pkg/leadermigration"
)

// mutants are all deliberate faults, at least one for each safety rule.
func mutants() []mutant {
	var all []mutant
	for _, group := range [][]mutant{
		endings(), silence(), fence(), unknowns(), budgets(), rolls(), upToDate(), troubles(), facts(), locks(), staticEnds(), instructed(),
		migrationLock(), pointOfNoReturn(), undo(), undoneLock(), undoneMachines(), profiles(), placements(), versionRules(),
		others(), addresses(), defaultClasses(), shared(), preflightRules(), canaries(), breaker(),
		approvals(), objectives(), inventories(),
	} {
		all = append(all, group...)
	}
	return all
}

// in makes a mutant of a file of pkg/migration, which its tables and the simulation are to kill.
func in(rule, name, file, old, changed string) mutant {
	return mutant{
		rule: rule, name: name, file: "pkg/migration/" + file, old: old, new: changed,
		packages: []string{migrationPackage, simulationPackage},
	}
}

// Rule 1: it ends.
func endings() []mutant {
	return []mutant{
		in("1 ends", "the soak begins anew in every pass", "verify.go", "if p.facts.StableSince == nil {", "if true {"),
		in("1 ends", "preflight is judged again after the start", "start.go", "if p.facts.StartedAt != nil {", "if false {"),
		in("1 ends", "a finished hand-over is walked again", "handover.go",
			"if p.facts.Handover.FinishedAt != nil {\n\t\treturn p.handedOver()", "if false {\n\t\treturn p.handedOver()"),
		in("1 ends", "a wait in the hand-over may take forever", "handover.go", "p.now.Sub(*started) <= p.o.Deadlines.Handover", "p.now.Sub(*started) >= 0"),
	}
}

// Rule 2: no loop in two managers. One mutant for each item of the proof of silence.
func silence() []mutant {
	return []mutant{
		in("2 proof", "doubts do not matter", "handover.go", "if len(doubts) == 0 {", "if len(doubts) >= 0 {"),
		in("2 proof", "a pod that vanished has ended", "silence.go",
			"		if process.EndedAt == nil && !named[process.PodUID] {", "		if process.EndedAt == nil && process.VanishedAt == nil && !named[process.PodUID] {"),
		in("2 proof", "recorded processes are not asked", "silence.go",
			"		if process.EndedAt == nil && !named[process.PodUID] {", "		if false {"),
		in("2 proof", "live pods are not asked", "silence.go",
			"		if process.Ended || ended[process.PodUID] && process.ConfigHash == \"\" || !mayRunLoops(process) {", "		if true {"),
		in("2 proof", "what cannot be read is silent", "handover.go",
			"return !process.Arguments.Understood() || len", "return len"),
		in("2 proof", "a rollout need not end", "silence.go", "proofItem(\"Rollout\", !kcm.RolledOut", "proofItem(\"Rollout\", false"),
		in("2 proof", "the template is not asked", "silence.go",
			"proofItem(\"Template\", mayRunLoops(Process{Arguments: kcm.Arguments})", "proofItem(\"Template\", false"),
		in("2 proof", "the Lease is not asked", "silence.go", "	doubt := p.leaseDoubt(kcm)\n	lease", "	doubt := \"\"\n	lease"),
		in("2 proof", "a Lease that was acquired before the container started counts", "silence.go",
			" && !lease.AcquireTime.Before(process.StartedAt)", ""),
		in("2 proof", "a renewal after the holder's end does not contradict it", "silence.go",
			" &&\n\t\t\t!lease.ChangedAt.After(process.EndedAt.Add(deliverySkew))", ""),
		in("2 proof", "an unknown holder is not waited for", "silence.go", "wait > 0 {", "wait > 24*time.Hour {"),
		in("2 proof", "the processes are not recorded", "handover.go",
			"	p.facts.Handover.Processes = nil\n\tp.addProcesses(controlPlane.KCM)", "	p.facts.Handover.Processes = nil"),
		in("2 proof", "processes that appear later are not recorded", "handover.go",
			"known := p.o.ControlPlane.Get(); known {\n\t\tp.addProcesses", "known := p.o.ControlPlane.Get(); known {\n\t\t_ = (*pass).addProcesses"+
				"\n\t\t_ = controlPlane\n\t}\n\tif controlPlane, known := p.o.ControlPlane.Get(); !known {\n\t\tp.addProcesses"),
	}
}

// Rule 2: the fence, the loops and the guard.
func fence() []mutant {
	return []mutant{
		in("2 loops", "the loops are left on", "handover.go",
			"	case len(loops) == 0 && noted:", "	case len(loops) >= 0:"),
		in("2 loops", "the loops are excluded in a spelling that old versions do not know", "handover.go", "if minor < 28 {", "if minor < 20 {"),
		in("2 loops", "finalize gives the loops back", "control_plane_rows.go",
			"[]string{\"cloud-provider\", \"cloud-config\"", "[]string{\"cloud-config\""),
		in("2 guard", "the guard sleeps", "handover.go",
			"	out := p.guard()\n", "	out := holds(ucv1.HoldsReason, \"\")\n"),
		in("2 guard", "what a person stopped because loops came back is applied again", "addons.go",
			"	if guard.failure != nil {", "	if false {"),
		in("2 guard", "loops that come back within the hand-over are fought over", "handover.go", "case len(loops) > 0 && noted:", "case false:"),
		in("2 guard", "loops that are off and not noted stay unknown", "handover.go", "case len(loops) == 0 && noted:", "case len(loops) == 0:"),
		in("2 guard", "the guard sleeps when the migration is completed", "table.go",
			"	case ucv1.StepHandover:\n\t\treturn row.evaluate(p)", "	case ucv1.StepHandover:\n\t\treturn holds(ucv1.HoldsReason, \"\")"),
		in("2 contention", "a contended fence stays open", "silence.go", "if fence := p.o.Fence.Value(); fence.Open && p.closesFence() {", "if false {"),
		in("2 contention", "a fence is opened again by the template alone", "silence.go",
			"handover.FinishedAt, handover.FenceOpenedAt, handover.WorkloadAllowedAt = nil, nil, nil", "handover.FenceOpenedAt = nil"),
		in("2 contention", "who runs the loops now is not recorded", "silence.go", "	p.addProcesses(kcm)\n	out := fails", "	out := fails"),
		in("2 contention", "a fence that somebody closed is opened without the proof", "addons.go",
			"if doubts := p.doubts(); len(doubts) > 0 {", "if doubts := p.doubts(); len(doubts) < 0 {"),
		in("2 probe", "a probe that led for a moment is enough", "probe.go", ">= p.o.Deadlines.ProbeTime:", ">= 0:"),
		{
			rule: "2 probe", name: "a Lease that was read before its holder died counts as renewed", file: "pkg/usercluster/leases.go",
			old: "!older(lease.ResourceVersion, t.seen[key].version) || older(lease.ResourceVersion, since)", new: "lease != nil",
			packages: []string{"pkg/usercluster"},
		},
		{
			rule: "2 probe", name: "the probe makes its Lease again while it is deleted", file: "pkg/provider/probe.go",
			old: "leaseObjects(ProbeIdentity(id))...", new: "FenceObjects(ProbeIdentity(id))...", packages: []string{"pkg/provider"},
		},
		in("2 probe", "a probe that died may be another process", "probe.go", "lease.Holder == handover.ProbeHolder && lease.ChangedAt", "lease.ChangedAt"),
		in("2 probe", "KCM is touched while the probe runs", "probe.go", "	case len(probe.Left) > 0:\n\t\treturn does", "	case false:\n\t\treturn does"),
		in("2 probe", "a CCM that changed is not probed anew", "addons.go", "		if name == CCMSet {\n\t\t\tp.forgetProbe()\n\t\t}\n", ""),
		in("2 serialized", "the workload is not withheld", "protocol.go",
			"serialized(facts) && facts.Handover.WorkloadAllowedAt == nil", "serialized(facts) && facts.Handover.WorkloadAllowedAt != nil"),
		in("2 serialized", "a look that did not withhold the workload is acted on", "addons.go", "&& !set.WorkloadWithheld {", "&& set.WorkloadWithheld {"),
		in("2 fence", "the CCM's Lease is taken before it has run out", "handover.go", "lease.Holder != \"\" && lease.stale(p.now)", "lease.Holder != \"\""),
		in("2 serialized", "KCM's Lease is taken from whoever holds it", "protocol.go", "Instructed() && p.heldByTheDead(lease)", "Instructed()"),
		in("2 serialized", "the fence is used although it does not hold", "protocol.go", "works := len(fence.Allowed) == 0 || fence.Open", "works := len(fence.Allowed) >= 0 || fence.Open"),
		in("2 created", "a CCM is put beside a KCM that runs loops", "addons.go",
			"len(findings) == 0 && len(runningLoops(kcm)) > 0", "len(findings) == 0 && len(runningLoops(kcm)) < 0"),
		in("2 created", "a Cluster that was created with the feature is migrated", "decide.go",
			"			p.facts.Origin = ucv1.OriginExternal\n\t\t\tbreak", "			p.facts.Origin = ucv1.OriginMigrating\n\t\t\tbreak"),
		in("2 fence", "a fence that does not hold is built on", "addons.go",
			"	return fails(ucv1.FenceIneffectiveReason, fence.why())\n", "	return holds(ucv1.HoldsReason, \"\")\n"),
		in("2 fence", "a fence that stands open counts although KCM runs loops", "addons.go",
			"	case len(doubts) == 0:\n\t\treturn holds", "	case len(doubts) >= 0:\n\t\treturn holds"),
		in("2 fence", "the fence is opened while a Node is NotReady", "handover.go",
			"	if out := p.nodesReady(); !out.holds {\n\t\treturn out\n\t}\n\tif p.o.CCMLease", "	if p.o.CCMLease"),
		in("2 names", "load balancers are named anew", "start.go", "kcmClusterName(arguments),", "\"kubernetes\","),
	}
}

// Rule 3: unknown never reads as absent.
func unknowns() []mutant {
	return []mutant{
		in("3 unknown", "a fact that nobody filled in is absent", "observed.go",
			"	couldNotLook observedState = iota\n\tabsent\n", "	absent observedState = iota\n\tcouldNotLook\n"),
		in("3 unknown", "Machines that cannot be looked at are none", "roll.go", "case p.o.Machines.IsUnknown():", "case false:"),
		in("3 unknown", "an inventory that cannot be looked at is the same", "verify.go", "case unknown != \"\":", "case unknown == \"-\":"),
		in("3 unknown", "addons that cannot be looked at are fine", "addons.go",
			"	return cannotLook(\"the addons in the user cluster\", p.o.Addons.Why())\n}\n\n// fenceStaysOpen",
			"	return holds(ucv1.HoldsReason, \"\")\n}\n\n// fenceStaysOpen"),
		in("3 unknown", "Nodes that cannot be looked at are none", "handover.go",
			"	case !known:\n\t\treturn cannotLook(\"the Nodes\", p.o.Nodes.Why())\n\tcase len(nodes) == 0:", "	case len(nodes) == 0:\n\t\t_ = known"),
		in("3 unknown", "a KCM that cannot be looked at is silent", "silence.go",
			"return []ucv1.ProofItem{{Name: \"Template\", State: ucv1.UnknownState, Message: why}}", "_ = why\n\t\treturn nil"),
		in("3 unknown", "a deleted Cluster goes although its Machines cannot be looked at", "decide.go",
			"p.facts.RollGeneration != \"\" && p.o.Machines.IsUnknown()", "false"),
	}
}
