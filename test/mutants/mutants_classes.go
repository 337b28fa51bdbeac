package main

// Rule 7: nobody else's default StorageClass is touched, never are there two of ours, and it is judged once.
func defaultClasses() []mutant {
	const rule, file = "7 defaults", "default_class.go"
	return []mutant{
		in(rule, "the default of another driver is taken", file, "class.Default && class.Provisioner != provider.DefaultClass.Plugin", "class.Default && class.Provisioner == \"-\""),
		in(rule, "the former default stays one", file, "append(former, successor.Ref)", "append(former[:0], successor.Ref)"),
		in(rule, "the new default comes before the former has gone", file, "append(former, successor.Ref)", "append([]Ref{successor.Ref}, former...)"),
		in(rule, "a default beside ours counts as judged", file, "successor.Default && len(former) == 0", "successor.Default"),
		in(rule, "it is judged again in every pass", file, "case facts.DefaultStorageClass != nil:", "case false:"),
		in(rule, "classes that cannot be looked at are none", file, "case !known:\n\t\treturn cannotLook(\"the StorageClasses\"", "case !known && false:\n\t\treturn cannotLook(\"the StorageClasses\""),
		in(rule, "the default changes while the migration can be undone", "control_plane_rows.go",
			"func (p *pass) volumeMigration() outcome {\n", "func (p *pass) volumeMigration() outcome {\n\tp.facts.CompletedAt = p.stamp()\n\tif out := p.defaultClass(); out.verb != nil {\n\t\treturn out\n\t}\n"),
		{
			rule: rule, name: "a class that just became the default gets another one beside it", file: "pkg/usercluster/storage_classes.go",
			old: "if isDefault(class) && ", new: "if false && ", packages: []string{"pkg/usercluster"},
		},
	}
}
