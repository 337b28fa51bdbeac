package main

// The rules of the migration lock: no loop in two managers, none in no manager.
func locks() []mutant {
	const rule = "lock"
	return []mutant{
		of(leaderMigrationPackage, rule, "the names of before 1.28 are compared for ever",
			"RegisteredName", always("renamedMinor")),
		of(leaderMigrationPackage, rule, "any lock keeps the managers apart", "runTwice", without("Lock Name")),
		of(leaderMigrationPackage, rule, "the main lock of one side is enough",
			"runTwice", either("here MigrationLock")),
		of(leaderMigrationPackage, rule, "a loop may leave its lock", "immutableLoops", always("before after")),
		of(leaderMigrationPackage, rule, "two locks may share a loop", "sharedLoops", never("shared")),
		of(leaderMigrationPackage, rule, "a lock may run in both managers of a minor", "oneManager", always("ccm")),
		of(leaderMigrationPackage, rule, "a patch release may change a lock",
			"patchesKeepLocks", judged("describeLock", "c.Manager == other.Manager")),
		of(leaderMigrationPackage, rule, "a CCM with the lock may start beside any KCM",
			"besideArmedKCM", or("partner", "minor > 0")),
		of(leaderMigrationPackage, rule, "a CCM may be newer than the API server",
			"skew", compared("server -1", "<=")),
		of(leaderMigrationPackage, rule, "a KCM that dies of the lock is armed",
			"BadReleasesOf", returns("bad true", "bad, false")),
		of(leaderMigrationPackage, rule, "a CCM that ignores the lock gets it",
			"providerRules", never("HonoursLock")),
	}
}
