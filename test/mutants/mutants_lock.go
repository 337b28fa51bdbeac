package main

// Rule 2 where the hand-over is made by the migration lock: beside a CCM that leads with it, none runs the loops
// without it.
func migrationLock() []mutant {
	const rule = "2 lock"
	return []mutant{
		in(rule, "any file is our lock", "armed", judged("lockPath", `path != ""`)),
		in(rule, "a KCM that does not elect has the lock", "armed", without("leader-elect")),
		in(rule, "live pods without the lock are not asked", "pass.unlockedProcesses", never("mayRunUnlocked")),
		in(rule, "recorded processes are not asked for the lock", "pass.unlockedProcesses", never("EndedAt seen")),
		in(rule, "the rollout of the lock need not end", "pass.lockDoubts", never("RolledOut")),
		in(rule, "KCM's Lease is not asked for the lock", "pass.lockDoubts", never("leaseDoubt")),
		in(rule, "a held lock is no objection", "pass.lockIsHeld", never("Holder")),
		in(rule, "a KCM that lost the lock gets it again", "pass.kcmArmed", never("LockArmedAt !=")),
		in(rule, "the lock need not be held", "pass.lockHeld", never("Holder Renewed")),
		in(rule, "a lock is taken from whoever holds it", "pass.lockAwaited", without("heldByTheDead")),
		in(rule, "another process of the CCM has the lock", "pass.lockTaken", without("CCMLease")),
		in(rule, "a lock that is held is deleted", "pass.lockGone", never("Holder Stale")),
		in(rule, "the lock stays in KCM", "disarm", skips("Unmount")),
	}
}
