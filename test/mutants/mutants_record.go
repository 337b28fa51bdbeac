package main

// A Cluster that returns under its name goes on where it was, and one that is deleted goes at a safe row only.
func records() []mutant {
	const rule = "2 and 5 a Cluster that returns"
	return []mutant{
		in(rule, "what an earlier Cluster recorded is not taken up", "recall", always("resolved IsAbsent")),
		inTables(rule, "a record that cannot be looked at is none", "recall",
			begins("if in.Record.IsUnknown() {\n\t\treturn Decision{}, false\n\t}")),
		inTables(rule, "a record that is refused is used", "recall", never("refused != feature")),
		inTables(rule, "with the feature off no one is called", "recall", always("StartedAt")),
		inTables(rule, "a record of another control plane is used", "refusal", never("Keeper UID")),
		inTables(rule, "a record of another provider is used", "refusal", never("Provider provider")),
		inTables(rule, "a record that cannot be read is used", "refusal", never("Problem")),
		inTables(rule, "no one asks whose record it is", "refusal", never("known")),
		inTables(rule, "a fact of a newer version is left out", "decodeFacts", skips("DisallowUnknownFields")),
		of(clusterControllerPackage, rule, "the status comes without its record", "reporter.persist", never("keepRecord")),
		of(clusterControllerPackage, rule, "the record of an earlier fact will do", "writer.keepRecord", without("Holds")),
		of(clusterControllerPackage, rule, "the record goes with the Cluster", "owners", becomes("Kind keeper", `"Cluster"`)),
		in(rule, "a deleted Cluster goes while no one runs the cloud loops", "decideDeletion", or("Untouched", "true")),
		in(rule, "a deleted Cluster goes in the middle of the roll", "decideDeletion", never("Leave")),
		in(rule, "a deleted Cluster goes before a manager is seen to run the cloud loops", "decideDeletion", never("attendedFirst")),
		in(rule, "a deleted Cluster goes while KCM may run the loops again", "attendedFirst", never("Guarded")),
		in(rule, "a deleted Cluster goes although other CCMs cannot be looked at", "attendedFirst", never("NoOtherManager")),
		in(rule, "a deleted Cluster goes with a CCM that was just deleted", "attendedFirst", without("ccmAsApplied")),
		in(rule, "what a deleted Cluster is attended by is not repaired", "attendedFirst", never("addonsDrift")),
		in(rule, "what could not be looked at is repaired before a Cluster goes", "attendedFirst", without("Wait Unknown")),
		inTables(rule, "a deleted Cluster waits for what another tool applies", "ccmAsApplied", without("AddonsReleased")),
		in(rule, "a deleted Cluster goes while its fence cannot be looked at", "ccmSeenToLead", never("Fence IsKnown")),
		in(rule, "a deleted Cluster goes while the CCM's Lease cannot be looked at", "ccmSeenToLead", never("CCMLease IsUnknown")),
		in(rule, "a deleted Cluster goes while the CCM's processes cannot be looked at", "ccmSeenToLead",
			never("CCMProcesses IsKnown")),
		in(rule, "a deleted Cluster goes while its fence is closed", "ccmSeenToLead", never("fenceWasClosed")),
		in(rule, "a deleted Cluster goes with a leader that has ended", "loops.LeaderLives", never("Ended")),
		inTables(rule, "a deleted Cluster goes with a CCM that crashes at every start", "loops.LeaderLives", never("Alive")),
		inTables(rule, "without Nodes a closed fence stays closed", "drift",
			begins("if applied.Healthy(in, in.Addons.Value()).Reason == ucv1.NoNodesReason {\n\t\treturn "+
				"outcome.Holds(ucv1.NoNodesReason, \"\")\n\t}")),
		inTables(rule, "a rollback is offered to a Cluster that is deleted", "noreturn.OfferRollback", without("DeletionTimestamp")),
		inTables(rule, "any value of annotation abandon lets it go", "letsGo",
			judged("AbandonAnnotation", "len(in.Cluster.Annotations) > 0")),
		inTables(rule, "a control plane that cannot be looked at is gone", "letsGo", judged("IsAbsent", "!in.ControlPlane.IsKnown()")),
		inTables(rule, "a Cluster that stays is let go", "decide", judged("deleted why", `why != ""`)),
	}
}
