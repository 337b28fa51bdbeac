package main

// Rule 2 where the hand-over is made by the migration lock: a CCM that leads with it is beside nobody who runs the loops
// without it.
func migrationLock() []mutant {
	inLock := func(name, old, changed string) mutant { return in("2 lock", name, "lock.go", old, changed) }
	inLines := func(name, old, changed string) mutant { return in("2 lock", name, "lock_lines.go", old, changed) }
	return []mutant{
		inLock("any file is our lock", "path == lockPath", "path != \"\""),
		inLock("a KCM that does not elect has the lock", " && arguments.True(\"leader-elect\", true)\n}", "\n}"),
		inLock("live pods without the lock are not asked",
			"if !process.Ended && !ended[process.PodUID] && mayRunUnlocked(process.Arguments) {", "if false {"),
		inLock("recorded processes are not asked for the lock",
			"if process.EndedAt == nil && !seen[process.PodUID] {", "if false {"),
		inLock("the rollout of the lock need not end", "if !kcm.RolledOut {", "if false {"),
		inLock("KCM's Lease is not asked for the lock", "if doubt := p.leaseDoubt(kcm); doubt != \"\" {", "if doubt := p.leaseDoubt(kcm); false {"),
		inLock("a held lock is no objection", "case known && lock.Lease.Holder != \"\" && !lock.Lease.stale(p.now):", "case false:"),
		inLines("a KCM that lost the lock gets it again", "if p.facts.Handover.LockArmedAt != nil {", "if false {"),
		inLines("the lock need not be held", "case lock.Lease.Holder == \"\" || !lock.Lease.renewed(p.now):", "case lock.Granted && false:"),
		inLines("a lock is taken from whoever holds it", "lease.Holder != \"\" && p.heldByTheDead(lease)", "lease.Holder != \"\""),
		inLines("another process of the CCM has the lock", " && lock.Lease.Holder == p.o.CCMLease.Value().Holder", ""),
		inLines("a lock that is held is deleted", "case lock.Lease.Holder != \"\" && !lock.Lease.stale(p.now):", "case false:"),
		inLines("the lock stays in KCM", "	change.Unmount = true\n", ""),
	}
}
