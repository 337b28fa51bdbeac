package main

// Proposals of Clusters: what is broken is what keeps them from saying more than was found.
func proposals() []mutant {
	const rule = "proposals"
	return []mutant{
		of(registrationPackage, rule, "a Secret that could not be looked at is absent", "Look.kubeconfigFields", never("IsUnknown")),
		of(registrationPackage, rule, "a configuration that could not be looked at is fine",
			"ControlPlane.cloudConfigField", never("IsUnknown")),
		of(registrationPackage, rule, "a part of the machine-controller that is not here is nowhere",
			"ControlPlane.programFields", without("NoOperatingSystemManager")),
		of(registrationPackage, rule, "a Cluster that could not be looked for is not there", "unknownClusters", always("IsUnknown")),
		of(registrationPackage, rule, "a platform's word counts more than KCM's", "ControlPlane.providerField", never("told name")),
		of(registrationPackage, rule, "a label makes a control plane", "managerIn", always("controllerManager Image")),
		of(registrationPackage, rule, "a KCM without cloud loops is proposed", "ControlPlane.noLoops", never("CloudLoops")),
		of(registrationPackage, rule, "KKP's own migration is not noticed", "ControlPlane.Propose", never("External")),
		of(registrationPackage, rule, "a control plane gets a second Cluster", "ControlPlane.registered", never("kcm")),
		of(registrationPackage, rule, "a Cluster of the same name is replaced", "nameTaken", never("Name name")),
		of(registrationPackage, rule, "what the API refuses is proposed", "Providers.judge", never("objections")),
		of(registrationPackage, rule, "a text of others reaches the terminal", "writer.comment", instead("printable", "text")),
		of(registrationPackage, rule, "null is an object", "writer.enter", always("hasValue")),
		of(registrationPackage, rule, "the feature is on", "switchedOff", becomes("Value false", "true")),
	}
}
