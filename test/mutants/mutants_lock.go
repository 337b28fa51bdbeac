package main

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
