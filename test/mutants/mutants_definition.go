package main

// Rules of the definition in the API server: one that is older than the manager is seen at the start.
func definitions() []mutant {
	const rule = "6 definition"
	return []mutant{
		of(clusterControllerPackage, rule, "a field that the definition lacks is known", "lackedBelow", never("ok")),
		of(clusterControllerPackage, rule, "only the spec is compared", "MissingFields", ranges("lackedBelow", "[:1]")),
		of(clusterControllerPackage, rule, "the fields in a list are not compared", "lackedIn", returns("items", "nil")),
		of(clusterControllerPackage, rule, "any version of the definition will do", "servedSchema", without("GroupVersion")),
		of(managerPackage, rule, "a definition that may not be read lacks nothing", "checkDefinition",
			does("Info", "metrics.DefinitionLacks(0)")),
		of(managerPackage, rule, "fields that are missing are not said", "checkDefinition", never("missing 0")),
		of(managerPackage, rule, "fields that are missing are not counted", "checkDefinition", skips("DefinitionLacks")),
	}
}
