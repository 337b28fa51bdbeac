package main

// What an earlier pass read is used again only while it is so, and never for a proof.
func keptReads() []mutant {
	const rule = "kept reads"
	return []mutant{
		of(controlPlanePackage, rule, "the Lease of a Node is looked at now and then", "Reader.withNodes", always("known nodeNames")),
		of(keptPackage, rule, "a change is not noticed", "Value.holds", judged("mark ==", "true")),
		of(keptPackage, rule, "a read is kept for ever", "Value.holds", judged("MostAge", "true")),
		of(keptPackage, rule, "a proof rests on what was kept", "Value.holds", judged("IsFresh", "true")),
		of(keptPackage, rule, "what no watch shows is kept", "Value.Put", never("Watched")),
		of(keptPackage, rule, "what could not be looked at is kept", "Value.Put", without("IsUnknown")),
		of(keptPackage, rule, "what is kept has no bound", "Total.take", never("most")),
		of(keptPackage, rule, "what is forgotten takes room", "Value.forgetLocked", never("Room")),
		of(watchesPackage, rule, "what a watch shows is not counted", "countingStore.changed", skips("count")).onlyBy(userClusterPackage),
		of(watchesPackage, rule, "a watch that ended would show a change", "Watches.markLocked", judged("by stop lasting", "true")).onlyBy(userClusterPackage),
		of(watchesPackage, rule, "what was read takes room at rest", "Watches.stopLocked", skips("Clear")).onlyBy(userClusterPackage),
		of(watchesPackage, rule, "what a watch shows of one object is not counted", "Watches.changedObjectsLocked", skips("count")),
		of(watchesPackage, rule, "what we wrote of one object is not counted", "Watches.Wrote", skips("changedObjectsLocked")),
		of(watchesPackage, rule, "what a list shows of an object is not counted", "countingStore.changed", never("all")),
		of(userClusterPackage, rule, "what we wrote is not counted", "writes.RoundTrip", never("MethodGet")),
		of(userClusterPackage, rule, "a dry run counts as a write", "writes.RoundTrip", without("dryRun")),
		of(leasesPackage, rule, "a Lease that is not renewed is not read", "leaseRecord.standsFor", becomes("mostSilence", "kept.MostAge")),
		of(leasesPackage, rule, "a proof rests on what a watch showed of a Lease", "leaseLook.suffices", judged("IsFresh", "true")),
		of(leasesPackage, rule, "a Lease that we wrote is not read", "leaseLook.suffices", judged("writes", "true")),
		of(leasesPackage, rule, "a Lease stands that a watch shows otherwise", "leaseTracker.read", judged("told", "true")),
		of(leasesPackage, rule, "what a watch shows later counts as read", "leaseTracker.note", skips("readAt")),
		of(addonsPackage, rule, "a comparison outlives a change of what no set has", "addonMemory.invalidate", never("having")),
		of(addonsPackage, rule, "a comparison that a change overtook is kept", "addonMemory.keep", judged("change ==", "true")),
		of(machineControllerPackage, rule, "what is kept of owners lacks a new one", "readOwners", never("lacksOne")),
		of(leasesPackage, rule, "a proof takes a version that may be older than what was read", "leaseTracker.deliver", judged("exists", "true")),
		of(factsPackage, rule, "a workload of someone else ends no look", "otherMemory.changed", never("ours invalidate")),
		of(factsPackage, rule, "a fence opens by an earlier look at other CCMs", "otherMemory.recall", judged("IsFresh", "true")),
		of(factsPackage, rule, "a pod that changed is no manager's for ever", "look.loosePods", judged("version ==", "true")),
		of(clusterControllerPackage, rule, "what a decision rests on is not read again", "Reconciler.decide", never("Covers")),
		of(clusterControllerPackage, rule, "a second look forgets the machine-controller in the user cluster", "Observer.observeControlPlane", always("MachineControllerInUserCluster")),
		of(clusterControllerPackage, rule, "what a proof rests on is not read again", "Observer.observeAgain", skips("observeControlPlane")),
		inTables(rule, "an action of the hand-over rests on what was kept", "ConfirmationOf", becomes("Managers Proof", "false")),
		inTables(rule, "a fence opens beside what was kept of other CCMs", "ConfirmationOf", lacks("ActionOpenFence")),
		inTables(rule, "a Machine is replaced by what was kept of Nodes", "ConfirmationOf", lacks("ActionStepMachineSet")),
		inTables(rule, "a person is called for what was kept", "isNewFailure", returns("Reason", "false")),
		inTables(rule, "a migration is complete by what was kept", "completes", lacks("StepComplete")),
	}
}
