package main

import (
	"slices"
	"strings"
)

// The packages that are broken, and whose tests are to notice it.
const (
	apiPackage               = "api/v1alpha1"
	baselinePackage          = "pkg/baseline"
	cliPackage               = "internal/cli"
	dashboardPackage         = "internal/cli/dashboard"
	managerPackage           = "internal/cli/manager"
	reportPackage            = "internal/cli/report"
	supportBundlePackage     = "internal/cli/supportbundle"
	terminalPackage          = "internal/cli/terminal"
	clusterControllerPackage = "controllers/cluster"
	statusPackage            = "controllers/cluster/status"
	controlPlanePackage      = "pkg/controlplane"
	fleetPackage             = "pkg/fleet"
	fleetControllerPackage   = "controllers/fleetmigration"
	windowPackage            = "pkg/fleet/window"
	forecastPackage          = "pkg/fleet/forecast"
	handoverPackage          = "pkg/handover"
	keptPackage              = "pkg/kept"
	leaderMigrationPackage   = "pkg/leadermigration"
	migrationPackage         = "pkg/migration"
	observationPackage       = "pkg/observation"
	planPackage              = "pkg/migration/plan"
	preflightPackage         = "pkg/migration/preflight"
	simulationPackage        = "pkg/simulation"
	simtestPackage           = "pkg/simulation/simtest"
	sloPackage               = "pkg/slo"
	providerPackage          = "pkg/provider"
	manifestPackage          = "pkg/provider/manifest"
	renderPackage            = "pkg/provider/render"
	versionsPackage          = "pkg/provider/versions"
	overlayPackage           = "pkg/provider/overlay"
	managersPackage          = "pkg/provider/managers"
	vspherePackage           = "pkg/provider/clouds/vsphere"
	registrationPackage      = "pkg/registration"
	rolloutPackage           = "pkg/rollout"
	userClusterPackage       = "pkg/usercluster"
	addonsPackage            = "pkg/usercluster/addons"
	factsPackage             = "pkg/usercluster/facts"
	balancersPackage         = "pkg/loadbalancers"
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
		facts(), locks(), staticEnds(), instructed(), instructedLock(), migrationLock(), acrossMinors(), pointOfNoReturn(),
		rollback(), rolledBackLock(), attendance(),
		rolledBackMachines(), profiles(), placements(), proposals(), versionRules(), others(), addresses(), defaultClasses(), shared(),
		renamedLoadBalancers(),
		preflightRules(), looksAhead(), canaries(), refusedWrites(), breaker(), bootstrapData(), approvals(), objectives(), inventories(), volumes(),
		statuses(), bounds(), reports(),
		network(), managementServer(), definitions(), shares(), records(), deputies(), freedLeases(), keptReads(), windows(), fleets(),
		admissions(), turns(), queues(),
		forecasts(), dashboards(), supportBundles(),
	)
}

// of makes a mutant of a package that the package's own tests are to kill.
func of(folder, rule, name, function string, how operator) mutant {
	return mutant{rule: rule, name: name, folder: folder, faults: []fault{{function, how}}, packages: []string{folder}}
}

// in makes a mutant of pkg/migration or, as "start.Approved", of a room in it, which the tables of the decisions and the
// simulation are to kill.
func in(rule, name, function string, how operator) mutant {
	return inTables(rule, name, function, how).by(simtestPackage)
}

// inTables makes one that the tables are to kill: the simulation has nothing of the sort.
func inTables(rule, name, function string, how operator) mutant {
	folder := migrationPackage
	rooms := []string{"pass", "components", "noreturn", "start", "applied", "loops", "rollback"}
	if room, inRoom, _ := strings.Cut(function, "."); slices.Contains(rooms, room) {
		folder, function = migrationPackage+"/"+room, inRoom
	}
	return of(folder, rule, name, function, how).onlyBy(migrationPackage)
}

// ofObservation makes a mutant of the words that decisions rest on: the tables of these and the simulation are to kill it.
func ofObservation(rule, name, function string, how operator) mutant {
	return of(observationPackage, rule, name, function, how).onlyBy(migrationPackage, simtestPackage)
}

