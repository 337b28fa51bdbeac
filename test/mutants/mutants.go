package main

import "slices"

// The packages that are broken, and whose tests are to notice it.
const (
	apiPackage               = "api/v1alpha1"
	baselinePackage          = "pkg/baseline"
	cliPackage               = "internal/cli"
	clusterControllerPackage = "controllers/cluster"
	controlPlanePackage      = "pkg/controlplane"
	leaderMigrationPackage   = "pkg/leadermigration"
	migrationPackage         = "pkg/migration"
	observationPackage       = "pkg/observation"
	planPackage              = "pkg/migration/plan"
	preflightPackage         = "pkg/migration/preflight"
	simulationPackage        = "pkg/migration/simulation"
	sloPackage               = "pkg/slo"
	providerPackage          = "pkg/provider"
	manifestPackage          = "pkg/provider/manifest"
	vspherePackage           = "pkg/provider/vsphere"
	rolloutPackage           = "pkg/rollout"
	userClusterPackage       = "pkg/usercluster"
	addonsPackage            = "pkg/usercluster/addons"
	factsPackage             = "pkg/usercluster/facts"
	leasesPackage            = "pkg/usercluster/leases"
	machinesPackage          = "pkg/usercluster/machines"
	machineControllerPackage = "pkg/usercluster/machines/machinecontroller"
	readsPackage             = "pkg/usercluster/reads"
	watchesPackage           = "pkg/usercluster/watches"
	webhooksPackage          = "webhooks"
	demoPackage              = "test/testbed/demo"
	loopsPackage             = "test/testbed/loops"
)

// mutants are all deliberate faults, at least one for each safety rule.
func mutants() []mutant {
	return slices.Concat(
		endings(), silence(), fence(), unknowns(), budgets(), rolls(), upToDate(), controlPlanes(), kubelets(), troubles(),
		facts(), locks(), staticEnds(), instructed(), migrationLock(), pointOfNoReturn(), undo(), undoneLock(), attendance(),
		undoneMachines(), profiles(), placements(), versionRules(), others(), addresses(), defaultClasses(), shared(),
		preflightRules(), looksAhead(), canaries(), breaker(), bootstrapData(), approvals(), objectives(), inventories(), volumes(), statuses(), bounds(), reports(),
		network(), managementServer(), definitions(), shares(), records(), deputies(), freedLeases(),
	)
}

// of makes a mutant of a package that the package's own tests are to kill.
func of(folder, rule, name, function string, how operator) mutant {
	return mutant{rule: rule, name: name, folder: folder, faults: []fault{{function, how}}, packages: []string{folder}}
}

// in makes a mutant of pkg/migration, which its tables and the simulation are to kill.
func in(rule, name, function string, how operator) mutant {
	return of(migrationPackage, rule, name, function, how).by(simulationPackage)
}

// inTables makes a mutant of pkg/migration, which its tables are to kill: the simulation has nothing of the sort.
func inTables(rule, name, function string, how operator) mutant {
	return of(migrationPackage, rule, name, function, how)
}

// ofObservation makes a mutant of the words that decisions rest on: the tables of these and the simulation are to kill it.
func ofObservation(rule, name, function string, how operator) mutant {
	return of(observationPackage, rule, name, function, how).onlyBy(migrationPackage, simulationPackage)
}

// ofBaseline makes a mutant of the baseline and its comparison, which its own tables are to kill, or those of the decisions.
func ofBaseline(rule, name, function string, how operator) mutant {
	return of(baselinePackage, rule, name, function, how).by(migrationPackage, simulationPackage)
}

// Rule 1: it ends.
func endings() []mutant {
	const rule = "1 ends"
	return []mutant{
		in(rule, "the soak begins again in every pass", "pass.soak", always("StableSince nil")),
		in(rule, "preflight is judged again after the start", "pass.preflight", never("StartedAt")),
		in(rule, "a finished hand-over is walked again", "pass.handover", never("FinishedAt")),
		in(rule, "a wait in the hand-over may take forever", "pass.inTime", always("started")),
	}
}

// Rule 2: no loop in two managers. One mutant for each item of the proof of silence.
func silence() []mutant {
	const rule = "2 proof"
	return []mutant{
		in(rule, "doubts do not matter", "pass.silent", always("==")),
		in(rule, "a pod that vanished has ended",
			"pass.processDoubts", given("EndedAt ==", "process.VanishedAt == nil")),
		in(rule, "recorded processes are not asked", "pass.processDoubts", never("EndedAt named")),
		in(rule, "live pods are not asked", "pass.processDoubts", always("ConfigHash")),
		in(rule, "what cannot be read is silent", "mayRunLoops", without("Understood")),
		in(rule, "a rollout need not end", "pass.proof", never("RolledOut")),
		in(rule, "the template is not asked", "pass.proof", instead("mayRunLoops", "false")),
		in(rule, "the Lease is not asked", "pass.proof", instead("leaseDoubt", `""`)),
		in(rule, "a Lease that was acquired before the container started counts",
			"heldBySilentPod", without("AcquireTime")),
		in(rule, "a renewal after the holder's end does not contradict it",
			"pass.heldByTheDead", without("ChangedAt")),
		in(rule, "an unknown holder is not waited for", "pass.leaseDoubt", never("leaseExpiry")),
		in(rule, "the processes are not recorded", "pass.processesRecorded", skips("addProcesses")),
		in(rule, "processes that appear later are not recorded", "pass.mergeProcesses", skips("addProcesses")),
	}
}

