package main

// What was found before the start keeps the migration back, and what could not be looked at is not passed.
func preflightRules() []mutant {
	const rule = "preflight"
	return []mutant{
		in(rule, "findings do not matter", "start.JudgePreflight", skips("finding objections")),
		in(rule, "one accepted object is all of them", "start.accept", goesOn("because Reason", "left = nil")),
		in(rule, "what is accepted is so for good", "start.accept", without("Until nil Before")),
		in(rule, "another finding is accepted, too", "start.accept", without("ID")),
		in(rule, "the cloud is not asked before the roll", "rollInput", lacks("CloudAsked")),
		ofObservation(rule, "the cloud is asked before the start", "Finding.Blocks", without("BeforeRoll")),
		in("3 unknown", "findings that no one looked for are none", "start.preflightFindings", never("Findings")),
		in("3 unknown", "a check that could not look has passed", "start.JudgePreflight", skips("Unseen")),
		of(preflightPackage, rule, "a look that failed has found nothing", "check.ask", never("unseen")),
		of(preflightPackage, rule, "an unknown leader is no one", "unknownLeader", never("ChangedAt")),
		of(preflightPackage, rule, "a leader that was not watched is dead", "unknownLeader", never("WatchedAt")),
		of(preflightPackage, rule, "a webhook that no one knows of answers", "brokenWebhooks", never("Ready")),
		of(preflightPackage, rule, "credentials that run out block what has started",
			"expiring", without("StartedAt")),
		of(preflightPackage, rule, "what is public is as bad as what is not", "imageCredentials", without("Public")),
		of(preflightPackage, rule, "a term of a volume is enough that matches in part",
			"Term.matches", never("Labels")),
		in(rule, "a cluster gets another name although its load balancers are found by it", "start.checkKCMArguments",
			never("wanted used FreesClusterName")),
		in(rule, "no cluster may get another name", "start.checkKCMArguments", without("FreesClusterName")),
		of(preflightPackage, rule, "the default name of the spec is none", "defaultName",
			instead("CCMClusterName", "cmp.Or(o.Cluster.Spec.Cloud.ClusterName, \"x\")")),
		of(preflightPackage, rule, "a CCM that was there before has put no name on load balancers", "markedNames", never("Marked")),
		of(machineControllerPackage, rule, "a write that is tried is done", "Adapter.tryWrite", lacks("DryRunAll")),
		of(machineControllerPackage, rule, "a webhook that refuses a write was not asked", "Adapter.tryWrite", never("isRefusal")),
		of(machineControllerPackage, rule, "a field of the cloud without a value is none", "rewritten", returns("DeepEqual", "false")),
		of(preflightPackage, rule, "webhooks that could not be asked refuse nothing", "unseenWrites", never("why")),
		of(preflightPackage, rule, "a write that is refused blocks nothing", "refused", instead("severe", "findings")),
		of(preflightPackage, rule, "a budget is said to hold pods whose volumes are detached first, as on vSphere", "neverAllows",
			never("DetachesFirst")),
		of(preflightPackage, rule, "Machines that are being drained have no instance", "quotaUnknown", skips("Replicas")),
		of(factsPackage, rule, "a webhook for everything is for nothing",
			"selects", returns("true", "false, nil")),
		of(factsPackage, rule, "what failed is remembered for long", "Preflight.Read", without("lasting")),
		of(factsPackage, rule, "a finished pod counts", "addPod", never("PodFailed")),
		of(factsPackage, rule, "an event of success answers nothing",
			"Preflight.readCloud", without("answered Before")),
	}
}

// A look at a cluster whose feature is off comes in its turn, and says what it saw.
func looksAhead() []mutant {
	const rule = "look ahead"
	return []mutant{
		inTables(rule, "what was judged and found nothing looks like what was not judged", "start.JudgePreflight", never("found nil")),
		inTables(rule, "a look comes before its time", "looksAhead", without("Before")),
		inTables(rule, "Never is not heeded", "wantsLooks", without("LookAhead")),
		inTables(rule, "a cluster that was migrated is looked at", "wantsLooks", without("OriginMigrating")),
		inTables(rule, "all clusters are looked at at once", "share", returns("span", "0")),
		inTables(rule, "every process chooses the time again", "lookAhead", always("NextAt nil")),
		inTables(rule, "the time of the next look is not chosen", "looked", skips("lookEvery")),
		inTables(rule, "a changed spec is looked at again and again", "nextLook", returns("soon", "look.LookedAt.Time")),
		inTables(rule, "a KCM that does not lead is ready", "readinessOf", never("runsNone")),
		inTables(rule, "what could not be looked at is ready", "readinessOf", never("Wait")),
		inTables(rule, "what was found goes when no one can look", "judgeLook", always("Reachable")),
		inTables(rule, "a stranger who holds the Lease is not watched", "AwaitsLeader", returns("ContainsFunc", "false")),
		of(clusterControllerPackage, rule, "looks do not take turns", "looks.begin", without("AtOnce")),
		of(clusterControllerPackage, rule, "requests are not paid for", "looks.begin", without("paidUntil")),
		of(statusPackage, rule, "what was found is forgotten between the looks", "setReadiness",
			without("keep")).onlyBy(clusterControllerPackage),
	}
}