// ofBaseline makes a mutant of the baseline and its comparison, which its own tables are to kill, or those of the decisions.
func ofBaseline(rule, name, function string, how operator) mutant {
	return of(baselinePackage, rule, name, function, how).by(migrationPackage, simtestPackage)
}

// ofHandover makes a mutant of the proof of silence, which the tables of the decisions and the simulation are to kill.
func ofHandover(rule, name, function string, how operator) mutant {
	return of(handoverPackage, rule, name, function, how).onlyBy(migrationPackage, simtestPackage)
}

// ofHandoverTables makes one that the tables are to kill.
func ofHandoverTables(rule, name, function string, how operator) mutant {
	return of(handoverPackage, rule, name, function, how).onlyBy(migrationPackage)
}

// ofRollout makes a mutant of the roll, which the tables of the decisions and the simulation are to kill.
func ofRollout(rule, name, function string, how operator) mutant {
	return of(rolloutPackage, rule, name, function, how).by(migrationPackage, simtestPackage)
}

// ofRolloutTables makes one that the tables are to kill: the simulation has nothing of the sort.
func ofRolloutTables(rule, name, function string, how operator) mutant {
	return of(rolloutPackage, rule, name, function, how).by(migrationPackage)
}

// Rule 1: it ends.
func endings() []mutant {
	const rule = "1 ends"
	return []mutant{
		in(rule, "the soak begins again in every pass", "soak", always("since nil")),
		in(rule, "preflight is judged again after the start", "start.Preflight", never("StartedAt")),
		in(rule, "a finished hand-over is walked again", "loops.HandOver", never("FinishedAt")),
		in(rule, "a wait in the hand-over may take forever", "loops.failAfterDeadline", always("started")),
	}
}

// Rule 2: no loop in two managers. One mutant for each item of the proof of silence.
func silence() []mutant {
	const rule = "2 proof"
	return []mutant{
		in(rule, "doubts do not matter", "loops.silent", always("==")),
		ofHandover(rule, "a pod that vanished has ended",
			"processDoubts", given("EndedAt ==", "process.VanishedAt == nil")),
		ofHandover(rule, "recorded processes are not asked", "processDoubts", never("EndedAt named")),
		ofHandover(rule, "live pods are not asked", "processDoubts", always("ConfigHash")),
		ofHandover(rule, "what cannot be read is silent", "MayRunLoops", without("Understood")),
		ofHandover(rule, "a rollout need not end", "prove", never("RolledOut")),
		ofHandover(rule, "the template is not asked", "prove", instead("MayRunLoops", "false")),
		ofHandover(rule, "the Lease is not asked", "prove", instead("LeaseDoubt", "observation.Text{}")),
		ofHandover(rule, "a Lease that was acquired before the container started counts",
			"HeldBySilentPod", without("AcquireTime")),
		ofHandover(rule, "a renewal after the holder's end does not contradict it",
			"HeldByTheDead", without("ChangedAt")),
		ofHandover(rule, "an unknown holder is not waited for", "LeaseDoubt", never("LeaseExpiry")),
		in(rule, "the processes are not recorded", "loops.processesRecorded", does("Processes StartedAt", "facts.Handover.StartedAt = in.Stamp()")),
		in(rule, "processes that appear later are not recorded", "loops.MergeProcesses", skips("RecordProcesses")),
	}
}

