package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

func TestCatalogue(t *testing.T) {
	g := NewWithT(t)
	catalogue := provider.New()
	g.Expect(catalogue.Names()).To(Equal([]string{"azure", "openstack", "simcloud"}))
	for _, name := range catalogue.Names() {
		profile, ok := catalogue.Lookup(name)
		g.Expect(ok).To(BeTrue())
		g.Expect(profile.Facts("1.30.14").Name).To(Equal(name))
		g.Expect(profile.Facts("1.30.14").CanMigrate).To(Equal(catalogue.CanMigrate(name)))
	}
}

func TestProvidersThatCanMigrate(t *testing.T) {
	tests := map[string]struct {
		name                string
		canMigrate, profile bool
	}{
		"OpenStack is complete":                         {"openstack", true, true},
		"the testbed's cloud is complete":               {"simcloud", true, true},
		"vSphere was in-tree but has no profile yet":    {"vsphere", true, false},
		"Azure is complete":                             {"azure", true, true},
		"AWS was in-tree but has no profile yet":        {"aws", true, false},
		"GCP was in-tree but has no profile yet":        {"gcp", true, false},
		"Hetzner was never in-tree":                     {"hetzner", false, false},
		"names are compared with regard to case":        {"OpenStack", false, false},
		"a cluster without a provider has nothing here": {"", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, ok := provider.New().Lookup(test.name)
			g.Expect(ok).To(Equal(test.profile))
			g.Expect(provider.New().CanMigrate(test.name)).To(Equal(test.canMigrate))
		})
	}
}

func TestFacts(t *testing.T) {
	tests := map[string]struct {
		provider, version string
		want              migration.Provider
	}{
		"Azure while its gates can be switched off": {"azure", "1.24.17", migration.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:     []string{"disk.csi.azure.com", "file.csi.azure.com"},
			MigrationGates: map[string]bool{"CSIMigrationAzureDisk": true, "CSIMigrationAzureFile": true},
			RetiredGates:   []string{"CSIMigration", "CSIMigrationAzureDisk", "CSIMigrationAzureFile"},
		}},
		"Azure while one of them can be": {"azure", "1.26.15", migration.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:      []string{"disk.csi.azure.com", "file.csi.azure.com"},
			MigrationGates:  map[string]bool{"CSIMigrationAzureFile": true},
			RetiredGates:    []string{"CSIMigration", "CSIMigrationAzureDisk", "CSIMigrationAzureFile"},
			MigratedPlugins: []string{"kubernetes.io/azure-disk"},
		}},
		"Azure in the last minor of its in-tree provider": {"azure", "1.29.14", migration.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:      []string{"disk.csi.azure.com", "file.csi.azure.com"},
			RetiredGates:    []string{"CSIMigrationAzureFile"},
			MigratedPlugins: []string{"kubernetes.io/azure-disk", "kubernetes.io/azure-file"},
		}},
		"Azure without an in-tree provider": {"azure", "1.30.14", migration.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers: []string{"disk.csi.azure.com", "file.csi.azure.com"},
		}},
		"OpenStack while its provider is in-tree": {"openstack", "v1.25.16", migration.Provider{
			Name: "openstack", CanMigrate: true, LastInTreeMinor: 25, InTreeName: "openstack",
			ProviderIDPrefix: "openstack://", CSIDrivers: []string{"cinder.csi.openstack.org"},
			RequiredCloudConfigKeys: []string{"cloud.conf"},
			RetiredGates:            []string{"CSIMigration", "CSIMigrationOpenStack"},
			MigratedPlugins:         []string{"kubernetes.io/cinder"},
		}},
		"OpenStack before the catalogue begins": {"openstack", "1.23.17", migration.Provider{
			Name: "openstack", CanMigrate: true, LastInTreeMinor: 25, InTreeName: "openstack",
			ProviderIDPrefix: "openstack://", CSIDrivers: []string{"cinder.csi.openstack.org"},
			RequiredCloudConfigKeys: []string{"cloud.conf"},
			VersionProblem: "there is no OpenStack cloud-controller-manager for Kubernetes 1.23 in the catalogue, which " +
				"covers 1.24 to 1.36: change the cluster's version, or update the controller",
		}},
		"simcloud": {"simcloud", "1.30.14", migration.Provider{
			Name: "simcloud", CanMigrate: true, LastInTreeMinor: 30, InTreeName: "simcloud",
			ProviderIDPrefix: "simcloud://", CSIDrivers: []string{"csi.simcloud.k8c.io"},
			RequiredCloudConfigKeys: []string{"endpoint", "cluster", "token"},
			MigrationGates:          map[string]bool{"CSIMigrationPortworx": true},
			SharesLoadBalancerNames: true,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			profile, _ := provider.New().Lookup(test.provider)
			NewWithT(t).Expect(profile.Facts(test.version)).To(Equal(test.want))
		})
	}
}

func TestVersionProblems(t *testing.T) {
	tests := map[string]struct{ provider, version, want string }{
		"Azure before the catalogue begins":  {"azure", "1.23.17", "no Azure cloud-controller-manager for Kubernetes 1.23 in the catalogue, which covers 1.24 to 1.36"},
		"OpenStack after the catalogue ends": {"openstack", "1.37.0", "covers 1.24 to 1.36"},
		"a version that is none":             {"openstack", "latest", `"latest" is not a version of Kubernetes`},
		"a version without a patch":          {"openstack", "1.30", `"1.30" is not a version of Kubernetes`},
		"another major":                      {"openstack", "2.30.0", `"2.30.0" is not a version of Kubernetes`},
		"no version":                         {"simcloud", "", `"" is not a version of Kubernetes`},
		"simcloud has one minor only":        {"simcloud", "1.29.0", "Kubernetes 1.29"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := provider.New().Lookup(test.provider)
			g.Expect(profile.Facts(test.version).VersionProblem).To(ContainSubstring(test.want))
			in := input(test.provider, 30)
			in.Version = test.version
			_, err := profile.Render(in)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestMinors(t *testing.T) {
	g := NewWithT(t)
	azure, _ := provider.New().Lookup("azure")
	g.Expect(minors(azure)).To(Equal([]int{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	openstack, _ := provider.New().Lookup("openstack")
	g.Expect(minors(openstack)).To(Equal([]int{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	simcloud, _ := provider.New().Lookup("simcloud")
	g.Expect(minors(simcloud)).To(Equal([]int{30}))
}
