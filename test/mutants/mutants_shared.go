package main

// Rule 8: what a cluster has once is never taken over, and never deleted.
func shared() []mutant {
	const rule = "8 shared"
	return []mutant{
		of(addonsPackage, rule, "a definition of someone else is taken over",
			"Installer.WithoutForeign", without("othersOwn")),
		of(addonsPackage, rule, "what its owner labelled as theirs is ours",
			"Installer.standing", without("ManagedByLabel")),
		of(addonsPackage, rule, "a second snapshot-controller runs beside another one",
			"Installer.snapshotsTaken", negated("own")),
		of(addonsPackage, rule, "a second snapshot-controller runs beside definitions of someone else",
			"Installer.snapshotsTaken", returns("true", "false, nil")),
		of(addonsPackage, rule, "it is deleted when it is not wanted any more",
			"Installer.Prune", becomes("SharedAnnotation", `"-"`)),
		of(manifestPackage, rule, "it is not wanted any more when the addons are withdrawn",
			"Set.Wanted", without("Shared")).onlyBy(addonsPackage),
	}
}