// Rule 2: the fence, the loops and the guard.
func fence() []mutant {
	const rule = "2 probe"
	return []mutant{
		in("2 loops", "gates that are on already are set again", "loops.switchLoopsOff", always("missing")),
		in("2 loops", "the loops are left on", "loops.loopsOff", always("loops noted ==")),
		in("2 loops", "the loops are excluded in a spelling that old versions do not know",
			"components.LoopsOffFlag", against("minor", "20")),
		in("2 loops", "finalize gives the loops back", "components.InTreeRemoval", lacks("cloud-provider")),
		in("2 guard", "the guard sleeps", "loops.Guarded", instead("Guard", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in("2 guard", "what a person stopped because loops came back is applied again",
			"addonsDrift", never("Failure")),
		in("2 guard", "loops that come back within the hand-over are fought over",
			"loops.loopsOff", never("loops noted >")),
		in("2 guard", "loops that are off and not noted stay unknown",
			"loops.loopsOff", judged("loops noted ==", "len(loops) == 0")),
		in("2 guard", "the guard sleeps when the migration is completed",
			"evaluate", becomes("StepHandover", `"-"`)),
		in("2 settled", "whoever reconciles KCM gets no time to do so", "loops.settled", becomes("left Reconciler", "in.Deadlines.Reconciler * 0")),
		in("2 settled", "a touch of before the change counts", "loops.settled", judged("Before", "false")),
		in("2 settled", "a fence that opens again after a contention is not settled", "loops.settled",
			judged("Guard Failure", "recorded.ContendedAt != nil")),
		in("2 contention", "a contended fence stays open", "loops.contention", never("Fence")),
		in("2 contention", "a fence is opened again by the template alone",
			"loops.beginAgain", does("FenceOpenedAt", "recorded.FenceOpenedAt = nil")),
		in("2 contention", "who runs the loops now is not recorded", "loops.beginAgain", skips("RecordProcesses")),
		in("2 contention", "a fence that someone closed is opened without the proof",
			"loops.FenceStaysOpen", never("doubts")),
		in(rule, "a probe that led for a moment is enough", "loops.probeLeads", against("ProbeLedAt >=", "0")),
		of(leasesPackage, rule, "a Lease that was read before its holder died counts as renewed",
			"leaseTracker.read", always("older")),
		of(renderPackage, rule, "the probe makes its Lease again while it is deleted",
			"Probe", instead("leaseObjects", "FenceObjects(ProbeIdentity(id))")).onlyBy(providerPackage),
		in(rule, "a probe that died may be another process", "loops.probeLeads", without("Holder ProbeHolder ==")),
		in(rule, "KCM is touched while the probe runs", "loops.probeGone", never("Left")),
		in(rule, "a CCM that changed is not probed again", "applied.Set", skips("forgetProbe")),
		in("2 serialized", "the workload is not withheld", "start.WithholdsWorkload", negated("WorkloadAllowedAt")),
		in("2 serialized", "a look that did not withhold the workload is acted on",
			"applied.Set", negated("WorkloadWithheld")),
		in("2 fence", "the CCM's Lease is taken before it has run out", "loops.fenceOpen", without("Stale")),
		in("2 serialized", "the fence is used although it does not hold", "start.chooseProtocol", always("Allowed")),
		in("2 created", "a CCM is put beside a KCM that runs loops", "start.JudgeInputs", never("RunningLoops")),
		in("2 created", "a Cluster that was created with the feature is migrated",
			"resolveOrigin", does("origin OriginExternal", "origin = ucv1.OriginMigrating")),
		in("2 fence", "a fence that does not hold is built on",
			"loops.fenceHolds", returns("FenceIneffectiveReason", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in("2 fence", "a fence that stands open counts although KCM runs loops", "loops.openFenceHolds", always("==")),
		in("2 fence", "the fence is opened while a Node is NotReady", "loops.fenceOpen", never("NodesReady")),
		in("2 names", "load balancers are named again", "start.Inherit", instead("CCMClusterName", `"kubernetes"`)),
	}
}

// Rule 3: unknown never reads as absent.
func unknowns() []mutant {
	const rule = "3 unknown"
	return []mutant{
		ofObservation(rule, "a fact that no one filled in is absent",
			"Observed.IsUnknown", never("couldNotLook")).
			and("Observed.IsAbsent", or("absent", "o.state == couldNotLook")),
		ofRollout(rule, "Machines that cannot be looked at are none", "seesRoll", never("Machines IsKnown")),
		in(rule, "a fence that could not be looked at counts as open", "loops.FenceStaysOpen", never("seen")),
		in(rule, "an inventory that cannot be looked at is the same", "verify", never("unknown")),
		in(rule, "addons that cannot be looked at are fine",
			"applied.Unseen", returns("CannotLook", `outcome.Holds(ucv1.HoldsReason, "")`)),
		in(rule, "Nodes that cannot be looked at are none", "loops.leading", never("known")),
		ofHandover(rule, "a KCM that cannot be looked at is silent", "prove", returns("UnknownState why", "nil")),
		ofRollout(rule, "a deleted Cluster goes although its Machines cannot be looked at",
			"leave", never("Machines IsUnknown")),
	}
}