// Rule 2: the fence, the loops and the guard.
func fence() []mutant {
	const rule = "2 probe"
	return []mutant{
		in("2 loops", "gates that are on already are set again", "pass.switchLoopsOff", always("missing")),
		in("2 loops", "the loops are left on", "pass.loopsOff", always("loops noted ==")),
		in("2 loops", "the loops are excluded in a spelling that old versions do not know",
			"loopsOffFlag", against("minor", "20")),
		in("2 loops", "finalize gives the loops back", "inTreeRemoval", lacks("cloud-provider")),
		in("2 guard", "the guard sleeps", "pass.guarded", instead("guard", `holds(ucv1.HoldsReason, "")`)),
		in("2 guard", "what a person stopped because loops came back is applied again",
			"pass.addonsDrift", never("failure")),
		in("2 guard", "loops that come back within the hand-over are fought over",
			"pass.loopsOff", never("loops noted >")),
		in("2 guard", "loops that are off and not noted stay unknown",
			"pass.loopsOff", judged("loops noted ==", "len(loops) == 0")),
		in("2 guard", "the guard sleeps when the migration is completed",
			"pass.evaluate", becomes("StepHandover", `"-"`)),
		in("2 contention", "a contended fence stays open", "pass.contention", never("Fence")),
		in("2 contention", "a fence is opened again by the template alone",
			"pass.beginAgain", does("FenceOpenedAt", "handover.FenceOpenedAt = nil")),
		in("2 contention", "who runs the loops now is not recorded", "pass.beginAgain", skips("addProcesses")),
		in("2 contention", "a fence that someone closed is opened without the proof",
			"pass.fenceStaysOpen", never("doubts")),
		in(rule, "a probe that led for a moment is enough", "pass.probeLeads", against("ProbeLedAt >=", "0")),
		of(leasesPackage, rule, "a Lease that was read before its holder died counts as renewed",
			"leaseTracker.read", always("older")),
		of(providerPackage, rule, "the probe makes its Lease again while it is deleted",
			"Probe", instead("leaseObjects", "FenceObjects(ProbeIdentity(id))")),
		in(rule, "a probe that died may be another process", "pass.probeLeads", without("Holder ProbeHolder ==")),
		in(rule, "KCM is touched while the probe runs", "pass.probeGone", never("Left")),
		in(rule, "a CCM that changed is not probed again", "pass.applied", skips("forgetProbe")),
		in("2 serialized", "the workload is not withheld", "withholdsWorkload", negated("WorkloadAllowedAt")),
		in("2 serialized", "a look that did not withhold the workload is acted on",
			"pass.applied", negated("WorkloadWithheld")),
		in("2 fence", "the CCM's Lease is taken before it has run out", "pass.fenceOpen", without("Stale")),
		in("2 serialized", "the fence is used although it does not hold", "pass.chooseProtocol", always("Allowed")),
		in("2 created", "a CCM is put beside a KCM that runs loops", "judgeInputs", never("runningLoops")),
		in("2 created", "a Cluster that was created with the feature is migrated",
			"pass.resolveOrigin", becomes("Origin OriginExternal", "ucv1.OriginMigrating")),
		in("2 fence", "a fence that does not hold is built on",
			"pass.fenceHolds", returns("FenceIneffectiveReason", `holds(ucv1.HoldsReason, "")`)),
		in("2 fence", "a fence that stands open counts although KCM runs loops", "pass.openFenceHolds", always("==")),
		in("2 fence", "the fence is opened while a Node is NotReady", "pass.fenceOpen", never("nodesReady")),
		in("2 names", "load balancers are named again", "inherit", instead("kcmClusterName", `"kubernetes"`)),
	}
}

// Rule 3: unknown never reads as absent.
func unknowns() []mutant {
	const rule = "3 unknown"
	return []mutant{
		ofObservation(rule, "a fact that no one filled in is absent",
			"Observed.IsUnknown", never("couldNotLook")).
			and("Observed.IsAbsent", or("absent", "o.state == couldNotLook")),
		in(rule, "Machines that cannot be looked at are none", "pass.seesRoll", never("Machines IsKnown")),
		in(rule, "an inventory that cannot be looked at is the same", "pass.verify", never("unknown")),
		in(rule, "addons that cannot be looked at are fine",
			"pass.unseenAddons", returns("cannotLook", `holds(ucv1.HoldsReason, "")`)),
		in(rule, "Nodes that cannot be looked at are none", "pass.leading", never("known")),
		in(rule, "a KCM that cannot be looked at is silent", "pass.proof", returns("UnknownState why", "nil")),
		in(rule, "a deleted Cluster goes although its Machines cannot be looked at",
			"pass.leaveRoll", never("Machines IsUnknown")),
	}
}
