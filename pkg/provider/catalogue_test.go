package provider_test

import (
	"maps"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestCatalogue(t *testing.T) {
	g := NewWithT(t)
	catalogue := builtIn()
	g.Expect(catalogue.Names()).To(Equal([]string{"aws", "azure", "gcp", "hetzner", "openstack", "simcloud", "vsphere"}))
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
		"vSphere is complete":                           {"vsphere", true, true},
		"Azure is complete":                             {"azure", true, true},
		"AWS is complete":                               {"aws", true, true},
		"GCP is complete":                               {"gcp", true, true},
		"Hetzner was never in-tree":                     {"hetzner", false, true},
		"names are compared with regard to case":        {"OpenStack", false, false},
		"a cluster without a provider has nothing here": {"", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, ok := builtIn().Lookup(test.name)
			g.Expect(ok).To(Equal(test.profile))
			g.Expect(builtIn().CanMigrate(test.name)).To(Equal(test.canMigrate))
		})
	}
}

type facts struct {
	provider, version string
	want              observation.Provider
}

// earlyFacts are those of OpenStack, of GCP, and of Hetzner.
func earlyFacts() map[string]facts {
	return map[string]facts{
		"OpenStack while its provider is in-tree": {"openstack", "v1.25.16", observation.Provider{
			Name: "openstack", CanMigrate: true, LastInTreeMinor: 25, InTreeName: "openstack",
			ProviderIDPrefix: "openstack://", CSIDrivers: []string{"cinder.csi.openstack.org"},
			LoadBalancerNames: "kube_service_%s_%s_%s", FreesClusterName: true,
			DefaultClass:    observation.DefaultClass{Name: "openstack-cinder-csi", Plugin: "kubernetes.io/cinder"},
			RetiredGates:    []string{"CSIMigration", "CSIMigrationOpenStack"},
			MigratedPlugins: []string{"kubernetes.io/cinder"},
			CloudNodeLater:  true,
		}},
		"OpenStack before the catalogue begins": {"openstack", "1.23.17", observation.Provider{
			Name: "openstack", CanMigrate: true, LastInTreeMinor: 25, InTreeName: "openstack",
			ProviderIDPrefix: "openstack://", CSIDrivers: []string{"cinder.csi.openstack.org"},
			DefaultClass:   observation.DefaultClass{Name: "openstack-cinder-csi", Plugin: "kubernetes.io/cinder"},
			CloudNodeLater: true, LoadBalancerNames: "kube_service_%s_%s_%s", FreesClusterName: true,
			VersionProblem: "there is no OpenStack cloud-controller-manager for Kubernetes 1.23 in the catalogue, which covers 1.24 to " +
				"1.36: change the cluster's version, or update the controller",
		}},
		"Hetzner, which never was in-tree": {"hetzner", "1.30.14", observation.Provider{
			Name: "hetzner", ProviderIDPrefix: "hcloud://", CSIDrivers: []string{"csi.hetzner.cloud"},
			DefaultClass: observation.DefaultClass{Name: "hcloud-volumes"},
		}},
		"GCP while its provider is in-tree": {"gcp", "1.26.15", observation.Provider{
			Name: "gcp", CanMigrate: true, LastInTreeMinor: 30, InTreeName: "gce",
			ProviderIDPrefix: "gce://", CSIDrivers: []string{"pd.csi.storage.gke.io"},
			DefaultClass:            observation.DefaultClass{Name: "gce-pd-csi", Plugin: "kubernetes.io/gce-pd"},
			RetiredGates:            []string{"CSIMigration", "CSIMigrationGCE"},
			MigratedPlugins:         []string{"kubernetes.io/gce-pd"},
			SharesLoadBalancerNames: true,
		}},
		"GCP in the last minor with its provider": {"gcp", "1.30.14", observation.Provider{
			Name: "gcp", CanMigrate: true, LastInTreeMinor: 30, InTreeName: "gce",
			ProviderIDPrefix: "gce://", CSIDrivers: []string{"pd.csi.storage.gke.io"},
			DefaultClass:            observation.DefaultClass{Name: "gce-pd-csi", Plugin: "kubernetes.io/gce-pd"},
			RetiredGates:            []string{"InTreePluginGCEUnregister"},
			MigratedPlugins:         []string{"kubernetes.io/gce-pd"},
			SharesLoadBalancerNames: true,
		}},
	}
}

