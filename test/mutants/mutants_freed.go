package main

// Rule 2 where a Lease is freed of a process that has ended: each item of the proof by itself.
func freedLeases() []mutant {
	const rule = "2 freed"
	return []mutant{
		of(userClusterPackage, rule, "the subject of any token is a user", "claimsOf", always("HasPrefix")),
		of(userClusterPackage, rule, "an API server that may not tell who we are is not believed", "Session.whoWeAre", always("IsNotFound")),
		in(rule, "two processes may be the holder", "formerLease.holder", compared("len able", ">")),
		in(rule, "another process with its hostname does not matter",
			"formerLease.holder", or("Hostname", "process.Hostname == hostname && !process.Ended")),
		inTables(rule, "one that acquired it before its start", "formerLease.holder", without("AcquireTime StartedAt")),
		in(rule, "under a Node's hostname all are seen", "formerLease.holder", becomes("unseen", "false")),
		in(rule, "one that goes on", "formerLease.endedBefore", never("Ended")),
		inTables(rule, "an end without a container ID", "formerLease.endedBefore", never("ContainerID")),
		inTables(rule, "a renewal after its end does not contradict it", "formerLease.endedBefore", never("RenewTime")),
		inTables(rule, "it need not stand still", "formerLease.endedBefore", lacks("ChangedAt")),
		inTables(rule, "it need not be watched", "formerLease.endedBefore", lacks("WatchedAt")),
		inTables(rule, "for no time", "pass.freeLease", against("left <=", "time.Hour")),
		inTables(rule, "where no migration goes on", "pass.interrupts", without("StartedAt")),
		in(rule, "when all is finished", "pass.interrupts", always("CompletedAt")),
		inTables(rule, "the fence is closed", "pass.formerLeases", without("Fence")),
		inTables(rule, "other CCMs may be there", "pass.formerLeases", without("alone")),
		inTables(rule, "KCM's Lease without the right to", "pass.formerLeases", without("KCMLeaseRight")),
		inTables(rule, "of any type", "pass.electsByLease", without("leases")),
		inTables(rule, "of KCMs of which one elects otherwise", "pass.kcmLease", without("ContainsFunc")),
		inTables(rule, "where someone else changes KCM", "pass.kcmLease", without("Instructed")),
		inTables(rule, "of a KCM under a Node's hostname", "formerLease.holder", without("bound")),
		inTables(rule, "the right is kept while all is finished", "pass.rightGone", always("granted")),
		inTables(rule, "the right is kept when the Cluster goes", "pass.revokedFirst", never("granted")),
		inTables(rule, "the right is kept when it is undone", "pass.undoAddons", never("granted")),
		inTables(rule, "the right goes before the Lease is free", "pass.rightIsOver", without("kcmLeaseOrphaned")),
		inTables(rule, "the right goes while KCM rolls out", "pass.rightIsOver", without("RolledOut")),
		inTables(rule, "what it took the place of is recorded", "pass.instead", skips("facts before")),
		inTables(rule, "one that has run out for long", "formerLease.endedBefore", never("stale")),
		of(userClusterPackage, rule, "whatever was written since", "Session.FreeLease", lacks("resourceVersion")),
		of(userClusterPackage, rule, "another one of its name", "Session.FreeLease", lacks("uid")),
		of(userClusterPackage, rule, "a right that is refused is an error", "leftAlone", never("IsForbidden")),
		of(userClusterPackage, rule, "the right is for whoever is named first", "Session.GrantLease", never("user")),
		of(controlPlanePackage, rule, "a pod that is gone has ended",
			"Former.Gone", goesOn("gone seenAt", `for name, process := range entry.processes { process.Ended = true; entry.processes[name] = process }`)),
	}
}
