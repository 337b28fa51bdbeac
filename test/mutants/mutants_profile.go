package main

// Rule 2 where an operator's ProviderProfile is laid over the CCM: it changes nothing that the hand-over rests on,
// and with a fault in it nothing at all.
func profiles() []mutant {
	const rule = "2 profile"
	return []mutant{
		of(overlayPackage, rule, "flags that are there at times may be set", "judge.arguments", never("reserved")).by(providerPackage),
		of(overlayPackage, rule, "leader election may be set", "reserved", without("leader-elect")).by(providerPackage),
		of(overlayPackage, rule, "what the catalogue passes may be passed twice",
			"judge.arguments", never("passed")).by(providerPackage),
		of(overlayPackage, rule, "what is passed in this cluster may be passed twice",
			"profile.workload", never("FlagOf")).by(providerPackage),
		of(manifestPackage, rule, "an underscore hides a flag", "FlagOf", returns("ReplaceAll", "name")).onlyBy(providerPackage),
		of(overlayPackage, rule, "a switch takes the next flag for its value",
			"judge.arguments", never("MatchString")).by(providerPackage),
		of(providerPackage, rule, "a profile with problems is applied", "Catalogue.Overlay", never("problems")),
		of(overlayPackage, rule, "the probe is of the image that is built in",
			"Lay", lacks("Probe ProbeSuffix")).by(providerPackage),
		of(clusterControllerPackage, rule, "a profile that cannot be read is none",
			"managementObserver.observeProfile", or("IsNotFound", "err != nil")),
		of(clusterControllerPackage, rule, "the built-in images are applied in place of a profile with problems",
			"managementObserver.observeProfile", instead("profileUnusable", `""`)),
		of(clusterControllerPackage, rule, "a draft under another name is applied",
			"managementObserver.observeProfile", never("Used")),
	}
}
