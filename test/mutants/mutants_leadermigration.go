package main

// inLock makes a mutant of the migration lock's tables and rules.
func inLock(name, file, old, changed string) mutant {
	return mutant{
		rule: "lock", name: name, file: "pkg/leadermigration/" + file, old: old, new: changed,
		packages: []string{leaderMigrationPackage},
	}
}

// The rules of the migration lock: no loop in two managers, none in no manager.
func locks() []mutant {
	return []mutant{
		inLock("the names of before 1.28 are compared for ever", "names.go",
			"	if minor < renamedMinor {\n\t\treturn string(loop)", "	if minor > 0 {\n\t\treturn string(loop)"),
		inLock("any lock keeps the managers apart", "rules_releases.go", "ccm.Lock.Name == kcm.Lock.Name && ", ""),
		inLock("the main lock of one side is enough", "rules_releases.go",
			"here == MigrationLock && there == MigrationLock", "(here == MigrationLock || there == MigrationLock)"),
		inLock("a loop may leave its lock", "rules_lock.go", "if slices.Equal(before, after) {", "if len(before) > 0 {"),
		inLock("two locks may share a loop", "rules_lock.go", "newer...)...), len(shared) > 0", "newer...)...), len(shared) < 0"),
		inLock("a lock may run in both managers of a minor", "rules_lock.go", "if len(kcm) == 0 || len(ccm) == 0 {", "if len(kcm) == 0 || len(ccm) >= 0 {"),
		inLock("a patch release may change a lock", "rules_lock.go", "if c.describeLock() == other.describeLock() {", "if c.Manager == other.Manager {"),
		inLock("a CCM with the lock may start beside any KCM", "rules_releases.go", "if c.Manager != CCM || partner {", "if c.Manager != CCM || partner || minor > 0 {"),
		inLock("a CCM may be newer than the API server", "rules_releases.go",
			"return server.Minor == c.Version.Minor ||", "return server.Minor <= c.Version.Minor ||"),
		inLock("a KCM that dies of the lock is armed", "bad.go", "			return bad, true\n", "			return bad, false\n"),
		inLock("a CCM that ignores the lock gets it", "rules_releases.go", "case c.Manager == CCM && !provider.HonoursLock:", "case c.Manager == CCM && provider.Name == \"-\":"),
	}
}