// lateFacts are those of the others.
func lateFacts() map[string]facts {
	return map[string]facts{
		"vSphere while a gate of it is left": {"vsphere", "1.28.15", observation.Provider{
			Name: "vsphere", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "vsphere",
			ProviderIDPrefix: "vsphere://", CSIDrivers: []string{"csi.vsphere.vmware.com"},
			RegisteredBy:            "cnsvspherevolumemigrations.cns.vmware.com",
			DefaultClass:            observation.DefaultClass{Name: "vsphere-csi", Plugin: "kubernetes.io/vsphere-volume"},
			SharesLoadBalancerNames: true, DetachesFirst: true,
			RetiredGates: []string{"CSIMigrationvSphere"}, MigratedPlugins: []string{"kubernetes.io/vsphere-volume"},
		}},
		"vSphere in the last minor in-tree": {"vsphere", "1.29.15", observation.Provider{
			Name: "vsphere", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "vsphere",
			ProviderIDPrefix: "vsphere://", CSIDrivers: []string{"csi.vsphere.vmware.com"},
			RegisteredBy:            "cnsvspherevolumemigrations.cns.vmware.com",
			DefaultClass:            observation.DefaultClass{Name: "vsphere-csi", Plugin: "kubernetes.io/vsphere-volume"},
			SharesLoadBalancerNames: true, DetachesFirst: true,
			MigratedPlugins: []string{"kubernetes.io/vsphere-volume"},
		}},
		"Azure while its gates can be switched off": {"azure", "1.24.17", observation.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:     []string{"disk.csi.azure.com", "file.csi.azure.com"},
			DefaultClass:   observation.DefaultClass{Name: "azure-disk-csi", Plugin: "kubernetes.io/azure-disk"},
			MigrationGates: map[string]bool{"CSIMigrationAzureDisk": true, "CSIMigrationAzureFile": true},
			RetiredGates:   []string{"CSIMigration", "CSIMigrationAzureDisk", "CSIMigrationAzureFile"},
		}},
		"Azure while one of them can be": {"azure", "1.26.15", observation.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:      []string{"disk.csi.azure.com", "file.csi.azure.com"},
			DefaultClass:    observation.DefaultClass{Name: "azure-disk-csi", Plugin: "kubernetes.io/azure-disk"},
			MigrationGates:  map[string]bool{"CSIMigrationAzureFile": true},
			RetiredGates:    []string{"CSIMigration", "CSIMigrationAzureDisk", "CSIMigrationAzureFile"},
			MigratedPlugins: []string{"kubernetes.io/azure-disk"},
		}},
		"Azure in the last minor of its in-tree provider": {"azure", "1.29.14", observation.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:      []string{"disk.csi.azure.com", "file.csi.azure.com"},
			DefaultClass:    observation.DefaultClass{Name: "azure-disk-csi", Plugin: "kubernetes.io/azure-disk"},
			RetiredGates:    []string{"CSIMigrationAzureFile"},
			MigratedPlugins: []string{"kubernetes.io/azure-disk", "kubernetes.io/azure-file"},
		}},
		"Azure without an in-tree provider": {"azure", "1.30.14", observation.Provider{
			Name: "azure", CanMigrate: true, LastInTreeMinor: 29, InTreeName: "azure", ProviderIDPrefix: "azure:///",
			CSIDrivers:   []string{"disk.csi.azure.com", "file.csi.azure.com"},
			DefaultClass: observation.DefaultClass{Name: "azure-disk-csi", Plugin: "kubernetes.io/azure-disk"},
		}},
		"simcloud": {"simcloud", "1.30.14", observation.Provider{
			Name: "simcloud", CanMigrate: true, LastInTreeMinor: 30, InTreeName: "simcloud",
			ProviderIDPrefix: "simcloud://", CSIDrivers: []string{"csi.simcloud.k8c.io"},
			DefaultClass:            observation.DefaultClass{Name: "simcloud-csi"},
			MigrationGates:          map[string]bool{"CSIMigrationPortworx": true},
			SharesLoadBalancerNames: true,
		}},
	}
}

