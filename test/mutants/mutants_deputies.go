package main

// Rules of what a person who may write only a Cluster can make the manager do: docs/security.md.
func deputies() []mutant {
	const rule = "deputies of tenants"
	return []mutant{
		of(clusterControllerPackage, rule, "a token of the management cluster is a cloud configuration",
			"credentialOfTheManagementCluster", without("SecretTypeServiceAccountToken")),
		of(clusterControllerPackage, rule, "a Secret that says nothing is a cloud configuration", "managementObserver.unlabeled",
			always("requireCloudConfigLabel")),
		of(manifestPackage, rule, "a variable in the name of a cluster is filled in", "Literal",
			returns("ReplaceAll", "text")).onlyBy(providerPackage),
		of(managerPackage, rule, "a manager of some namespaces watches all", "managerOptions.defaultNamespaces", begins("return nil")),
		of(managerPackage, rule, "each of several managers does everything by default", "managerOptions.bind",
			does("BoolVar leaderElect", "flags.BoolVar(&o.leaderElect, \"leader-elect\", false, \"\")")),
		of(machinesPackage, rule, "the canary's pod has a token", "canaryWorkload", becomes("AutomountServiceAccountToken", "nil")),
	}
}
