package main

// Rules of the network: an API server of a tenant leads the manager nowhere else, and takes no more than its share of it.
func network() []mutant {
	const rule = "network of tenants"
	return []mutant{
		of(userClusterPackage, rule, "redirects are followed", "bounded.follow", never("Location")),
		of(userClusterPackage, rule, "a refusal may say where to go", "bounded.follow", without("Location")),
		of(userClusterPackage, rule, "addresses are not judged", "addressGuard.dial", becomes("ControlContext", "nil")),
		of(userClusterPackage, rule, "metadata services are dialed", "forbidden", never("IsLinkLocalUnicast")),
		of(userClusterPackage, rule, "the manager's own loopback is dialed", "forbidden", never("IsLoopback")),
		of(userClusterPackage, rule, "an IPv4 address within one of IPv6 is not judged", "embedded", always("Is6")),
		of(userClusterPackage, rule, "the proxy of the process is used", "newTransport", never("Proxy")),
	}
}

// Rules of what one user cluster makes the manager hold.
func shares() []mutant {
	const rule = "share of tenants"
	return []mutant{
		of(userClusterPackage, rule, "an answer is read whole", "bounded.read", without("size")),
		of(userClusterPackage, rule, "/readyz is read whole", "bounded.RoundTrip", never("readyz")),
		of(userClusterPackage, rule, "an answer is not weighed", "bounded.read", without("scale")),
		of(userClusterPackage, rule, "large answers are decoded side by side", "bounded.read", never("isLarge")),
		of(readsPackage, rule, "a pass keeps what it likes", "EachPage", never("kept most")).onlyBy(userClusterPackage),
		of(readsPackage, rule, "a page that is too large ends the list", "EachPage", never("ErrTooLarge")).onlyBy(userClusterPackage),
		of(userClusterPackage, rule, "an event of a watch has no end", "watchBody.Read", never("fits")),
		of(userClusterPackage, rule, "watches are read as fast as they come", "watchBody.Read", never("wait")),
		of(watchesPackage, rule, "lists of watches ask for version 0", "boundedLists.ListWithContext",
			skips("ResourceVersion")).onlyBy(userClusterPackage),
		of(watchesPackage, rule, "lists come as watches", "boundedLists.IsWatchListSemanticsUnSupported",
			begins("return false")).onlyBy(userClusterPackage),
		of(userClusterPackage, rule, "what was too large is not told", "entry.told", always("last")),
		of(statusPackage, rule, "an API server that answers too much is reached", "setReachable", without("Reason")),
	}
}
