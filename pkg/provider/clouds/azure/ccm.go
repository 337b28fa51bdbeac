package azure

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	// configDir is where the Secrets are, in every container that reads one.
	configDir = "/etc/azure"
	// workLease is taken for every change of a load balancer, from 1.28 on; without it no Service gets one.
	// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.28.14/pkg/provider/azure_lock.go#L84
	workLease = "aks-managed-resource-locker"
)

// ccm of Azure. Facts from cmd/cloud-controller-manager, pkg/provider and helm/cloud-provider-azure of
// https://github.com/kubernetes-sigs/cloud-provider-azure, tags v1.24.22 to v1.36.5.
func ccm(in manifest.RenderInput, settings config, release release, minor int) (manifest.Set, error) {
	const name = "azure-cloud-controller-manager"
	return manifest.CCM{
		Provider: Name,
		Name:     name,
		Identity: Profile{}.Identity(),
		Image:    manifest.ImageOf(release.registry+"kubernetes/"+name, release.tag),
		Command:  []string{"cloud-controller-manager"},
		// It has a main of its own, which in no minor has flags for webhooks:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/cmd/cloud-controller-manager/app/options/options.go#L138-L152
		LibraryMinor: release.library,
		NoWebhooks:   true,
		Arguments:    []string{"--v=2"},
		// Nodes are initialized by the cloud-node-manager, and their CIDRs go on being given out by kube-controller-manager: two
		// that do either would overwrite each other.
		Controllers: []string{"-cloud-node", "-node-ipam"},
		ConfigFile:  configDir + "/" + fileKey,
		Secrets: []manifest.Secret{
			{Name: "azure-ccm-cloud-config", Data: settings.files(fileKey, in.CloudConfig), MountPath: configDir},
		},
		Rules: ccmRules(settings, minor),
		User:  65532,
	}.Set(in, release.tag)
}

// ccmRules are fewer than those of its chart, which also has all Secrets, ServiceAccounts, PersistentVolumes and Endpoints: no
// code path uses them with a configuration file.
func ccmRules(settings config, minor int) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	if minor >= 28 {
		// Watched always, whatever kind of backend pool is configured:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.28.14/pkg/provider/azure.go#L1267
		rules = append(rules, manifest.Rule("discovery.k8s.io", "endpointslices", "list", "watch"))
	}
	if settings[multipleBalancers] != nil {
		// Its load balancers may be chosen by labels of a Service's Namespace:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure_loadbalancer.go#L4798
		rules = append(rules, manifest.Rule("", "namespaces", "get"))
	}
	return rules
}

// runsRoutes says whether the CCM runs the route loop.
func runsRoutes(in manifest.RenderInput) (bool, error) {
	arguments, err := manifest.InheritedArguments(in.Inherited)
	return slices.Contains(arguments, "--configure-cloud-routes=true"), err
}
