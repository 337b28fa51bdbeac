package provider_test

import (
	"bytes"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// secretValue stands for every credential: it may show up in a Secret only.
const secretValue = "example-only-hunter2"

// cloudConfigs are the examples of all providers, with the credentials that the tests look for.
func cloudConfigs() map[string]map[string][]byte {
	configs, catalogue := map[string]map[string][]byte{}, everyProvider()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		configs[name] = profile.Example()
		for key, value := range configs[name] {
			configs[name][key] = bytes.ReplaceAll(value, []byte("example-only"), []byte(secretValue))
		}
	}
	return configs
}

// flagOf is the value of --cloud-provider.
func flagOf(name string) string {
	switch name {
	case "gcp":
		return "gce"
	case "hetzner":
		return "hcloud"
	}
	return name
}

func inherited() ucv1.InheritedConfiguration {
	return ucv1.InheritedConfiguration{
		ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16", AllocateNodeCIDRs: true, ConfigureCloudRoutes: true,
		Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
	}
}

func input(name string, minor int) manifest.RenderInput {
	return manifest.RenderInput{
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
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		for _, minor := range minors(profile) {
			t.Run(fmt.Sprintf("%s 1.%d", name, minor), func(t *testing.T) {
				test(NewWithT(t), name, profile, minor)
			})
		}
	}
}
