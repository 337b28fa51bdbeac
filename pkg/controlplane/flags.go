package controlplane

import "strings"

// isFlagName says whether a word without its dashes can be the name of a flag. What cannot is more likely a value that
// begins with a dash, such as -service,*; reading that as a flag would be a guess.
func isFlagName(name string) bool {
	return name != "" && isLetter(rune(name[0])) && !strings.ContainsFunc(name, func(r rune) bool {
		return !isLetter(r) && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// flagName is the name of a flag without dashes. The Kubernetes components accept underscores in place of dashes.
func flagName(spelling string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(spelling, "-"), "-")
	return strings.ReplaceAll(name, "_", "-")
}

// isBoolean lists the boolean flags of the components: they never take the next word as their value.
func isBoolean(name string) bool {
	switch name {
	case
		// kube-controller-manager, and what it shares with the others
		"allocate-node-cidrs", "allow-untagged-cloud", "configure-cloud-routes", "contention-profiling",
		"disable-attach-detach-reconcile-sync", "disable-force-detach-on-timeout", "disable-http2-serving",
		"enable-dynamic-provisioning", "enable-garbage-collector", "enable-hostpath-provisioner",
		"enable-leader-migration", "enable-taint-manager", "leader-elect", "permit-address-sharing",
		"permit-port-sharing", "profiling", "use-service-account-credentials",
		"authentication-skip-lookup", "authentication-tolerate-lookup-failure",
		// kube-apiserver
		"aggregator-reject-forwarding-redirect", "allow-privileged", "anonymous-auth", "audit-log-compress",
		"audit-log-truncate-enabled", "audit-webhook-truncate-enabled", "enable-aggregator-routing",
		"enable-bootstrap-token-auth", "enable-logs-handler", "enable-priority-and-fairness",
		"encryption-provider-config-automatic-reload", "service-account-extend-token-expiration",
		"service-account-lookup", "shutdown-send-retry-after", "watch-cache",
		// logging and information
		"add-dir-header", "alsologtostderr", "help", "log-json-split-stream", "log-text-split-stream", "logtostderr",
		"one-output", "skip-headers", "skip-log-headers", "version",
		// machine-controller, its webhook, operating-system-manager
		"enable-leader-election", "enable-profiling", "external-cloud-provider", "log-debug", "node-csr-approver",
		"node-external-cloud-provider", "skip-evict-vcd-workloads", "use-osm",
		// http-prober
		"insecure":
		return true
	}
	return false
}

// takesValue lists flags whose next word is their value whatever it begins with, such as --controllers -service,*.
func takesValue(name string) bool {
	switch name {
	case "cloud-config", "cloud-provider", "cluster-cidr", "cluster-name", "controllers", "external-cloud-volume-plugin",
		"feature-gates", "kubeconfig", "leader-elect-lease-duration", "leader-elect-renew-deadline",
		"leader-elect-resource-lock", "leader-elect-resource-name", "leader-elect-resource-namespace",
		"leader-elect-retry-period", "leader-migration-config", "service-cluster-ip-range", "v", "command":
		return true
	}
	return false
}

// concernsMigration lists the flags that decisions rest on: their values have to be certain.
func concernsMigration(name string) bool {
	switch name {
	case "allocate-node-cidrs", "configure-cloud-routes", "enable-leader-migration", "external-cloud-provider",
		"leader-elect", "node-external-cloud-provider":
		return true
	case "kubeconfig", "v", "command":
		return false
	}
	return takesValue(name)
}
