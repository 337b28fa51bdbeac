package main

// The version rules: what they refuse, and that they refuse changes only.
func versionRules() []mutant {
	inCatalogue := func(name, file, old, changed string) mutant {
		return mutant{
			rule: "versions", name: name, file: "pkg/provider/" + file, old: old, new: changed, packages: []string{"pkg/provider"},
		}
	}
	inWebhook := func(name, old, changed string) mutant {
		return mutant{
			rule: "versions", name: name, file: "webhooks/versions.go", old: old, new: changed, packages: []string{"webhooks"},
		}
	}
	return []mutant{
		inCatalogue("an upgrade is judged by the new condition only", "judge.go", "conditions = append(conditions, before.Condition)", "_ = conditions"),
		inCatalogue("the minor before does not count for a migration", "judge.go", " || operation == manifest.Migrate && rule.Holds(was, operation, condition)", ""),
		inCatalogue("a patch may come in the middle of a migration", "judge.go", "{manifest.Upgrade, manifest.Patch}", "{manifest.Upgrade}"),
		inCatalogue("there is no way out of a mistake", "judge.go", "if c.stuck(before, was) {", "if false {"),
		inCatalogue("a minor without a CCM is not refused", "judge.go", "		if len(rule.Operations) > 0 {", "		if len(rule.Operations) > 9 {"),
		inCatalogue("the feature that comes with an upgrade is no migration", "states.go", "wanted.Condition = manifest.WhileMigrating", "wanted.Condition = manifest.WhileExternal"),
		inCatalogue("a migration is over before its in-tree flags are gone", "states.go", " && condition.Status == metav1.ConditionTrue", ""),
		inWebhook("a Cluster that is being deleted is judged", "case !after.DeletionTimestamp.IsZero():", "case false:"),
		inWebhook("a write of the status is judged", "req.SubResource != \"\" || ", ""),
		inWebhook("what cannot be read is refused", "return admission.Allowed(\"\").WithWarnings(", "return admission.Denied(\"\").WithWarnings("),
		{
			rule: "versions", name: "preflight does not ask them", file: "pkg/migration/inputs.go",
			old: "p.facts.Origin == ucv1.OriginMigrating && provider.MigrationProblem != \"\"", new: "false", packages: []string{migrationPackage},
		},
	}
}
