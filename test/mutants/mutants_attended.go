package main

// What the status says of the cloud loops is so.
func attendance() []mutant {
	const rule = "status attended"
	return []mutant{
		ofObservation(rule, "a Lease that stands still is a manager", "Lease.Alive", without("Fresh")),
		ofObservation(rule, "a Lease that was never seen to change is a manager", "Lease.Alive", without("WatchedAt")),
		ofObservation(rule, "a manager that only acquires its Lease and crashes runs the loops", "Lease.Alive", without("AcquireTime")),
		inTables(rule, "loops that no manager runs are never overdue", "unattended", skips("passed left")),
		inTables(rule, "a manager that only acquires its Lease begins the time again", "unattendedSince", always("AcquireTime before")),
		inTables(rule, "a hibernated control plane counts as unattended", "attend", never("hibernated")),
		inTables(rule, "a CCM that is not ours runs nothing", "attend", never("foreign")),
		inTables(rule, "a CCM that was not let lead cannot be told from one that cannot be looked at", "ccmAttends", never("ccmNotAllowed")),
		inTables(rule, "the way into the user cluster is not said first", "whatToDo", never("Reachable")),
		inTables(rule, "RolledBack does not look at KCM's arguments", "decideRolledBack", never("CloudLoops")),
		inTables(rule, "RolledBack does not look whether KCM leads", "decideRolledBack", never("runsNone")),
		inTables(rule, "what is rolled back starts again without a later time", "retryAt", never("RetryAfter")),
		inTables(rule, "what is rolled back starts again before its time", "migrateOrRollBack", without("Before")),
		inTables(rule, "loops that are off already are kept as what a rollback gives back", "components.KeepOriginals", never("LoopsOffInTree")),
		inTables(rule, "loops that are off already are no finding", "start.checkControlPlane", never("LoopsOffInTree")),
		inTables(rule, "an in-tree cluster whose loops are off is ready", "runsInTree", never("LoopsOffInTree")),
		inTables(rule, "an in-tree cluster whose KCM is external is ready", "runsInTree", never("CloudLoops")),
		inTables(rule, "an in-tree cluster without a KCM is ready", "runsInTree", never("IsAbsent")),
		inTables(rule, "an in-tree cluster whose KCM cannot be looked at is ready", "runsInTree", returns("CannotLook KCMReference", `outcome.Holds("", "")`)),
		inTables(rule, "a hibernated in-tree cluster calls a person", "runsInTree", never("Replicas")),
		inTables(rule, "a look that could not see the Lease claims that KCM leads", "leader", returns("LeaderNotSeen", "ucv1.LeaderLeads")),
		inTables(rule, "a look takes whoever holds KCM's Lease for KCM", "kcmHolds", always("holds")),
		inTables(rule, "a look takes a Lease that ran out for held", "kcmHolds", without("Fresh")),
		inTables(rule, "a pass that did not look claims that KCM has gone on not to lead", "attendInTree", skips("LeaderAt Now")),
		inTables(rule, "a look that saw no leader is not made again soon", "lookAhead", skips("soonerLook")),
		of(statusPackage, rule, "Ready is True although KCM or its Lease could not be looked at", "setReadyInTree", never("ConditionUnknown")),
		of(statusPackage, rule, "a finished cluster is Ready although its manager is not seen", "setReadyFinished", never("unseenForLong")),
		of(statusPackage, rule, "one read that fails is no longer Ready", "unseenForLong", without("LastTransitionTime")),
		of(statusPackage, rule, "a pass that panicked attends", "unseen", always("ConditionTrue")).onlyBy(clusterControllerPackage),
		of(statusPackage, rule, "a verdict stands whatever the spec is now", "setReadiness", without("ObservedGeneration")).onlyBy(clusterControllerPackage),
		inTables(rule, "a second CCM of a dead Lease may run them", "start.OtherManagersRun", instead("bound", "false")),
		inTables(rule, "a KCM that crashes runs them", "kcmAttends", instead("ContainsFunc Ready", "len(able) > 0")),
		of("pkg/usercluster", rule, "a caller that the API server does not know is authorized", "Session.probe", never("system:anonymous")),
	}
}
