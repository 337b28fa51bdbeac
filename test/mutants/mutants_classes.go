package main

// Rule 7: the default StorageClass of others is not touched, never are there two of ours, and it is judged once.
func defaultClasses() []mutant {
	const rule = "7 defaults"
	return []mutant{
		in(rule, "the default of another driver is taken", "defaultsOf", never("Plugin")),
		in(rule, "the former default stays one",
			"defaultClass", becomes("Objects", "append(former[:0], successor.Ref)")),
		in(rule, "the new default comes before the former has gone",
			"defaultClass", becomes("Objects", "append([]observation.Ref{successor.Ref}, former...)")),
		in(rule, "a default beside ours counts as judged", "defaultClass", without("former")),
		in(rule, "it is judged again in every pass", "judgesDefaultClass", never("DefaultStorageClass")),
		in(rule, "classes that cannot be looked at are none", "defaultClass", never("known")),
		in(rule, "the default changes while the migration can be rolled back",
			"volumeMigration",
			begins("in.Facts.CompletedAt = in.Stamp()\nif out := defaultClass(in); out.Action != nil {\nreturn out\n}")),
		of(factsPackage, rule, "a class that just became the default gets another one beside it",
			"Reader.SwitchDefaultClass", never("isDefault")),
	}
}
