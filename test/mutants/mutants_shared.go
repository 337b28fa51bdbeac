package main

// Rule 8: what a cluster has once is never taken over, and never deleted.
func shared() []mutant {
	const rule = "8 shared"
	return []mutant{
		of(userClusterPackage, rule, "a definition of someone else is taken over",
			"Session.WithoutOthers", without("othersOwn")),
		of(userClusterPackage, rule, "what its owner labelled as theirs is ours",
			"Session.standing", without("ManagedByLabel")),
		of(userClusterPackage, rule, "a second snapshot-controller runs beside another one",
			"Session.snapshotsTaken", negated("own")),
		of(userClusterPackage, rule, "a second snapshot-controller runs beside definitions of someone else",
			"Session.snapshotsTaken", returns("true", "false, nil")),
		of(userClusterPackage, rule, "it is deleted when it is not wanted any more",
			"Session.PruneAddons", becomes("SharedAnnotation", `"-"`)),
		of(manifestPackage, rule, "it is not wanted any more when the addons are withdrawn",
			"Set.Wanted", without("Shared")).onlyBy(userClusterPackage),
	}
}
