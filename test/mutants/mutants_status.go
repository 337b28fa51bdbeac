package main

// What the status says is never out of date without a word, and never a text that harms.
func statuses() []mutant {
	const rule = "status"
	return []mutant{
		of(clusterControllerPackage, rule, "what a user cluster says is shown as it is", "computeStatus", skips("neutral")),
		of(cliPackage, rule, "JSON says to a terminal what it is told", "encode", instead("escaped", "out.String()")),
		of(cliPackage, rule, "an error says to a terminal what it is told", "Command", skips("SetErr")),
		of(cliPackage, rule, "a command does what a spec says", "quotes.quote", always("MatchString value")),
		of(clusterControllerPackage, rule, "the timeline is shown as it is", "entriesOf", skips("neutral")),
		of(clusterControllerPackage, rule, "flags that a rollback gives back are changed", "eachText", lacks("OriginalArguments")),
		of(clusterControllerPackage, rule, "a status that is refused leaves the last one", "Reconciler.report", never("isRefused")),
		of(clusterControllerPackage, rule, "a definition that is too old goes unseen", "isRefused", never("Contains")),
		of(clusterControllerPackage, rule, "a pass that panicked is made again at once", "Reconciler.guardedPass", skips("panics keep")),
		of(clusterControllerPackage, rule, "a change does not make it again", "panics.wait", without("Generation")),
		of(clusterControllerPackage, rule, "a pass that panicked calls no person", "Reconciler.interrupt", skips("StalledCondition ConditionTrue")),
		of(userClusterPackage, rule, "a panic beside others is lost", "concurrently", never("ok")),
	}
}

// One bad cluster takes no memory that others need.
func bounds() []mutant {
	const rule = "bounds"
	return []mutant{
		of(userClusterPackage, rule, "a kubeconfig may have any size", "loadKubeconfig", never("maxKubeconfig")),
		of(userClusterPackage, rule, "a kubeconfig may use aliases", "boundedNode", never("AliasNode")),
		of(userClusterPackage, rule, "a kubeconfig may be as deep as it likes", "boundedNode", never("depth 0")),
	}
}