func awsFacts() map[string]facts {
	return map[string]facts{
		"AWS while its volumes can still be kept from the driver": {"aws", "1.24.17", observation.Provider{
			Name: "aws", CanMigrate: true, LastInTreeMinor: 26, InTreeName: "aws",
			ProviderIDPrefix: "aws:///", CSIDrivers: []string{"ebs.csi.aws.com"},
			DefaultClass:            observation.DefaultClass{Name: "aws-ebs-csi", Plugin: "kubernetes.io/aws-ebs"},
			MigrationGates:          map[string]bool{"CSIMigration": true, "CSIMigrationAWS": true},
			MigratedPlugins:         []string{"kubernetes.io/aws-ebs"},
			SharesLoadBalancerNames: true,
		}},
		"AWS in the last minor with the in-tree provider": {"aws", "v1.26.15", observation.Provider{
			Name: "aws", CanMigrate: true, LastInTreeMinor: 26, InTreeName: "aws",
			ProviderIDPrefix: "aws:///", CSIDrivers: []string{"ebs.csi.aws.com"},
			DefaultClass:            observation.DefaultClass{Name: "aws-ebs-csi", Plugin: "kubernetes.io/aws-ebs"},
			RetiredGates:            []string{"CSIMigration", "CSIMigrationAWS"},
			MigratedPlugins:         []string{"kubernetes.io/aws-ebs"},
			SharesLoadBalancerNames: true,
		}},
		"AWS after it": {"aws", "1.27.0", observation.Provider{
			Name: "aws", CanMigrate: true, LastInTreeMinor: 26, InTreeName: "aws",
			ProviderIDPrefix: "aws:///", CSIDrivers: []string{"ebs.csi.aws.com"},
			DefaultClass:            observation.DefaultClass{Name: "aws-ebs-csi", Plugin: "kubernetes.io/aws-ebs"},
			SharesLoadBalancerNames: true,
		}},
	}
}

func TestFacts(t *testing.T) {
	tests := earlyFacts()
	maps.Copy(tests, awsFacts())
	maps.Copy(tests, lateFacts())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			profile, _ := builtIn().Lookup(test.provider)
			NewWithT(t).Expect(profile.Facts(test.version)).To(Equal(test.want))
		})
	}
}

func TestVersionProblems(t *testing.T) {
	tests := map[string]struct{ provider, version, want string }{
		"OpenStack after the catalogue ends":  {"openstack", "1.37.0", "covers 1.24 to 1.36"},
		"Hetzner before the catalogue begins": {"hetzner", "1.23.17", "Kubernetes 1.23"},
		"Hetzner after the catalogue ends":    {"hetzner", "1.37.0", "covers 1.24 to 1.36"},
		"GCP before the catalogue begins":     {"gcp", "1.25.16", "upgrade the cluster with its in-tree provider to 1.26 first"},
		"AWS before the catalogue begins":     {"aws", "1.23.17", "no AWS cloud-controller-manager for Kubernetes 1.23"},
		"AWS after the catalogue ends":        {"aws", "1.37.0", "covers 1.24 to 1.36"},
		"vSphere without images":              {"vsphere", "1.27.16", "for Kubernetes 1.27 were deleted: upgrade the cluster to 1.28"},
		"vSphere before the catalogue":        {"vsphere", "1.23.17", "covers 1.28 to 1.36"},
		"vSphere after the catalogue ends":    {"vsphere", "1.37.0", "covers 1.28 to 1.36"},
		"Azure before the catalogue begins": {"azure", "1.23.17", "no Azure cloud-controller-manager for Kubernetes 1.23 in the " +
			"catalogue, which covers 1.24 to 1.36"},
		"a version that is none":             {"openstack", "latest", `"latest" is not a version of Kubernetes`},
		"a version without a patch":          {"openstack", "1.30", `"1.30" is not a version of Kubernetes`},
		"another major":                      {"openstack", "2.30.0", `"2.30.0" is not a version of Kubernetes`},
		"no version":                         {"simcloud", "", `"" is not a version of Kubernetes`},
		"simcloud before the testbed begins": {"simcloud", "1.24.17", "Kubernetes 1.24: the testbed is 1.25 to 1.30"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := builtIn().Lookup(test.provider)
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
	openstack, _ := builtIn().Lookup("openstack")
	g.Expect(minors(openstack)).To(Equal([]int{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	hetzner, _ := builtIn().Lookup("hetzner")
	g.Expect(minors(hetzner)).To(Equal([]int{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	gcp, _ := builtIn().Lookup("gcp")
	g.Expect(minors(gcp)).To(Equal([]int{26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	vsphere, _ := builtIn().Lookup("vsphere")
	g.Expect(minors(vsphere)).To(Equal([]int{28, 29, 30, 31, 32, 33, 34, 35, 36}))
	azure, _ := builtIn().Lookup("azure")
	g.Expect(minors(azure)).To(Equal([]int{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}))
	simcloud, _ := builtIn().Lookup("simcloud")
	g.Expect(minors(simcloud)).To(Equal([]int{25, 26, 28, 29, 30}))
}
