package provider_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

// secretValue stands for every credential: it may show up in a Secret only.
const secretValue = "example-only-hunter2"

func cloudConfigs() map[string]map[string][]byte {
	return map[string]map[string][]byte{
		"azure": {"azure.json": []byte(`{"tenantId": "tenant", "subscriptionId": "subscription", "resourceGroup": "alpha", ` +
			`"location": "westeurope", "vnetName": "net", "subnetName": "nodes", "securityGroupName": "nodes", "vmType": "vmss", ` +
			`"loadBalancerSku": "standard", "routeTableName": "nodes", "aadClientId": "client", "aadClientSecret": "` + secretValue + `"}`)},
		"openstack": {"cloud.conf": []byte("[Global]\nauth-url=https://keystone.example.com/v3\nregion=one\n" +
			"username=alpha\npassword=" + secretValue + "\ntenant-name=alpha\ndomain-name=Default\n")},
		"simcloud": {
			"endpoint": []byte("http://127.0.0.1:8080"), "cluster": []byte("alpha"), "token": []byte(secretValue),
		},
	}
}

func inherited() ucv1.InheritedConfiguration {
	return ucv1.InheritedConfiguration{
		ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
		Loops: []string{migration.CloudNodeLifecycleLoop, migration.RouteLoop, migration.ServiceLoop},
	}
}

func input(name string, minor int) provider.RenderInput {
	return provider.RenderInput{
		Version:     fmt.Sprintf("v1.%d.3", minor),
		Inherited:   inherited(),
		CloudConfig: cloudConfigs()[name],
		ClusterUID:  "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
	}
}

// minors that a profile has addons for.
func minors(profile provider.Profile) []int {
	var found []int
	for minor := range 100 {
		if profile.Facts(fmt.Sprintf("1.%d.0", minor)).VersionProblem == "" {
			found = append(found, minor)
		}
	}
	return found
}

// forEach runs the test for every profile and minor.
func forEach(t *testing.T, test func(g Gomega, name string, profile provider.Profile, minor int)) {
	t.Helper()
	catalogue := provider.New()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		for _, minor := range minors(profile) {
			t.Run(fmt.Sprintf("%s 1.%d", name, minor), func(t *testing.T) {
				test(NewWithT(t), name, profile, minor)
			})
		}
	}
}
