package main

// Rules of a CCM beside the control plane: it is bound by the same fence, its pods count, and what is the management
// cluster's stays apart from what is the user cluster's.
func placements() []mutant {
	const rule = "2 placement"
	return []mutant{
		of(renderPackage, rule, "credentials go into the user cluster", "Place.Put", lacks("Secret")).onlyBy(providerPackage),
		of(renderPackage, rule, "pods get a token of the management cluster",
			"Place.pod", becomes("AutomountServiceAccountToken", "new(true)")).onlyBy(providerPackage),
		of(renderPackage, rule, "Clusters of one namespace share their pods", "Place.deployment",
			skips("Labels")).onlyBy(providerPackage),
		of(renderPackage, rule, "pods do not follow the API server",
			"Place.deployment", instead("Checksum", "manifest.Checksum(nil)")).onlyBy(providerPackage),
		of(leasesPackage, rule, "pods beside the control plane do not count",
			"Elections.PodsOf", negated("access ==")),
		of(leasesPackage, rule, "pods that cannot be listed are none",
			"Elections.PodsOf", returns("Unknown access", "observation.Known(names)")),
		of(addonsPackage, rule, "pods start before there is a token",
			"Installer.Apply",
			instead("apply beside -pods", "apply(ctx, in.beside.Client, append(pods, beside...))")),
		of(addonsPackage, rule, "a token is never renewed", "tokens.isDue", without("renewal")),
		of(addonsPackage, rule, "a token of a ServiceAccount that is gone is good",
			"tokens.isDue", without("Annotations")),
		of(addonsPackage, rule, "an inventory names other namespaces", "entryOf", skips("Namespace -Group")),
		of(addonsPackage, rule, "a changed Deployment is seen late",
			"Beside.generations", instead("Generation", "append(generations, 0)")),
		of(userClusterPackage, rule, "the kubeconfig has our credentials",
			"Session.KubeconfigWith", becomes("TokenFile", `tokenFile, Token: "ours"`)),
	}
}
