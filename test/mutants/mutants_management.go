package main

// Rules of the management cluster's API server, which no user cluster's kubeconfig may name.
func managementServer() []mutant {
	const rule = "network of tenants"
	return []mutant{
		of(userClusterPackage, rule, "the management API server is dialed", "addressGuard.isNamed", never("own plain")),
		of(userClusterPackage, rule, "all ports of the management API server's address are refused", "addressGuard.isNamed",
			never("ownPort")),
		of(userClusterPackage, rule, "only the first name of the management API server counts", "addressGuard.isManagement",
			ranges("names", "[:1]")),
		of(userClusterPackage, rule, "the endpoints of the management API server are dialed", "addressGuard.isManagement",
			never("Endpoints")),
		of(userClusterPackage, rule, "all ports of such an endpoint are refused", "addressGuard.isManagement", without("Port")),
		of(userClusterPackage, rule, "an endpoint in another form is another one", "ManagementServer.SetEndpoints",
			instead("plain", "endpoint.Addr()")),
		of(userClusterPackage, rule, "any number of endpoints is kept", "ManagementServer.SetEndpoints", becomes("left max", "0")),
		of(managerPackage, rule, "endpoints that could not be looked at are none", "managementEndpoints.read", always("IsForbidden")),
		of(managerPackage, rule, "endpoints are read at the start only", "managementEndpoints.Start", begins("return nil")),
		of(managerPackage, rule, "endpoints of any Service are taken", "ofAPIServer", begins(`return ""`)),
	}
}
