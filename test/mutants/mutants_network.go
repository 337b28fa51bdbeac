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
		of(userClusterPackage, rule, "the management API server is dialed", "addressGuard.isManagement", never("own Unmap")),
		of(userClusterPackage, rule, "all ports of the management API server's address are refused",
			"addressGuard.isManagement", never("managementPort")),
		of(userClusterPackage, rule, "the proxy of the process is used", "newTransport", never("Proxy")),
	}
}
