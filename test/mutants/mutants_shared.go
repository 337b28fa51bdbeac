package main

// Rule 8: what a cluster has once is never taken over, and never deleted.
func shared() []mutant {
	in := func(name, file, old, changed string) mutant {
		return mutant{rule: "8 shared", name: name, file: file, old: old, new: changed, packages: []string{"pkg/usercluster"}}
	}
	const file = "pkg/usercluster/addons_shared.go"
	return []mutant{
		in("a definition of somebody else is taken over", file, "whose == somebodys || whose == nobodys && taken", "whose == nobodys && taken"),
		in("what its owner labelled as theirs is ours", file, "[manifest.ManagedByLabel] == manifest.ManagedBy:", "[manifest.ManagedByLabel] != \"-\":"),
		in("a second snapshot-controller runs beside another one", file, "return !own && slices", "return own && slices"),
		in("a second snapshot-controller runs beside definitions of somebody else", file, "		if whose == somebodys {\n\t\t\treturn true, nil", "		if whose == somebodys {\n\t\t\treturn false, nil"),
		in("it is deleted when it is not wanted any more", "pkg/usercluster/addons_apply.go", "manifest.SharedAnnotation: manifest.SharedValue}", "manifest.SharedAnnotation: \"-\"}"),
		in("it is not wanted any more when the addons are withdrawn", "pkg/provider/manifest/types.go", " && !Shared(object))", ")"),
	}
}
