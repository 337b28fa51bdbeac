package main

// The version rules: what they refuse, and that they refuse changes only.
func versionRules() []mutant {
	const rule = "versions"
	return []mutant{
		of(versionsPackage, rule, "an upgrade is judged by the new condition only",
			"Judge", skips("Condition before")),
		of(versionsPackage, rule, "the minor before does not count for a migration",
			"refuses", without("Migrate was")),
		of(versionsPackage, rule, "a patch may come in the middle of a migration", "commonRules", lacks("Patch")),
		of(versionsPackage, rule, "there is no way out of a mistake", "Judge", never("stuck")),
		of(versionsPackage, rule, "a minor without a CCM is not refused", "gapRules", against("Operations", "9")),
		of(providerPackage, rule, "the feature that comes with an upgrade is no migration",
			"Catalogue.Objections", becomes("WhileMigrating", "manifest.WhileExternal")),
		of(versionsPackage, rule, "a migration is over before its in-tree flags are gone",
			"finished", without("ConditionTrue")).onlyBy(providerPackage),
		of(versionsPackage, rule, "patch releases do not count", "State.rules", never("CoversRelease")),
		inTables(rule, "KCM is left without --cloud-provider", "keepExternal", never("at")),
		of(webhooksPackage, rule, "a Cluster that is being deleted is judged",
			"VersionJudge.Handle", never("DeletionTimestamp")),
		of(webhooksPackage, rule, "a write of the status is judged", "VersionJudge.Handle", without("SubResource")),
		of(webhooksPackage, rule, "what cannot be read is refused",
			"VersionJudge.Handle", returns("WithWarnings err", `admission.Denied("")`)),
		of(providerPackage, rule, "an unknown provider may be created", "Catalogue.Objections", never("unknown")),
		inTables(rule, "an in-tree Cluster with an unknown provider is fine", "standsInTree", never("UnknownProvider")),
		inTables(rule, "in-tree Clusters may share a control plane", "standsInTree", never("shared")),
		of(webhooksPackage, "advice", "what has no effect is not warned of", "advice", always("Contains")),
		of(webhooksPackage, "advice", "what stood there is warned of again", "advice", never("Contains")),
		of(apiPackage, "advice", "a rollback of nothing is not warned of", "Cluster.FieldsWithoutEffect",
			never("Rollback")).onlyBy(preflightPackage),
		of(apiPackage, "advice", "a plan in the middle is not warned of", "Cluster.FieldsWithoutEffect",
			never("PlanOnlyMode")).onlyBy(preflightPackage),
		of(apiPackage, "advice", "a cluster name in the middle is not warned of", "Cluster.FieldsWithoutEffect",
			never("ClusterName")).onlyBy(preflightPackage),
		of(statusPackage, "advice", "what has no effect after the start is not found", "watchOn", skips("FieldWithoutEffect")),
		inTables(rule, "preflight does not ask them", "start.CheckProvider", never("MigrationProblem")),
	}
}
