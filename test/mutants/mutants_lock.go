package main

// Rule 2 where the lock goes from KCM of one minor to the CCM of the next one.
func acrossMinors() []mutant {
	const rule = "2 across minors"
	return []mutant{
		inTables(rule, "the CCM comes before the upgrade", "start.WithholdsWorkload", without("AcrossMinors")),
		inTables(rule, "the upgrade is allowed before the volumes are ready", "loops.volumesReady", always("UpgradeAllowedTo")),
		inTables(rule, "the upgrade passes the point of no return unasked", "loops.upgradeAllowed",
			never("LastInTreeMinor PauseBeforePointOfNoReturn")),
		inTables(rule, "an API server that does not answer is upgraded", "loops.apiServersUpgraded", never("IsKnown")),
		inTables(rule, "spec.version need not follow", "loops.apiServersUpgraded", never("minor !=")),
		inTables(rule, "a kube-apiserver that no one sees is upgraded", "start.nextMinorProblems", never("APIServers")),
		inTables(rule, "the next minor need not have a CCM", "start.nextMinorProblems", never("NextVersionProblem")),
		inTables(rule, "KCM gets the names of the next minor", "pass.Input.KCMMinor", never("upgraded")),
		inTables(rule, "the owner's time counts", "components.WaitingSince", never("UpgradeAllowedTo")),
		inTables(rule, "a contention takes the workload away", "loops.beginAgain", always("Serialized")),
		ofHandoverTables(rule, "a rollout of kube-apiserver need not end", "UpgradeDoubt", never("RolledOut")),
		ofHandoverTables(rule, "a Node that is not seen is upgraded", "UpgradeDoubt", never("Unseen")),
		ofHandoverTables(rule, "pods may run two images", "UpgradeDoubt", never("imageOf")),
		ofHandoverTables(rule, "no pod is as good as all", "UpgradeDoubt", becomes("first", "&observation.Process{}")),
		ofHandoverTables(rule, "the answer is not asked for", "UpgradeDoubt", never("MinorOf")),
		inTables(rule, "a CCM that is not well keeps the fence open", "loops.ccmApplied", never("IsKnown")),
		inTables(rule, "the fence need not hold before the CCM comes", "loops.apiServersUpgraded", never("fenceHolds")),
		inTables(rule, "an upgraded kube-apiserver lets a way back", "noreturn.passedByUpgrade", never("version >")),
		inTables(rule, "a pause before the upgrade calls a person", "loops.failAfterDeadline",
			without("WaitingBeforePointOfNoReturnReason")),
		of(providerPackage, rule, "any upgrade is allowed", "upgradeAllowed", without("MinorOf")),
		of(providerPackage, rule, "an upgrade is allowed in a rollback", "upgradeAllowed", without("Rollback")),
		of(controlPlanePackage, rule, "a tag is the image", "newProcess", becomes("ImageID", "process.Image")),
	}
}

// Rule 2 where the hand-over is made by the migration lock: beside a CCM that leads with it, none runs the loops
// without it.
func migrationLock() []mutant {
	const rule = "2 lock"
	return []mutant{
		ofHandover(rule, "any file is our lock", "Armed", judged("LockPath", `path != ""`)),
		ofHandover(rule, "a KCM that does not elect has the lock", "Armed", without("leader-elect")),
		ofHandover(rule, "live pods without the lock are not asked", "unlockedProcesses", never("MayRunUnlocked")),
		ofHandover(rule, "recorded processes are not asked for the lock", "unlockedProcesses", never("EndedAt seen")),
		ofHandover(rule, "the rollout of the lock need not end", "LockDoubts", never("RolledOut")),
		ofHandover(rule, "KCM's Lease is not asked for the lock", "LockDoubts", never("LeaseDoubt")),
		in(rule, "a held lock is no objection", "start.lockIsHeld", never("Holder")),
		in(rule, "a KCM that lost the lock gets it again", "loops.armedByUs", never("LockArmedAt !=")),
		in(rule, "the lock need not be held", "loops.lockHeld", never("Holder Renewed")),
		in(rule, "a lock is taken from whoever holds it", "loops.lockAwaited", without("HeldByTheDead")),
		in(rule, "another process of the CCM has the lock", "loops.lockTaken", without("CCMLease")),
		in(rule, "a lock that is held is deleted", "loops.LockGone", never("Holder Stale")),
		inTables(rule, "that the lock is in both managers of a minor is not said", "start.lockReason", skips("Rule")),
		of(preflightPackage, rule, "that the lock is in both managers of a minor is no finding",
			"brokenLockRules", skips("Message findings")),
		in(rule, "the lock stays in KCM", "components.Disarm", skips("Unmount")),
	}
}
