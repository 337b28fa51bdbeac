package main

// What the status says is never out of date without a word, and never a text that harms.
func statuses() []mutant {
	const rule = "status"
	return []mutant{
		of(statusPackage, rule, "what a user cluster says is shown as it is", "Compute", skips("neutral")),
		of(terminalPackage, rule, "JSON says to a terminal what it is told", "encode", instead("escaped", "out.String()")),
		of(cliPackage, rule, "an error says to a terminal what it is told", "command", skips("SetErr")),
		of(reportPackage, rule, "a command does what a spec says", "quotes.quote", always("MatchString value")),
		of(reportPackage, rule, "why does not say what a pause does not stop", "pausedCondition", always("said ConditionTrue")),
		of(statusPackage, rule, "a pause stops a roll, it says", "pausedMessage", always("rollsOn")),
		of(statusPackage, rule, "the timeline is shown as it is", "Entries", skips("neutral")),
		of(statusPackage, rule, "flags that a rollback gives back are changed", "eachText", lacks("OriginalArguments")),
		of(clusterControllerPackage, rule, "a status that is refused leaves the last one", "reporter.report", never("isRefused")),
		of(clusterControllerPackage, rule, "a definition that is too old goes unseen", "isRefused", never("Contains")),
		of(clusterControllerPackage, rule, "a pass that panicked is made again at once", "Reconciler.guardedPass",
			skips("panics keep")),
		of(clusterControllerPackage, rule, "a change does not make it again", "panics.wait", without("Generation")),
		of(clusterControllerPackage, rule, "a suspect does not wait for the others", "Suspects.mayBeAlone", never("othersPassed")),
		of(clusterControllerPackage, rule, "a suspect is read beside others", "Suspects.mayBeAlone", always("running")),
		of(clusterControllerPackage, rule, "others are read beside a suspect", "Suspects.begin", never("alone nextUntil")),
		of(clusterControllerPackage, rule, "a fleet that never pauses keeps a suspect away", "Suspects.mayBeAlone",
			never("suspectPatience")),
		of(clusterControllerPackage, rule, "the file of a pass is not there before the read", "Suspects.begin", skips("write 0")),
		of(clusterControllerPackage, rule, "a death alone does not count", "Suspects.begin",
			does("write deaths", "s.write(key, one.deaths)")),
		of(clusterControllerPackage, rule, "a culprit is read again at once", "patience", always("deaths")),
		of(clusterControllerPackage, rule, "a success does not clear a suspect", "Suspects.end", skips("delete")),
		of(statusPackage, rule, "a pass that panicked calls no person", "Interrupted",
			skips("StalledCondition ConditionTrue")).onlyBy(clusterControllerPackage),
		of(readsPackage, rule, "a panic beside others is lost", "Concurrently", never("ok")),
	}
}

// One bad cluster takes no memory that others need.
func bounds() []mutant {
	const rule = "bounds"
	return []mutant{
		of(userClusterPackage, rule, "a kubeconfig may have any size", "loadKubeconfig", never("maxKubeconfig")),
		of(readsPackage, rule, "a kubeconfig may use aliases", "YAMLProblem", never("AliasNode")).onlyBy(userClusterPackage),
		of(readsPackage, rule, "a kubeconfig may be as deep as it likes", "YAMLProblem", never("depth 0")).onlyBy(userClusterPackage),
	}
}
