package main

// Rule 2 where an operator's ProviderProfile is laid over the CCM: it changes nothing that the hand-over rests on,
// and with a fault in it nothing at all.
func profiles() []mutant {
	const rule = "2 profile"
	return []mutant{
		of(providerPackage, rule, "flags that are there at times may be set", "judge.arguments", never("reserved")),
		of(providerPackage, rule, "leader election may be set", "reserved", without("leader-elect")),
		of(providerPackage, rule, "what the catalogue passes may be passed twice",
			"judge.arguments", never("passed")),
		of(providerPackage, rule, "what is passed in this cluster may be passed twice",
			"overlay.workload", never("flagOf")),
		of(providerPackage, rule, "an underscore hides a flag", "flagOf", returns("ReplaceAll", "name")),
		of(providerPackage, rule, "a switch takes the next flag for its value",
			"judge.arguments", never("MatchString")),
		of(providerPackage, rule, "a profile with problems is applied", "Catalogue.Overlay", never("problems")),
		of(providerPackage, rule, "the probe is of the image that is built in",
			"Catalogue.Overlay", lacks("Probe ProbeSuffix")),
		of(clusterControllerPackage, rule, "a profile that cannot be read is none",
			"Observer.observeProfile", or("IsNotFound", "err != nil")),
		of(clusterControllerPackage, rule, "the built-in images are applied in place of a profile with problems",
			"Observer.observeProfile", instead("profileUnusable", `""`)),
		of(clusterControllerPackage, rule, "a draft under another name is applied",
			"Observer.observeProfile", never("Used")),
	}
}
