package main

// A Cluster that returns under its name goes on where it was, and one that is deleted goes at a safe row only.
func records() []mutant {
	const rule = "2 and 5 a Cluster that returns"
	return []mutant{
		in(rule, "what an earlier Cluster recorded is not taken up", "pass.recall", always("resolved IsAbsent")),
		inTables(rule, "a record that cannot be looked at is none", "pass.recall", begins("if p.o.Record.IsUnknown() {\n\t\treturn Decision{}, false\n\t}")),
		inTables(rule, "a record that is refused is used", "pass.recall", never("refused != feature")),
		inTables(rule, "with the feature off no one is called", "pass.recall", always("StartedAt")),
		inTables(rule, "a record of another control plane is used", "pass.refusal", never("Keeper UID")),
		inTables(rule, "a record of another provider is used", "pass.refusal", never("Provider provider")),
		inTables(rule, "a record that cannot be read is used", "pass.refusal", never("Problem")),
		inTables(rule, "no one asks whose record it is", "pass.refusal", never("known")),
		inTables(rule, "a fact of a newer version is left out", "decodeFacts", skips("DisallowUnknownFields")),
		of(clusterControllerPackage, rule, "the status comes without its record", "Reconciler.persist", never("keepRecord")),
		of(clusterControllerPackage, rule, "the record of an earlier fact will do", "Reconciler.keepRecord", without("Holds")),
		of(clusterControllerPackage, rule, "the record goes with the Cluster", "owners", becomes("Kind keeper", `"Cluster"`)),
		in(rule, "a deleted Cluster goes while no one runs the cloud loops", "pass.decideDeletion", or("untouched", "true")),
		in(rule, "a deleted Cluster goes in the middle of the roll", "pass.decideDeletion", never("Facts")),
		in(rule, "a deleted Cluster goes before a manager is seen to run the cloud loops", "pass.decideDeletion", never("attendedFirst")),
		in(rule, "a deleted Cluster goes while KCM may run the loops again", "pass.attendedFirst", lacks("guarded")),
		in(rule, "a deleted Cluster goes although other CCMs cannot be looked at", "pass.attendedFirst", lacks("alone")),
		in(rule, "a deleted Cluster goes with a CCM that was just deleted", "pass.attendedFirst", without("ccmAsApplied")),
		in(rule, "what a deleted Cluster is attended by is not repaired", "pass.attendedFirst", never("addonsDrift")),
		in(rule, "what could not be looked at is repaired before a Cluster goes", "pass.attendedFirst", without("Wait Unknown")),
		inTables(rule, "a deleted Cluster waits for what another tool applies", "pass.ccmAsApplied", without("AddonsReleased")),
		in(rule, "a deleted Cluster goes while its fence cannot be looked at", "pass.ccmSeenToLead", never("Fence IsKnown")),
		in(rule, "a deleted Cluster goes while the CCM's Lease cannot be looked at", "pass.ccmSeenToLead", never("CCMLease IsUnknown")),
		in(rule, "a deleted Cluster goes while the CCM's processes cannot be looked at", "pass.ccmSeenToLead", never("CCMProcesses IsKnown")),
		in(rule, "a deleted Cluster goes while its fence is closed", "pass.ccmSeenToLead", never("fenceWasClosed")),
		in(rule, "a deleted Cluster goes with a leader that has ended", "pass.leaderLives", never("Ended")),
		inTables(rule, "a deleted Cluster goes with a CCM that crashes at every start", "pass.leaderLives", never("Alive")),
		inTables(rule, "without Nodes a closed fence stays closed", "pass.drift", begins("if p.healthy(p.o.Addons.Value()).Reason == ucv1.NoNodesReason {\n\t\treturn outcome.Holds(ucv1.NoNodesReason, \"\")\n\t}")),
		inTables(rule, "an undo is offered to a Cluster that is deleted", "pass.undoOffer", without("DeletionTimestamp")),
		inTables(rule, "any value of annotation abandon lets it go", "pass.letsGo", judged("AbandonAnnotation", "len(p.o.Cluster.Annotations) > 0")),
		inTables(rule, "a control plane that cannot be looked at is gone", "pass.letsGo", judged("IsAbsent", "!p.o.ControlPlane.IsKnown()")),
		inTables(rule, "a Cluster that stays is let go", "pass.decide", judged("deleted why", `why != ""`)),
	}
}
